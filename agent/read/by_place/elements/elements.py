"""The elements of a document as the reader of places asks for them.

A page that a browser shows answers all of it. A raw document raises where only a browser can tell.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Protocol

from shoal.agent.read.by_place.elements import text as js

SILENT = frozenset({"script", "style", "noscript", "template", "head"})
CONTROLS = frozenset({"input", "select", "textarea"})
STRUCK = frozenset({"del", "s", "strike"})
_PLAIN_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_LARGE = 20_000
"""Characters of a text that is not kept without its spaces."""
_LABELABLE = ("button", "input", "meter", "output", "progress", "select", "textarea")


class Node(Protocol):
    """An element or a text: lexbor's node, or a page's."""

    @property
    def mem_id(self) -> int:
        """The same for the same element; of a page its place in the document."""
        ...

    @property
    def tag(self) -> str | None:
        """The name of an element in lower case."""
        ...

    @property
    def is_element_node(self) -> bool:
        """True for an element."""
        ...

    @property
    def is_text_node(self) -> bool:
        """True for a text."""
        ...

    @property
    def parent(self) -> Node | None:
        """The node around."""
        ...

    @property
    def first_child(self) -> Node | None:
        """The first node in it."""
        ...

    @property
    def next(self) -> Node | None:
        """The node behind it."""
        ...

    @property
    def text_content(self) -> str | None:
        """The text of a text."""
        ...

    def text_lexbor(self) -> str:
        """All texts in an element."""
        ...


class Elements(ABC):
    """One document."""

    root: Node
    body: Node
    most_slots: int  # of one table
    most_text: int  # characters of a text

    def __init__(self) -> None:
        self.kinds: set[str] = set()  # of elements whose style was asked; a page, which has its styles, notes none
        self._squeezed: dict[int, str | None] = {}
        self._selectors: dict[int, str] = {}
        self._steps: dict[int, Mapping[int, str]] = {}  # of the children, by the parent

    # --- what a document and a page tell in ways of their own -----------------------------------------

    @abstractmethod
    def only_in_browser(self, why: str) -> None:
        """Goes on where a browser shows the document.

        Raises:
            BeyondDocument: none does.
        """

    @abstractmethod
    def attributes(self, el: Node) -> Mapping[str, str | None]:
        """The attributes of an element."""

    @abstractmethod
    def below(self, scope: Node, tags: tuple[str, ...] = (), attribute: str = "") -> list[Node]:
        """Elements in `scope` of these tags, with this attribute where one is named, in order."""

    @abstractmethod
    def with_id(self, name: str) -> Node | None:
        """The first element of an id."""

    @abstractmethod
    def selected(self, scope: Node, name: str, query: str) -> list[Node]:
        """Return what `scope.querySelectorAll` gives for the selector of a field."""

    @abstractmethod
    def found(self, selector: str) -> list[Node]:
        """Return what `document.querySelectorAll` gives for a selector that a guard asks for; nothing for no CSS."""

    @abstractmethod
    def is_rendered(self, el: Node) -> bool:
        """Return whether it has its place on the page."""

    @abstractmethod
    def display(self, el: Node) -> str:
        """`block`, `cell`, `other` (lines of its own, but no block) or `inline`."""

    @abstractmethod
    def keeps_space(self, el: Node) -> bool:
        """Return whether the spaces and lines right in it count."""

    @abstractmethod
    def preformatted(self, el: Node) -> bool:
        """Return whether its spaces and lines count, by itself or by what is around."""

    @abstractmethod
    def struck(self, el: Node) -> bool:
        """Return whether all that stands at the element is struck through: it is what holds no longer."""

    @abstractmethod
    def checked(self, el: Node) -> bool:
        """Return whether a check box or a radio button is set."""

    @abstractmethod
    def chosen(self, select: Node) -> list[Node]:
        """The options that are chosen."""

    @abstractmethod
    def value(self, el: Node) -> str:
        """Return what a field or an option holds."""

    @abstractmethod
    def picture(self, img: Node) -> str:
        """The address of the picture that is shown, as it is written."""

    @abstractmethod
    def absolute(self, text: str) -> str:
        """An address in full; "" where it is none."""

    # --- the tree -------------------------------------------------------------------------------------

    def attribute(self, el: Node, name: str) -> str | None:
        """Return what `getAttribute` gives; "" for one without a value."""
        given = self.attributes(el)
        return (given[name] or "") if name in given else None

    def children(self, el: Node) -> list[Node]:
        """The elements right below."""
        elements = []
        child = el.first_child
        while child is not None:
            if child.is_element_node:
                elements.append(child)
            child = child.next
        return elements

    def parent(self, el: Node) -> Node | None:
        """The element around; None for the root."""
        return None if el.mem_id == self.root.mem_id else el.parent

    def up(self, el: Node) -> Iterator[Node]:
        """The element and those around it, up to the root."""
        at: Node | None = el
        while at is not None:
            yield at
            at = self.parent(at)

    def closest(self, el: Node, tags: frozenset[str], attribute: str = "") -> Node | None:
        """The nearest of these tags, with this attribute where one is named."""
        for at in self.up(el):
            if at.tag in tags and (not attribute or attribute in self.attributes(at)):
                return at
        return None

    def roles(self, scope: Node, *roles: str) -> list[Node]:
        """The elements of these roles in `scope`."""
        return [el for el in self.below(scope, (), "role") if self.attribute(el, "role") in roles]

    def in_order(self, several: list[Node]) -> list[Node]:
        """Elements in the order of the document."""
        return sorted(several, key=lambda el: el.mem_id)

    def struck_within(self, el: Node) -> bool:
        """Return whether something in it is struck through by its markup."""
        return bool(self.below(el, tuple(sorted(STRUCK))))

    # --- selectors ------------------------------------------------------------------------------------

    def selector(self, el: Node) -> str:
        """A CSS selector of the element: by its id, else from that of the element around."""
        waiting: list[tuple[Node, Node]] = []
        at = el
        while at.mem_id not in self._selectors:
            own, around = self._own_selector(at), self.parent(at)
            if own or around is None:
                self._selectors[at.mem_id] = own or str(at.tag)
            else:
                waiting.append((at, around))
                at = around
        made = self._selectors[at.mem_id]
        for below, around in reversed(waiting):
            made = self._selectors[below.mem_id] = f"{made} > {self._step(below, around)}"
        return made

    def _own_selector(self, el: Node) -> str:
        """Return what names an element alone; "" for nothing."""
        if el.mem_id in (self.root.mem_id, self.body.mem_id):
            return str(el.tag)
        name = self.attribute(el, "id") or ""
        first = self.with_id(name) if _PLAIN_ID.fullmatch(name) else None
        return f"#{name}" if first is not None and first.mem_id == el.mem_id else ""

    def _step(self, el: Node, around: Node) -> str:
        if around.mem_id not in self._steps:
            kin = self.children(around)
            several = Counter(child.tag for child in kin)
            seen: Counter[str | None] = Counter()
            steps = {}
            for child in kin:
                seen[child.tag] += 1
                nth = f":nth-of-type({seen[child.tag]})" if several[child.tag] > 1 else ""
                steps[child.mem_id] = f"{child.tag}{nth}"
            self._steps[around.mem_id] = steps
        return self._steps[around.mem_id][el.mem_id]

    # --- fields ---------------------------------------------------------------------------------------

    def fields(self, el: Node) -> list[Node]:
        """The fields in an element that a person can see."""
        return [
            below
            for below in self.below(el, ("input", "select", "textarea"))
            if below.tag != "input" or (self.attribute(below, "type") or "").lower() != "hidden"
        ]

    @cached_property
    def _has_edited(self) -> bool:
        return bool(self.below(self.root, (), "contenteditable"))

    def edited(self, el: Node) -> bool:
        """Return whether its text is edited as that of a field."""
        if not self._has_edited:
            return False
        for at in self.up(el):
            if (stated := self.attribute(at, "contenteditable")) is not None:
                return stated.lower() != "false"
        return False

    def control_of(self, label: Node) -> Node | None:
        """The field that a `<label>` is of."""
        self.only_in_browser("a label is a control's")
        if name := self.attribute(label, "for"):
            named = self.with_id(name)
            return named if named is not None and self._is_labelable(named) else None
        return next(filter(self._is_labelable, self.below(label, _LABELABLE)), None)

    def _is_labelable(self, el: Node) -> bool:
        return el.tag in _LABELABLE and (el.tag != "input" or (self.attribute(el, "type") or "").lower() != "hidden")

    def labels_of(self, field: Node) -> list[Node]:
        """The `<label>` elements of a field."""
        labels = self.below(self.root, ("label",))
        return [
            label
            for label in labels
            if (control := self.control_of(label)) is not None and control.mem_id == field.mem_id
        ]

    def chosen_radios(self, first: Node | None) -> list[Node]:
        """Of the radio buttons of one name with `first` those that are set."""
        if first is None:
            return []
        name = self.attribute(first, "name")
        form = self.closest(first, frozenset({"form"})) or self.root
        kin = [
            radio
            for radio in self.below(form, ("input",))
            if self.is_radio(radio) and self.attribute(radio, "name") == name
        ]
        return [radio for radio in (kin if name else [first]) if self.checked(radio)]

    def is_radio(self, el: Node) -> bool:
        """True for a radio button."""
        return el.tag == "input" and (self.attribute(el, "type") or "").lower() == "radio"

    # --- texts ----------------------------------------------------------------------------------------

    def squeezed(self, el: Node) -> str | None:
        """The element's text as `js.squeezed` has it; None for one that is too long to be kept."""
        if el.mem_id not in self._squeezed:
            text = el.text_lexbor()
            self._squeezed[el.mem_id] = js.squeezed(text) if len(text) <= _LARGE else None
        return self._squeezed[el.mem_id]

    def text_of(self, el: Node, *, plain: bool) -> str:
        """The text of the document in `el`; with `plain` without what is struck through.

        What is hidden inside of a shown element is left out.

        Raises:
            BeyondDocument: it is longer than can be compared, or depends on what only a browser knows.
        """
        pieces: list[str] = []
        whole = not self.is_rendered(el)
        # Not by recursion: trees are deeper than Python's stack. A string is the edge of a block.
        waiting: list[tuple[Node | str | None, bool]] = [(el.first_child, self.preformatted(el))]
        while waiting:
            node, keep = waiting.pop()
            if isinstance(node, str):
                pieces.append(node)
                continue
            if node is None:
                continue
            waiting.append((node.next, keep))
            if node.is_text_node:
                text = node.text_content or ""
                pieces.append(text if keep else js.collapsed(text))
            elif node.is_element_node and self._is_read(node, whole=whole, plain=plain):
                if node.tag == "br":
                    pieces.append("\n")
                    continue
                display = self.display(node)
                edge = "" if display == "inline" else " " if display == "cell" else "\n"
                pieces.append(edge)
                waiting.append((edge, False))
                waiting.append((node.first_child, keep or self.keeps_space(node)))
        text = js.lines("".join(pieces))
        if len(text) > self.most_text:
            self.only_in_browser("a text is very long")
            return text[: self.most_text + 1]
        return text

    def _is_read(self, el: Node, *, whole: bool, plain: bool) -> bool:
        if el.tag in SILENT or el.tag in CONTROLS:
            return False
        if el.tag == "br":
            return True
        return (whole or self.is_rendered(el)) and not (plain and el.tag in STRUCK)


def text_nodes(el: Node, passed: Iterable[str] = ("template",)) -> Iterator[Node]:
    """The text nodes below, in order; those in elements of the tags `passed` are left out."""
    left_out = frozenset(passed)
    waiting = [el.first_child]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        waiting.append(node.next)
        if node.is_text_node:
            yield node
        elif node.is_element_node and node.tag not in left_out:
            waiting.append(node.first_child)
