"""Labels and what stands after them: of markup, of lines "label: value", and of what only stands before a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.elements import CONTROLS, SILENT, Elements, Node, text_nodes
from shoal.agent.read.by_place.elements.tables import Tables

_LONG = 2_000
_LABEL = 300
_CLIMBS = 4
_CELLS = frozenset({"td", "th", "dt", "dd"})
_CELL_ROLES = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_HEADING = re.compile(r"h[1-6]")
_PARTS = frozenset({"td", "th", "dt", "dd", "tr", "li"})
_COLON = re.compile(f"[:：][{js.SPACE}]*$")
_AROUND = frozenset({"nav", "aside", "footer"})
_AROUND_ROLES = frozenset({"navigation", "complementary", "contentinfo"})
_BUTTONS = frozenset({"submit", "button", "reset", "image"})
_VOID = ("script", "style", "select", "textarea")


@dataclass(frozen=True, slots=True)
class LabelHit:
    """The place after a label: one element, a line of an element, or the nodes after the label."""

    element: Node | None = None
    line: Node | None = None
    text: str = ""  # of the line, behind its colon
    after: Sequence[Node] = ()
    label: Node | None = None


def labelled(elements: Elements, tables: Tables, asked: str, scope: Node) -> list[LabelHit]:
    """Return what the best rank of labels `asked` in `scope` leads to.

    Markup comes first, then "label: value", then what follows a label.

    Raises:
        BeyondDocument: a control may be meant, or a table is made by roles.
    """
    tables.check()
    search = _Search(elements, tables, asked, scope)
    search.look()
    for rank in search.ranks:
        hits = [hit for hit in rank if hit.after or hit.element is not None or hit.line is not None]
        if hits:
            own = [hit for hit in hits if not _in_surroundings(elements, hit)]
            return own or hits
    return []


def _named_controls(elements: Elements, asked: str, scope: Node) -> list[Node]:
    """The controls in `scope` that are called so by attributes."""
    named = [*elements.below(scope, (), "aria-label"), *elements.below(scope, (), "aria-labelledby")]
    hits = {
        el.mem_id: el
        for el in named
        if (el.tag in CONTROLS or elements.edited(el))
        and (elements.attribute(el, "type") or "").lower() not in _BUTTONS
        and asked in _names(elements, el)
    }
    if hits:
        elements.only_in_browser("a control has the label as its name")
    return list(hits.values())


def _names(elements: Elements, el: Node) -> list[str]:
    """Return what a control is called by attributes."""
    ids = js.squash(elements.attribute(el, "aria-labelledby") or "").split(" ")
    named = [elements.with_id(ref) for ref in ids if ref]
    return [
        js.fold(elements.attribute(el, "aria-label") or ""),
        *(js.fold(node.text_lexbor()) for node in named if node is not None),
    ]


def _in_surroundings(elements: Elements, hit: LabelHit) -> bool:
    at = hit.element or hit.line or hit.label
    assert at is not None
    return _surrounds(elements, at)


def _surrounds(elements: Elements, el: Node) -> bool:
    return any(at.tag in _AROUND or elements.attribute(at, "role") in _AROUND_ROLES for at in elements.up(el))


class _Search:
    """One walk over the elements whose text has the label in it."""

    def __init__(self, elements: Elements, tables: Tables, asked: str, scope: Node) -> None:
        self._elements = elements
        self._tables = tables
        self._asked = asked
        self._scope = scope
        self._key = js.squeezed(asked)
        self.ranks: tuple[list[LabelHit], list[LabelHit], list[LabelHit]] = ([], [], [])

    def look(self) -> None:
        """Notes what the scope's elements label, in their order. What has no such text is not entered."""
        elements = self._elements
        named = {el.mem_id for el in _named_controls(elements, self._asked, self._scope)}
        waiting = elements.children(self._scope)[::-1]
        while waiting:
            el = waiting.pop()
            if el.mem_id in named:
                self.ranks[0].append(LabelHit(element=el))
            elif self._has_label(el):
                if el.tag not in SILENT and el.tag != "option":
                    self._one(el)
            elif not named:
                continue
            if el.tag != "template":
                waiting.extend(reversed(elements.children(el)))

    def _has_label(self, el: Node) -> bool:
        """Return whether the label is in an element's text, or may be in a very long one."""
        text = self._elements.squeezed(el)
        return text is None or self._key in text

    def _one(self, el: Node) -> None:
        elements = self._elements
        if el.tag in CONTROLS or elements.edited(el):
            elements.only_in_browser("a control holds the label's words")
            return
        text = el.text_lexbor()
        length = js.length(text)
        if length > _LONG and el.tag != "label":
            return
        below = elements.children(el)
        if length <= _LABEL or el.tag == "label":
            same = js.fold(self._words(el)) == self._asked
            control = elements.control_of(el) if same and el.tag == "label" else None
            if control is not None:
                several = elements.chosen_radios(control) if elements.is_radio(control) else [control]
                self.ranks[0].extend(LabelHit(element=held) for held in several)
                return
            innermost = same and not any(js.fold(self._words(child)) == self._asked for child in below)
            if innermost and not self._label(el):
                return
        self._inline(el, text, below)

    def _label(self, el: Node) -> bool:
        """Notes what the innermost element labels that says the label and nothing else; False where it is no label."""
        elements = self._elements
        around = elements.closest(el, frozenset({"label"}))
        if around is not None and elements.control_of(around) and js.fold(self._words(around)) == self._asked:
            return False
        if self._is_pressed(el) and _surrounds(elements, el):
            return False
        cell = self._cell_around(el)
        whole = cell is not None and js.fold(self._words(cell)) == self._asked
        if cell is not None and whole and cell.tag == "dt":
            self.ranks[0].extend(LabelHit(element=dd) for dd in _details(cell))
        elif cell is not None and whole and cell.tag != "dd":
            rank = self.ranks[0 if self._tables.is_head(cell) else 1]
            rank.extend(LabelHit(element=neighbour) for neighbour in self._tables.beside(cell))
        elif el.tag == "legend":
            elements.only_in_browser("a legend is of controls")
            inputs = elements.below(el.parent, ("input",)) if el.parent is not None else []
            first = next(filter(elements.is_radio, inputs), None)
            self.ranks[0].extend(LabelHit(element=radio) for radio in elements.chosen_radios(first))
        elif el.tag == "caption":
            return False
        else:
            after = self._following(el)
            self.ranks[1 if _COLON.search(self._words(el)) else 2].append(LabelHit(after=after, label=el))
        return True

    def _cell_around(self, el: Node) -> Node | None:
        """The cell or the term around an element, where it lies in the scope."""
        for at in self._elements.up(el):
            if self._is_cell(at):
                return at
            if at.mem_id == self._scope.mem_id:
                return None
        return None

    def _is_cell(self, el: Node) -> bool:
        return el.tag in _CELLS or self._elements.attribute(el, "role") in _CELL_ROLES

    def _words(self, el: Node) -> str:
        """A label's text: without the controls that it holds."""
        if not self._elements.below(el, _VOID):
            return el.text_lexbor()
        return "".join(node.text_content or "" for node in text_nodes(el, ("template", *_VOID)))

    def _is_pressed(self, el: Node) -> bool:
        closest = self._elements.closest
        return closest(el, frozenset({"a"}), "href") is not None or closest(el, frozenset({"button"})) is not None

    def _inline(self, el: Node, text: str, below: Sequence[Node]) -> None:
        """Lines "label: value" of an element of which no part has the label, or lines of its own."""
        if self._asked not in text.lower():
            return
        for child in below:
            if self._elements.display(child) == "block" or self._asked in child.text_lexbor().lower():
                return
        for row in self._elements.text_of(el, plain=False).split("\n"):
            label, colon, content = _split(row)
            if colon and label and js.fold(label) == self._asked and js.squash(content):
                self.ranks[1].append(LabelHit(line=el, text=js.squash(content)))

    # --- what follows ---------------------------------------------------------------------------------

    def _following(self, el: Node) -> list[Node]:
        """The nodes after a label that is no cell and no term, up to the next label of the same kind."""
        label = el
        for _ in range(_CLIMBS):
            rest = _siblings_after(label)
            if any(map(self._has_content, rest)):
                return self._of_label(label, rest)
            around = self._elements.parent(label)
            if around is None or around.tag in ("body", "html") or around.tag in _PARTS:
                return []
            if js.fold(self._words(around)) != js.fold(self._words(el)):
                return []
            label = around
        return []

    def _of_label(self, label: Node, rest: list[Node]) -> list[Node]:
        level = int(str(label.tag)[1]) if _HEADING.fullmatch(str(label.tag)) else 0
        own = self._signature(label)

        def kin(node: Node) -> bool:
            if not node.is_element_node:
                return False
            if level:
                return bool(_HEADING.fullmatch(str(node.tag))) and int(str(node.tag)[1]) <= level
            return self._signature(node) == own

        around = self._elements.children(label.parent) if label.parent is not None else []
        if len(around) == 2 and around[0].mem_id == label.mem_id and not level and kin(around[1]):
            telling = [node for node in rest if self._has_content(node)]
            only = all(node.mem_id == around[1].mem_id for node in telling)
            if only and not _COLON.search(around[1].text_lexbor()):
                return [around[1]]
        contents = []
        for node in rest:
            if kin(node):
                break
            if self._has_content(node):
                contents.append(node)
        return contents

    def _signature(self, el: Node) -> str:
        names = dict.fromkeys(re.split(r"[\t\n\f\r ]+", (self._elements.attribute(el, "class") or "").strip()))
        return f"{el.tag}.{'.'.join(name for name in names if name)}"

    def _has_content(self, node: Node) -> bool:
        if node.is_text_node:
            return js.has_letter_or_digit(node.text_content or "")
        if not node.is_element_node:
            return False
        if node.tag not in SILENT and js.has_letter_or_digit(node.text_lexbor()):
            return True
        if node.tag in ("input", "select", "textarea", "img", "time"):
            return True
        return bool(self._elements.fields(node) or self._elements.below(node, ("img",), "alt"))


def _split(row: str) -> tuple[str, str, str]:
    """A line at its first colon of either kind."""
    at = re.search("[:：]", row)
    return (row[: at.start()], at.group(), row[at.end() :]) if at else (row, "", "")


def _details(term: Node) -> list[Node]:
    at = term
    while (following := _next_element(at)) is not None and following.tag == "dt":
        at = following
    details = []
    following = _next_element(at)
    while following is not None and following.tag == "dd":
        details.append(following)
        following = _next_element(following)
    return details


def _next_element(el: Node) -> Node | None:
    at = el.next
    while at is not None and not at.is_element_node:
        at = at.next
    return at


def _siblings_after(el: Node) -> list[Node]:
    siblings = []
    at = el.next
    while at is not None:
        siblings.append(at)
        at = at.next
    return siblings
