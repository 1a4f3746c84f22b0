"""The records of a page's list as its tree states them, each with the elements that its values stand in."""

from __future__ import annotations

from collections.abc import Sequence

from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.page.selectors import Selectors
from shoal.agent.policies.policy import Extraction
from shoal.agent.read.facts.tables import is_cell
from shoal.agent.read.field import Field
from shoal.agent.read.grounding.claims import stated_count, texts_of
from shoal.agent.read.grounding.part_claims import failure_line
from shoal.agent.read.lists.column import Column
from shoal.agent.read.lists.fields import ListField
from shoal.agent.read.lists.pieces import Piece, joined
from shoal.agent.read.lists.records import NO_LIST, ListReading, ListRecord, read_list
from shoal.agent.read.record.structured_list import structured_list
from shoal.agent.read.schema import Property
from shoal.agent.read.shown.choosing import SURENESS_ORDER
from shoal.agent.read.values.conversion import Raw, ValueHints, convert
from shoal.agent.read.values.quantities import unit_beside
from shoal.agent.read.values.text_values import money_in, money_in_words
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Sureness
from shoal.agent.types import FieldCandidate, FieldSource, Reason, Record


def page_list(
    page: Page, properties: Sequence[Property], locale: str, stamp: str, accept: Sureness = "likely"
) -> Extraction:
    """The records of the list that a page states. Whether further pages follow is looked at elsewhere.

    A part that states less than half of the fields is no record.
    """
    reading = read_list(page, [ListField(prop) for prop in properties])
    maker = _Maker(page, reading, properties, ValueHints(_language(page) or locale, page.url), stamp, accept)
    made = [maker.record(read) for read in reading.records]
    records = tuple(record for record in made if len(record.sources) * 2 >= len(properties))
    refused = "" if made or reading.left_out == NO_LIST else reading.left_out  # structured data state the same list
    if not records and not refused:
        records = _structured(page, properties, stamp)
    text = page.text()
    shown = stated_count(text)
    names = tuple(prop.name for prop in properties)
    if not records:
        why = refused or f"the page shows no list whose entries state {', '.join(names)}"
        return Extraction((), complete=False, why=why, missing=names, shown=shown)
    failed = failure_line(text, texts_of(records))
    counted = shown is not None and shown <= len(records)
    left_out = reading.left_out if made else ""
    why = f"the page says {failed!r}" if failed else "" if counted else left_out
    missing = tuple(name for name in names if any(name not in record.sources for record in records))
    return Extraction(records, complete=not why and (shown is None or counted), why=why, missing=missing, shown=shown)


def _language(page: Page) -> str:
    language = str(page.root.get("lang") or "")
    for name, content in (("http-equiv", "content-language"), ("property", "og:locale")):
        stated = page.root.find(f".//meta[@{name}='{content}']")
        region = "" if stated is None else str(stated.get("content") or "").replace("_", "-")
        if region and (not language or ("-" not in language and region.startswith(language))):
            language = region
    return language


def _structured(page: Page, properties: Sequence[Property], stamp: str) -> tuple[Record, ...]:
    """The records of a list that only structured data state; that it is shown is not known."""
    records = []
    for node, values in structured_list(page, [Field(prop) for prop in properties]):
        value = {name: stated.value for name, stated in values.items()}
        sources = {
            name: FieldSource(node.syntax, f"{node.where}.{stated.path}", False, "likely", Reason.UNSEEN)
            for name, stated in values.items()
        }
        records.append(Record(value, sources, page.url, stamp))
    return tuple(records)


class _Maker:
    """Makes records as the schema asks for them."""

    def __init__(
        self,
        page: Page,
        reading: ListReading,
        properties: Sequence[Property],
        hints: ValueHints,
        stamp: str,
        accept: Sureness,
    ) -> None:
        self._page, self._columns, self._properties = page, reading.columns, properties
        self._hints, self._stamp, self._least = hints, stamp, SURENESS_ORDER.index(accept)
        self._selectors = Selectors(page)

    def record(self, read: ListRecord) -> Record:
        """One record, with the source of each value."""
        value: dict[str, Json] = {}
        sources: dict[str, FieldSource] = {}
        candidates: dict[str, tuple[FieldCandidate, ...]] = {}
        for prop in self._properties:
            name, text = prop.name, read.values.get(prop.name)
            stated = self._value(prop, text, read.pieces[name]) if text is not None else None
            if stated is None:
                if prop.nullable:
                    value[name] = None
                continue
            column, sureness, pieces = self._columns[name], read.sureness[name], read.pieces[name]
            element = read.links[name] if name in read.links else _element_of(column, pieces)
            how, where = _how(column), self._selectors.of(element) if element is not None else str(text)
            if SURENESS_ORDER.index(sureness) > self._least:
                candidates[name] = (FieldCandidate(stated, how, where, sureness, Reason.LOOSE_NAME),)
                continue
            value[name] = stated
            seen = column.kind != "link" and element is not None and self._page.is_visible(element)
            why = Reason.ONE_PLACE if sureness != "weak" else Reason.LOOSE_NAME
            called = ListField(prop).called_by(column.label_words)
            sources[name] = FieldSource(how, where, sureness != "weak" and seen, sureness, why, called=called)
        return Record(value, sources, self._hints.base, self._stamp, candidates)

    def _value(self, prop: Property, text: str, pieces: Sequence[Piece]) -> Json:
        column = self._columns[prop.name]
        if column.kind in ("link", "image") or (column.kind == "day" and prop.format == "date"):
            return text
        if column.kind == "day" and column.whole and pieces:
            text = joined(pieces)
        if column.kind == "money" and text == money_in(joined(pieces)) and "string" in prop.types:
            text = money_in_words(joined(pieces)) or text
        return convert(prop, Raw(text), self._hints, unit_beside([column.label_words]))


def _element_of(column: Column, pieces: Sequence[Piece]) -> HtmlElement | None:
    """The element that a value stands in: its cell, or the block of its text."""
    if not pieces:
        return None
    within = (pieces[0].el, *pieces[0].el.iterancestors())
    if column.in_cells and column.part == 1:
        return next((el for el in within if is_cell(el) or el.tag in ("dt", "dd")), pieces[0].el)
    return pieces[0].el


def _how(column: Column) -> str:
    if column.kind in ("link", "image"):
        return column.kind
    if column.names:
        return "definition-list"
    if column.in_cells:
        return "table"
    return "label" if column.source[0] == "label" else "text"
