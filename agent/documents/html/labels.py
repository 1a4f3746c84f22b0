"""The value after a label in a raw document, by the ranks of `places.js`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.html import text as js
from shoal.agent.documents.html.elements import CONTROLS, SILENT, Elements, children
from shoal.agent.documents.html.tables import Tables

_LONG = 2_000
_LABEL = 300
_CLIMBS = 4
_CELLS = frozenset({"td", "th", "dt", "dd"})
_HEADING = re.compile(r"h[1-6]")
_PARTS = frozenset({"td", "th", "dt", "dd", "tr", "li"})
_COLON = re.compile(f"[:：][{js.SPACE}]*$")
_AROUND = frozenset({"nav", "aside", "footer"})
_AROUND_ROLES = frozenset({"navigation", "complementary", "contentinfo"})
_CONTROLS = "input,select,textarea,[contenteditable]"
_NAMED = "[aria-label],[aria-labelledby]"
_VOID = frozenset({"script", "style", "select", "textarea"})


@dataclass(frozen=True, slots=True)
class LabelHit:
    """The place after a label: one element, a line of an element, or the nodes after the label."""

    element: LexborNode | None = None
    line: LexborNode | None = None
    text: str = ""  # of the line, behind its colon
    after: Sequence[LexborNode] = ()
    label: LexborNode | None = None


def labelled(elements: Elements, tables: Tables, asked: str) -> list[LabelHit]:
    """Return what the best rank of labels `asked` leads to: markup first, then "label:
    value", then what follows a label.

    Raises:
        BeyondDocument: a control may be meant, or a table is made by roles.
    """
    tables.check()
    for el in elements.tree.css(_NAMED):
        if (el.tag in CONTROLS or "contenteditable" in elements.attributes(el)) and asked in _names(elements, el):
            raise BeyondDocument("a control has the label as its name")
    search = _Search(elements, tables, asked)
    search.look(elements.root)
    for rank in search.ranks:
        hits = [hit for hit in rank if hit.after or hit.element is not None or hit.line is not None]
        if hits:
            own = [hit for hit in hits if not _in_surroundings(elements, hit)]
            return own or hits
    return []


def _names(elements: Elements, el: LexborNode) -> list[str]:
    """Return what a control is called by attributes."""
    ids = js.squash(elements.attribute(el, "aria-labelledby") or "").split(" ")
    named = [elements.tree.css_first(f'[id="{ref}"]') for ref in ids if ref and '"' not in ref and "\\" not in ref]
    return [
        js.fold(elements.attribute(el, "aria-label") or ""),
        *(js.fold(node.text_lexbor()) for node in named if node),
    ]


def _in_surroundings(elements: Elements, hit: LabelHit) -> bool:
    at = hit.element or hit.line or hit.label
    assert at is not None
    return _surrounds(elements, at)


def _surrounds(elements: Elements, el: LexborNode) -> bool:
    return any(at.tag in _AROUND or elements.attribute(at, "role") in _AROUND_ROLES for at in elements.up(el))


class _Search:
    """One walk over the elements whose text has the label in it."""

    def __init__(self, elements: Elements, tables: Tables, asked: str) -> None:
        self._elements = elements
        self._tables = tables
        self._asked = asked
        self._key = js.squeezed(asked)
        self.ranks: tuple[list[LabelHit], list[LabelHit], list[LabelHit]] = ([], [], [])

    def look(self, el: LexborNode) -> None:
        """Notes what `el` and the elements below label. What has no such text is not entered."""
        for child in children(el):
            if self._key not in js.squeezed(child.text_lexbor()):
                continue
            if child.tag not in SILENT and child.tag != "option":
                self._one(child)
            if child.tag != "template":
                self.look(child)

    def _one(self, el: LexborNode) -> None:
        if el.tag in CONTROLS or "contenteditable" in self._elements.attributes(el):
            raise BeyondDocument("a control holds the label's words")
        text = el.text_lexbor()
        length = js.length(text)
        if length > _LONG and el.tag != "label":
            return
        below = children(el)
        if length <= _LABEL or el.tag == "label":
            same = js.fold(_words(el)) == self._asked
            if same and el.tag == "label":
                raise BeyondDocument("a label is a control's")
            innermost = same and not any(js.fold(_words(child)) == self._asked for child in below)
            if innermost and not self._label(el):
                return
        self._inline(el, text, below)

    def _label(self, el: LexborNode) -> bool:
        """Notes what the innermost element labels that says the label and nothing else; False where it is no label."""
        elements = self._elements
        if elements.closest(el, frozenset({"label"})) is not None:
            raise BeyondDocument("a label is a control's")
        if self._is_pressed(el) and _surrounds(elements, el):
            return False
        cell = elements.closest(el, _CELLS)
        whole = cell is not None and js.fold(_words(cell)) == self._asked
        if cell is not None and whole and cell.tag == "dt":
            self.ranks[0].extend(LabelHit(element=dd) for dd in _details(cell))
        elif cell is not None and whole and cell.tag != "dd":
            rank = self.ranks[0 if self._tables.is_head(cell) else 1]
            rank.extend(LabelHit(element=neighbour) for neighbour in self._tables.beside(cell))
        elif el.tag == "legend":
            raise BeyondDocument("a legend is of controls")
        elif el.tag == "caption":
            return False
        else:
            after = self._following(el)
            self.ranks[1 if _COLON.search(_words(el)) else 2].append(LabelHit(after=after, label=el))
        return True

    def _is_pressed(self, el: LexborNode) -> bool:
        closest = self._elements.closest
        return closest(el, frozenset({"a"}), "href") is not None or closest(el, frozenset({"button"})) is not None

    def _inline(self, el: LexborNode, text: str, below: Sequence[LexborNode]) -> None:
        """Lines "label: value" of an element of which no part has the label, or lines of its own."""
        if self._asked not in text.lower():
            return
        for child in below:
            if self._elements.display(child) == "block" or self._asked in child.text_lexbor().lower():
                return
        for row in self._elements.text_of(el, plain=False).split("\n"):
            label, colon, said = _split(row)
            if colon and label and js.fold(label) == self._asked and js.squash(said):
                self.ranks[1].append(LabelHit(line=el, text=js.squash(said)))

    # --- what follows ---------------------------------------------------------------------------------

    def _following(self, el: LexborNode) -> list[LexborNode]:
        """The nodes after a label that is no cell and no term, up to the next label of the same kind."""
        label = el
        for _ in range(_CLIMBS):
            rest = _siblings_after(label)
            if any(map(self._tells, rest)):
                return self._of_label(label, rest)
            around = self._elements.parent(label)
            if around is None or around.tag in ("body", "html") or around.tag in _PARTS:
                return []
            if js.fold(_words(around)) != js.fold(_words(el)):
                return []
            label = around
        return []

    def _of_label(self, label: LexborNode, rest: list[LexborNode]) -> list[LexborNode]:
        level = int(str(label.tag)[1]) if _HEADING.fullmatch(str(label.tag)) else 0
        own = self._signature(label)

        def kin(node: LexborNode) -> bool:
            if not node.is_element_node:
                return False
            if level:
                return bool(_HEADING.fullmatch(str(node.tag))) and int(str(node.tag)[1]) <= level
            return self._signature(node) == own

        around = children(label.parent)
        if len(around) == 2 and around[0].mem_id == label.mem_id and not level and kin(around[1]):
            telling = [node for node in rest if self._tells(node)]
            only = all(node.mem_id == around[1].mem_id for node in telling)
            if only and not _COLON.search(around[1].text_lexbor()):
                return [around[1]]
        told = []
        for node in rest:
            if kin(node):
                break
            if self._tells(node):
                told.append(node)
        return told

    def _signature(self, el: LexborNode) -> str:
        names = dict.fromkeys(re.split(r"[\t\n\f\r ]+", (self._elements.attribute(el, "class") or "").strip()))
        return f"{el.tag}.{'.'.join(name for name in names if name)}"

    def _tells(self, node: LexborNode) -> bool:
        if node.is_text_node:
            return js.tells(node.text_content or "")
        if not node.is_element_node:
            return False
        if node.tag not in SILENT and js.tells(node.text_lexbor()):
            return True
        if node.tag in ("input", "select", "textarea", "img", "time"):
            return True
        return bool(self._elements.find(node, "input:not([type=hidden i]),select,textarea,img[alt]"))


def _split(row: str) -> tuple[str, str, str]:
    """A line at its first colon of either kind."""
    at = re.search("[:：]", row)
    return (row[: at.start()], at.group(), row[at.end() :]) if at else (row, "", "")


def _words(el: LexborNode) -> str:
    """A label's text: without the controls that it holds."""
    if not any(True for child in el.css("select,textarea,script,style") if child.mem_id != el.mem_id):
        return el.text_lexbor()
    return "".join(_free_texts(el))


def _free_texts(el: LexborNode) -> list[str]:
    texts: list[str] = []
    child = el.first_child
    while child is not None:
        if child.is_text_node:
            texts.append(child.text_content or "")
        elif child.is_element_node and child.tag not in _VOID:
            texts += _free_texts(child)
        child = child.next
    return texts


def _details(term: LexborNode) -> list[LexborNode]:
    at = term
    while (following := _next_element(at)) is not None and following.tag == "dt":
        at = following
    details = []
    following = _next_element(at)
    while following is not None and following.tag == "dd":
        details.append(following)
        following = _next_element(following)
    return details


def _next_element(el: LexborNode) -> LexborNode | None:
    at = el.next
    while at is not None and not at.is_element_node:
        at = at.next
    return at


def _siblings_after(el: LexborNode) -> list[LexborNode]:
    siblings = []
    at = el.next
    while at is not None:
        siblings.append(at)
        at = at.next
    return siblings
