"""The texts and attributes of a page that may state a value, each with ways that lead to it again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.page_elements import PageElements
from shoal.agent.read.by_place.selector_candidates import Candidate, SelectorCandidates

_MOST_ELEMENTS, _MOST_LEAVES, _LONGEST_TEXT = 40_000, 4_000, 2_000
_LONGEST_DATA = 200
_SILENT = frozenset({"script", "style", "noscript", "template", "head", "option", "svg", "path"})
_OUTSIDE = frozenset({"svg", "template", "noscript"})
_CONTROLS = frozenset({"input", "select", "textarea"})
_ADDRESSES = frozenset({"href", "src"})
_ATTRIBUTES = ("content", "datetime", "value", "title", "alt", "aria-label", *sorted(_ADDRESSES))
_POINTED = frozenset({"href", "src", "datetime", "content", "alt"})
_SMALLEST = 4
"""Pixels of a side of what a person points at."""
_META_KEYS = ("property", "name", "itemprop")
_NO_DATA = re.compile("viewport|theme|csrf|token", re.IGNORECASE)
_PARTS = (*("main", "article", "h1", "form"), '[role="main"]', "[itemtype]")
_MOST_PARTS = 60
_MOST_SELECTORS, _MOST_OWN, _MOST_WITHIN = 5, 3, 4
_CELLS, _CELL_ROLES = frozenset({"td", "dd"}), frozenset({"cell", "gridcell"})
_REPEATED = frozenset({"li", "tr", "article"})
_COLON = re.compile("[:：]")
_LABEL = re.compile("([^:：]{1,40})[:：]")
_SHORT_LABEL, _LONGEST_LABEL = 40, 60
_LAST_SIGNS = js.TRIMMED + ":：*"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One element that states something."""

    number: int  # of the element
    text: str
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LeafWays:
    """Ways that lead to one element, best first."""

    css: Sequence[str] = ()
    positions: Sequence[str] = ()
    labels: Sequence[str] = ()
    column: str = ""
    records: str = ""  # selector of the records in one of which the other selectors lead to it


class PageLeaves:
    """The leaves of one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.elements = PageElements(page)
        self._candidates = SelectorCandidates(page)
        self._ways: dict[int, LeafWays] = {}

    # --- what is stated -------------------------------------------------------------------------------

    def leaves(self) -> Iterator[Leaf]:
        """Each element with a text or an attribute of its own, in document order."""
        outside: set[int] = set()
        count = 0
        body = self.elements.element(self.elements.body)
        for el in islice(body.iterdescendants(etree.Element), _MOST_ELEMENTS):
            number = self.page.number(el)
            if el.tag in _OUTSIDE or self.page.number(el.getparent()) in outside:
                outside.add(number)
            if number in outside or el.tag in _SILENT or not self._candidates.reaches(number):
                continue
            leaf = self._leaf(el, number)
            if leaf is not None:
                yield leaf
                count += 1
                if count >= _MOST_LEAVES:
                    return

    def _leaf(self, el: HtmlElement, number: int) -> Leaf | None:
        kind = (el.get("type") or "").lower()
        is_control = el.tag in _CONTROLS and not (el.tag == "input" and kind in ("password", "hidden"))
        attributes = tuple(self._attributes(el, is_control=is_control))
        text = ""
        # Of a host of a shadow tree what the tree draws is its own: no selector leads into it.
        states = number in self.page.shadow_roots or _own_text(el)
        if states:
            text = self._text(number)
        elif is_control:
            text = self.page.value(el) or ""
        if (not text and not attributes) or len(text) > _LONGEST_TEXT:
            return None
        return Leaf(number, text, attributes)

    def _attributes(self, el: HtmlElement, *, is_control: bool) -> Iterator[tuple[str, str]]:
        for name in _ATTRIBUTES:
            value = str(el.get(name) or "")
            if value and not (is_control and name == "value"):
                yield name, self.elements.absolute(value) if name in _ADDRESSES else value[:_LONGEST_TEXT]
        for name, value in el.attrib.items():
            if str(name).startswith("data-") and value and len(value) <= _LONGEST_DATA:
                yield str(name), str(value)

    def metas(self) -> Iterator[tuple[Candidate, str, bool]]:
        """Of each `<meta>` element: the selector that finds it alone, its content, and true for microdata."""
        for el in self.page.root.iter("meta"):
            key = next((name for name in _META_KEYS if el.get(name)), "")
            if not el.get("content") or not key or _NO_DATA.search(str(el.get(key))):
                continue
            named = self._candidates.stated("meta", key, str(el.get(key)))
            if len(named.numbers) == 1:
                yield named, str(el.get("content"))[:_LONGEST_TEXT], key == "itemprop"

    def parts(self) -> tuple[str, ...]:
        """Selectors of the page's parts, those with ids last."""
        stated = {f'[role="{el.get("role")}"]' for el in self.page.elements if el.get("role")}
        stated |= {str(el.tag) for el in self.page.elements}
        stated |= {"[itemtype]"} if any(el.get("itemtype") is not None for el in self.page.elements) else set()
        body = self.elements.element(self.elements.body)
        ids = filter(None, (self._candidates.by_id(el) for el in body.iterdescendants(etree.Element)))
        named = (known.css for known in ids if self._candidates.reaches(known.numbers[0]))
        return (*filter(stated.__contains__, _PARTS), *islice(named, _MOST_PARTS))

    def asks_password(self) -> bool:
        """True for a page with a field for a password."""
        return any((el.get("type") or "").lower() == "password" for el in self.page.root.iter("input"))

    # --- ways -----------------------------------------------------------------------------------------

    def ways(self, leaf: Leaf) -> LeafWays:
        """Ways to a leaf in its document."""
        known = self._ways.get(leaf.number)
        if known is None:
            known = self._ways[leaf.number] = self._ways_to(leaf)
        return known

    def _ways_to(self, leaf: Leaf) -> LeafWays:
        number, candidates = leaf.number, self._candidates
        alone = list(islice(candidates.alone(number, _MOST_OWN), _MOST_SELECTORS))
        labels, column = (self._labels(number), self._column(number)) if leaf.text else ((), "")
        return LeafWays(alone, candidates.positions(number), labels, column)

    def ways_in_record(self, leaf: Leaf) -> LeafWays:
        """Ways to a leaf within the record around it: one that was asked for, else one of what is repeated."""
        column = self._column(leaf.number) if leaf.text else ""
        record = self._record_around(leaf.number)
        if record is None:
            return LeafWays(column=column)
        scope, css = record
        selectors = list(islice(self._candidates.alone_in(leaf.number, scope), _MOST_WITHIN))
        return LeafWays(selectors, column=column, records=css)

    def _record_around(self, number: int) -> tuple[int, str] | None:
        candidates, elements = self._candidates, self.page.elements
        if RECORDS in self.page.matches:
            asked = self.page.matches[RECORDS] or ()
            scope = next((at for at in asked if candidates.contains(at, number)), number)
            return (scope, "") if scope != number else None
        best, often = None, 2
        for at in candidates.up(number):
            for name in candidates.names(at):
                is_tag = name.css == elements[at].tag
                if name.css.startswith("#") or (is_tag and name.css not in _REPEATED) or len(name.numbers) < often:
                    continue
                if not candidates.is_nested(name):
                    best, often = (at, name.css), len(name.numbers)
                    break
        return best

    def pointed(self, most: int, *, many: bool) -> list[tuple[Leaf, LeafWays]]:
        """So many leaves that a person can point at, of a list with ways within its records."""
        shown = islice(filter(self._can_be_pointed_at, self.leaves()), most)
        pointed = []
        for leaf in shown:
            kept = Leaf(leaf.number, leaf.text, tuple(pair for pair in leaf.attributes if pair[0] in _POINTED))
            pointed.append((kept, self.ways_in_record(leaf) if many else self.ways(leaf)))
        return pointed

    def _can_be_pointed_at(self, leaf: Leaf) -> bool:
        el = self.page.elements[leaf.number]
        _, _, width, height = self.page.box(el) or (0, 0, 0, 0)
        states = leaf.text or any(name in _POINTED for name, _ in leaf.attributes)
        return bool(states) and min(width, height) >= _SMALLEST and self.page.drawn(el)

    # --- labels ---------------------------------------------------------------------------------------

    def _text(self, number: int) -> str:
        return js.squash(self.elements.text_in(number))

    def _labels(self, number: int) -> list[str]:
        """Return the names that markup, or the text before it, gives the element."""
        named = (_folded(text) for text in self._named(self.page.elements[number], number))
        return [text for text in dict.fromkeys(named) if text and len(text) <= _LONGEST_LABEL]

    def _named(self, el: HtmlElement, number: int) -> Iterator[str]:
        own = self._text(number)
        cell = next((at for at in (el, *el.iterancestors()) if _is_cell(at)), None)
        if cell is not None and self._text(self.page.number(cell)) == own:
            head = _head_before(cell)
            yield "" if head is None else self._text(self.page.number(head))
        if el.tag in _CONTROLS:
            yield from (self._text(label.mem_id) for label in self.elements.labels_of(self.elements.node(el))[:1])
        yield str(el.get("aria-label") or "")
        before = self._before(el)
        if before is None:
            around = self._text(self.page.number(el.getparent()))
            yield _COLON.split(around)[0] if _COLON.search(around[:_SHORT_LABEL]) else ""
        elif len(_folded(before)) <= _SHORT_LABEL and any(map(str.isalpha, before)):
            yield before
        if labelled := _LABEL.match(own):
            yield labelled[1]

    def _before(self, el: HtmlElement) -> str | None:
        """The text of what stands before an element in the one around it; None where nothing does."""
        last = el.getprevious()
        text = el.getparent().text if last is None else last.tail
        if js.squash(text or ""):
            return str(text)
        return None if last is None else self._text(self.page.number(last))

    def _column(self, number: int) -> str:
        """The text over an element in the first row of its table."""
        el = self.page.elements[number]
        cell = next((at for at in (el, *el.iterancestors()) if at.tag == "td"), None)
        row = None if cell is None else next(cell.iterancestors("tr"), None)
        table = None if row is None else next(row.iterancestors("table"), None)
        if cell is None or row is None or table is None or self._text(self.page.number(cell)) != self._text(number):
            return ""
        first = next(table.iterdescendants("tr"))
        cells, heads = list(row.iterchildren("td", "th")), list(first.iterchildren("td", "th"))
        place = cells.index(cell) if cell in cells else len(heads)
        return "" if first is row or place >= len(heads) else _folded(self._text(self.page.number(heads[place])))


RECORDS = "records"
"""The name of a page's matches for the records that a job names."""


def _own_text(el: HtmlElement) -> str:
    return js.squash(" ".join([el.text or "", *(child.tail or "" for child in el)]))


def _is_cell(el: HtmlElement) -> bool:
    return el.tag in _CELLS or el.get("role") in _CELL_ROLES


def _head_before(cell: HtmlElement) -> HtmlElement | None:
    """Return the element by which a row, or a list of terms, calls a cell."""
    if cell.tag == "dd":
        return next(cell.itersiblings("dt", preceding=True), None)
    row = next((at for at in cell.iterancestors() if at.tag == "tr" or at.get("role") == "row"), None)
    if row is None:
        return None
    stated = (at for at in row.iterdescendants(etree.Element) if at.tag == "th" or at.get("role") == "rowheader")
    head = next(stated, None) if row.tag != "tr" else next(stated, next(row.iterchildren("td", "th"), None))
    return None if head is cell else head


def _folded(text: str) -> str:
    return js.squash(text).rstrip(_LAST_SIGNS)
