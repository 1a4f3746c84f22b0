"""The page: one document as one lxml tree, with what a browser knows beside it."""

from __future__ import annotations

import copy
import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lxml import etree, html

from shoal.agent.page import marks as m
from shoal.agent.page.shown_text import Gap, ShownText
from shoal.agent.page.xml_text import parse_xml

_PLAIN_ID = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_PLAIN_TAG = re.compile(r"[A-Za-z][A-Za-z0-9-]*", re.ASCII)
_NOT_DRAWN = m.NONE | m.SKIPPED | m.UNSLOTTED | m.INVISIBLE
_UNSEEN = -1
_WIDTHS = {m.CELL: Gap.TAB, **dict.fromkeys(m.BLOCKS, Gap.LINE)}


@dataclass(frozen=True, slots=True)
class Window:
    """The size and the state of a page in a browser."""

    height: float  # of the document, CSS pixels
    viewport_height: float
    loaded: bool  # all that the document names is there
    width: float = 0.0  # of the document
    left: float = 0.0  # so far the document is scrolled
    top: float = 0.0


@dataclass(frozen=True, eq=False)
class Page:
    """One document at one moment. Its tree and its marks are never changed: `copy` is for those who change trees.

    The tree has no namespaces, and holds shadow trees and slotted content where they are drawn; frames are empty. Names
    of elements and attributes that XML forbids are mended (`o:p` is `o_p`). An element's number is its place in
    document order; what is known beside the tree goes by number.

    An element, and the text right in it, is shown where a person who scrolls, and does nothing else, sees it. The tail
    of an element is text of its parent. What is covered by something else, inert or `aria-hidden` is shown.
    """

    url: str
    root: html.HtmlElement
    marks: array[int]  # by number
    boxes: array[int] = field(default_factory=lambda: array("i"))  # four for each element, where they were asked for
    values: Mapping[int, str] = field(default_factory=dict)  # of fields, where they are not what the document says
    shadow_roots: Mapping[int, str] = field(default_factory=dict)  # `open` or `closed`, by the number of the host
    slotted: Mapping[int, int] = field(default_factory=dict)  # number of the host, of its children that a slot draws
    content_type: str = "text/html"  # as the browser takes the document
    loading: bool = False  # the document is still coming
    status: int = 0  # of the HTTP answer that brought it; 0 where it is not known
    matches: Mapping[str, Sequence[int] | None] = field(
        default_factory=dict
    )  # elements of the selectors that were asked for, by the selector's name; None for what is no CSS
    inner: Mapping[int, Mapping[str, Sequence[int]]] = field(
        default_factory=dict
    )  # the same within the scopes that were asked for, by the number of the scope
    window: Window | None = None  # None without a browser

    def __post_init__(self) -> None:
        if len(self.elements) != len(self.marks):
            raise ValueError(f"marks of {len(self.marks)} elements are given; the tree has {len(self.elements)}")

    @cached_property
    def elements(self) -> Sequence[html.HtmlElement]:
        """All elements in document order."""
        return tuple(self.root.iter(etree.Element))

    @cached_property
    def _numbers(self) -> dict[html.HtmlElement, int]:
        return {el: number for number, el in enumerate(self.elements)}

    def number(self, el: html.HtmlElement) -> int:
        """The place of an element in document order.

        Raises:
            KeyError: It is no element of this page.
        """
        return self._numbers[el]

    @cached_property
    def last_within(self) -> Sequence[int]:
        """By element: the number of the last element in it, which is its own where it holds none."""
        around = (el.getparent() for el in self.elements)
        return last_within([-1 if el is None else self._numbers[el] for el in around])

    # --- what is shown -------------------------------------------------------------------------------------

    def is_visible(self, el: html.HtmlElement) -> bool:
        """True where a person who scrolls, and does nothing else, can see the element."""
        return not self._has(el, m.HIDDEN)

    def drawn(self, el: html.HtmlElement) -> bool:
        """True where the element has its place on the page, though it may be transparent, clipped away or off it."""
        return not self._has(el, m.WHOLLY_HIDDEN | m.INVISIBLE)

    def why_hidden(self, el: html.HtmlElement) -> tuple[str, ...]:
        """Reasons why the element is not shown; none where it is."""
        mark = self.marks[self.number(el)]
        return tuple(reason for bit, reason in m.REASONS.items() if mark & bit)

    def layout(self, el: html.HtmlElement) -> str:
        """One of `marks.LAYOUTS`."""
        return m.LAYOUTS[self.marks[self.number(el)] & m.LAYOUT]

    def is_block(self, el: html.HtmlElement) -> bool:
        """True where the element begins and ends a line."""
        return self.marks[self.number(el)] & m.LAYOUT in m.BLOCKS

    def box(self, el: html.HtmlElement) -> tuple[int, int, int, int] | None:
        """Left, top, width and height on the page in CSS pixels; None where boxes were not asked for."""
        if not self.boxes:
            return None
        left, top, width, height = self.boxes[4 * self.number(el) : 4 * self.number(el) + 4]
        return left, top, width, height

    # --- states --------------------------------------------------------------------------------------------

    def checked(self, el: html.HtmlElement) -> bool:
        """True where a check box or a radio button is set."""
        return self._has(el, m.CHECKED)

    def selected(self, el: html.HtmlElement) -> bool:
        """True where an option is chosen."""
        return self._has(el, m.SELECTED)

    def disabled(self, el: html.HtmlElement) -> bool:
        """True where a field or a button takes no input."""
        return self._has(el, m.DISABLED)

    def struck(self, el: html.HtmlElement) -> bool:
        """True where a line goes through its text."""
        return self._has(el, m.STRUCK)

    def pre(self, el: html.HtmlElement) -> bool:
        """True where white space right in the element counts."""
        return self._has(el, m.PRE)

    def fixed(self, el: html.HtmlElement) -> bool:
        """True where the element stays in place while the page scrolls."""
        return self._has(el, m.FIXED)

    def boxed(self, el: html.HtmlElement) -> bool:
        """True where a part of a line has a ground or an edge of its own; known of pages in a browser."""
        return self._has(el, m.BOXED)

    def smaller(self, el: html.HtmlElement) -> bool:
        """True where a part of a line has smaller letters than the text around it; known of pages in a browser."""
        return self._has(el, m.SMALLER)

    def letters_px(self, el: html.HtmlElement) -> int:
        """Height of the letters that stand right in an element, 62 at most; 0 without any, or without a browser."""
        return 2 * (self.marks[self.number(el)] >> m.LETTERS & m.MOST_LETTERS)

    def value(self, el: html.HtmlElement) -> str | None:
        """The current value of a field; attributes keep what the document says. A password is told as dots."""
        current = self.values.get(self.number(el))
        if current is not None:
            return current
        match el.tag:
            case "textarea":
                return str(el.text_content())
            case "select":
                chosen = next((option for option in el.iter("option") if self.selected(option)), None)
                return None if chosen is None else self.value(chosen)
            case "option":
                stated = el.get("value")
                return " ".join(el.text_content().split()) if stated is None else str(stated)
            case "input" if (el.get("type") or "").lower() == "password":
                return "•" * len(el.get("value") or "")
            case _:
                stated = el.get("value")
                return None if stated is None else str(stated)

    def takes_clicks(self, el: html.HtmlElement) -> bool:
        """True where a browser shows a hand over an `a`, `li`, `span` or `div` that holds none of these."""
        return self._has(el, m.POINTER)

    def _has(self, el: html.HtmlElement, bits: int) -> bool:
        return bool(self.marks[self.number(el)] & bits)

    # --- what is read --------------------------------------------------------------------------------------

    def text(self, el: html.HtmlElement | None = None, *, drawn: bool = False) -> str:
        """Shown text within an element, or of the whole page: blocks on lines of their own, cells apart by tabs.

        Args:
            drawn: Text that is transparent, clipped away or a choice of a closed select, too.
        """
        root, hidden = self.root if el is None else el, _NOT_DRAWN if drawn else m.HIDDEN
        written, number = ShownText(), self.number(root)
        around: list[int] = []  # marks of the elements around; `_UNSEEN` within what is not looked into
        for event, part in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
            if event == "start":
                mark = self.marks[number]
                number += 1
                if around and around[-1] == _UNSEEN:
                    mark = _UNSEEN
                elif part.tag == "br":
                    written.gap(Gap.LINE)
                    mark = _UNSEEN
                elif mark & (m.NONE | m.SKIPPED):
                    mark = _UNSEEN
                else:
                    written.gap(_WIDTHS.get(mark & m.LAYOUT, Gap.NOTHING))
                around.append(mark)
                text = part.text
            else:
                if event == "end" and (mark := around.pop()) != _UNSEEN:
                    written.gap(_WIDTHS.get(mark & m.LAYOUT, Gap.NOTHING))
                text = part.tail
            if text and around and (mark := around[-1]) != _UNSEEN and not mark & hidden:
                (written.add_preformatted if mark & m.PRE else written.add)(text)
        return str(written)

    def copy(self, lookup: etree.ElementClassLookup | None = None) -> html.HtmlElement:
        """A tree of its own, for libraries that change what they are given.

        Args:
            lookup: Classes of its elements, where a library wants others than lxml.html's.
        """
        if lookup is None:
            return copy.deepcopy(self.root)
        return parse_xml(etree.tostring(self.root), self.root.base_url, lookup)

    # --- where it is ---------------------------------------------------------------------------------------

    def selector(self, el: html.HtmlElement) -> tuple[str, ...]:
        """CSS selectors that lead to an element: one for each shadow root on the way, the element's own last."""
        selectors: list[str] = []
        steps: list[str] = []
        at: html.HtmlElement | None = el
        while at is not None:
            if not (steps and steps[0].startswith("#")):  # above an id nothing needs to be said of the same tree
                steps.insert(0, self._step(at))
            parent = self.parent_of(at)
            if parent is None or self._is_shadow_child(at, parent):
                selectors.insert(0, " > ".join(steps))
                steps = []
            at = parent
        return tuple(selectors)

    def parent_of(self, el: html.HtmlElement) -> html.HtmlElement | None:
        """The parent that the document gives an element: of what a slot draws the host, not the slot."""
        host = self.slotted.get(self.number(el))
        return el.getparent() if host is None else self.elements[host]

    def _is_shadow_child(self, el: html.HtmlElement, parent: html.HtmlElement) -> bool:
        return self.number(parent) in self.shadow_roots and self.number(el) not in self.slotted

    def _step(self, el: html.HtmlElement) -> str:
        """A compound selector that tells an element from its siblings."""
        name = str(el.get("id") or "")
        if name and _PLAIN_ID.fullmatch(name) and self._ids[name] == 1:
            return "#" + name
        siblings = self._siblings(el)
        if not _PLAIN_TAG.fullmatch(el.tag):  # mended for XML, perhaps
            return f"*:nth-child({siblings.index(el) + 1})"
        alike = [other for other in siblings if other.tag == el.tag]
        return str(el.tag) if len(alike) == 1 else f"{el.tag}:nth-of-type({alike.index(el) + 1})"

    def _siblings(self, el: html.HtmlElement) -> list[html.HtmlElement]:
        """The children of its parent in the document, itself among them."""
        host = self.slotted.get(self.number(el))
        if host is not None:
            return [self.elements[child] for child, owner in sorted(self.slotted.items()) if owner == host]
        parent = el.getparent()
        if parent is None:
            return [el]
        return [child for child in parent.iterchildren(etree.Element) if self.number(child) not in self.slotted]

    @cached_property
    def _ids(self) -> Counter[str]:
        return Counter(str(el.get("id")) for el in self.elements if el.get("id"))


def last_within(parents: Sequence[int]) -> list[int]:
    """By element in document order: the last element in it, itself included.

    Args:
        parents: the number of each element's parent; -1 of the root.
    """
    ends = list(range(len(parents)))
    for number in range(len(ends) - 1, 0, -1):
        ends[parents[number]] = max(ends[parents[number]], ends[number])
    return ends
