"""What readers of the page's tree say, joined with what the rules say of the page's facts.

Both read one page. Where they agree, a value is as sure as the surer of them says. Where they differ, structured data
that the tree's readers bear out win, and are not confirmed; else the value is doubted. A list of the tree stands in
where the rules found none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shoal.agent.browser import PageDocument
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_of_answer
from shoal.agent.policies.policy import Extraction
from shoal.agent.policies.rules.fields.choosing import MOST_CANDIDATES, SURENESS_ORDER, FieldAnswer
from shoal.agent.read.field import Field
from shoal.agent.read.lists.column import Column
from shoal.agent.read.lists.fields import ListField
from shoal.agent.read.lists.records import ListReading, ListRecord, read_list
from shoal.agent.read.record.record import PageRecord, read_record
from shoal.agent.read.record.settling import Settled
from shoal.agent.read.record.witnesses import same
from shoal.agent.read.schema import Property
from shoal.agent.read.values.conversion import Raw, ValueHints, convert
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldCandidate, FieldSource, Reason, Record, Sureness

_STRUCTURED = frozenset({"json-ld", "microdata", "rdfa", "meta"})
_LONG = 400
"""Characters from which a text is a main text."""
LEAST_FIELDS = 3
"""Fields of a record by which a list is told from other lists of the page."""
_BEYOND_RULES = frozenset({"node", "twin", "sum", "node-other", "meta", "main", "strict"})
"""Witnesses that the rules do not read as well. What only places of the shown page state, the rules read; so are titles
that no structured data state."""
_MOST_ELEMENTS = 40_000
"""Of a page that is read: reading takes 2 s of 20,000 elements."""


async def record_on(document: PageDocument, properties: Sequence[Property]) -> PageRecord:
    """The record that the page's tree states."""
    page = await _page(document)
    return await asyncio.to_thread(read_record, page, properties) if page is not None else PageRecord()


async def list_on(
    document: PageDocument, properties: Sequence[Property], hints: ValueHints, stamp: str, accept: Sureness
) -> Extraction:
    """The records of the list that the page's tree states."""
    page = await _page(document)
    if page is None:
        return Extraction(())
    reading = await asyncio.to_thread(read_list, page, [ListField(prop) for prop in properties])
    return list_extraction(reading, properties, hints, stamp, accept)


async def _page(document: PageDocument) -> Page | None:
    """The page's tree; None where it is too large to be read in good time."""
    answer = await document.read(SCRIPT, {"boxes": False})
    page = await asyncio.to_thread(page_of_answer, answer)
    return page if len(page.marks) <= _MOST_ELEMENTS else None


# --- one record ---------------------------------------------------------------------------------------


def joined(told: FieldAnswer, record: PageRecord, prop: Property) -> FieldAnswer:
    """One field's answer of the rules with what the tree states."""
    settled = record.settled.get(prop.name)
    if settled is None or not settled.claim.kinds & _BEYOND_RULES:
        return told
    value, source, candidates = settled.claim.value, record.source_of(prop.name), record.candidates_of(prop.name)
    if settled.claim.is_title and not settled.of_record:
        return told
    if told.source is None:
        if source.sureness == "weak":
            return FieldAnswer(candidates=_distinct(*told.candidates, *candidates))
        return FieldAnswer(value, source, told.candidates)
    if same(told.value, value):
        return _agreed(told, settled, source, candidates)
    if settled.claim.is_title and told.source.sureness != "weak":
        return told
    if not _outweighs(told.source, settled, Field(prop)):
        return told
    better = settled.of_record or told.source.sureness == "weak" or _by_tree(prop, value)
    if source.sureness == "weak" or not better:
        return FieldAnswer(candidates=_distinct(_candidate(told), *candidates))
    return FieldAnswer(value, _doubted(source), _distinct(_candidate(told), *told.candidates))


def _agreed(
    told: FieldAnswer, settled: Settled, source: FieldSource, candidates: Sequence[FieldCandidate]
) -> FieldAnswer:
    """As sure as the surer of both, and no surer than this kind of value may be."""
    assert told.source is not None
    if settled.why is Reason.CONTRADICTED and told.source.how in _STRUCTURED and told.source.sureness != "certain":
        return FieldAnswer(candidates=tuple(candidates))
    surer = min((told.source, source), key=lambda each: SURENESS_ORDER.index(each.sureness))
    if SURENESS_ORDER.index(surer.sureness) < SURENESS_ORDER.index(settled.most):
        surer = replace(surer, sureness=settled.most)
    return FieldAnswer(told.value if surer is told.source else settled.claim.value, surer)


def _outweighs(told: FieldSource, settled: Settled, asked: Field) -> bool:
    """True where what the tree states counts against what the rules read.

    A number that people see counts for more than one in structured data, which may be stale. What the tree itself
    doubts counts against lists, and where other places contradict it.
    """
    stale = settled.sureness != "certain" and not settled.claim.shown
    if asked.is_number and stale and told.how not in _STRUCTURED and told.sureness != "weak":
        return False
    if settled.sureness == "weak":
        contradicted = settled.why is Reason.CONTRADICTED and told.sureness != "certain"
        return asked.kind == "list" or contradicted
    return True


def _by_tree(prop: Property, value: Json) -> bool:
    """True for values that the tree's readers read better than the rules: lists, addresses, long texts."""
    return Field(prop).kind in ("list", "address") or (isinstance(value, str) and len(value) > _LONG)


def _doubted(source: FieldSource) -> FieldSource:
    """The source of a value that another reading of the page contradicts."""
    return FieldSource(source.how, source.where, False, "likely", Reason.CONTRADICTED)


def _candidate(told: FieldAnswer) -> FieldCandidate:
    assert told.source is not None
    return FieldCandidate(told.value, told.source.how, told.source.where, "weak", Reason.CONTRADICTED)


def _distinct(*candidates: FieldCandidate) -> tuple[FieldCandidate, ...]:
    by_value = {repr(candidate.value): candidate for candidate in reversed(candidates)}
    return tuple(reversed(by_value.values()))[:MOST_CANDIDATES]


# --- a list -------------------------------------------------------------------------------------------


def fuller(told: Extraction, reading: Extraction) -> Extraction:
    """The tree's reading of a list where the rules found none, and its records have several fields each.

    A list with the fields' own names counts for more than a larger one without.
    """
    several = _stated(reading) >= LEAST_FIELDS * len(reading.records)
    return reading if not told.records and several else told


def _stated(extraction: Extraction) -> int:
    return sum(len(record.sources) for record in extraction.records)


def list_extraction(
    reading: ListReading, properties: Sequence[Property], hints: ValueHints, stamp: str, accept: Sureness
) -> Extraction:
    """A list's records as the values that the schema asks for. Whether further pages follow is looked at elsewhere."""
    made = [_record(record, reading.columns, properties, hints, stamp, accept) for record in reading.records]
    records = tuple(record for record in made if len(record.sources) * 2 >= len(properties))
    missing = tuple(prop.name for prop in properties if any(prop.name not in record.sources for record in records))
    return Extraction(records, complete=not reading.left_out, why=reading.left_out, missing=missing)


def _record(
    read: ListRecord,
    columns: Mapping[str, Column],
    properties: Sequence[Property],
    hints: ValueHints,
    stamp: str,
    accept: Sureness,
) -> Record:
    value: dict[str, Json] = {}
    sources: dict[str, FieldSource] = {}
    candidates: dict[str, tuple[FieldCandidate, ...]] = {}
    for prop in properties:
        text = read.values.get(prop.name)
        stated = _value(prop, columns[prop.name], text, hints) if text is not None else None
        if stated is None or text is None:
            if prop.nullable:
                value[prop.name] = None
            continue
        sureness, how = read.sureness[prop.name], _how(columns[prop.name])
        if SURENESS_ORDER.index(sureness) > SURENESS_ORDER.index(accept):
            candidates[prop.name] = (FieldCandidate(stated, how, text, sureness, Reason.LOOSE_NAME),)
            continue
        value[prop.name] = stated
        confirmed = sureness != "weak" and columns[prop.name].kind != "link"
        why = Reason.ONE_PLACE if sureness != "weak" else Reason.LOOSE_NAME
        sources[prop.name] = FieldSource(how, text, confirmed, sureness, why)
    return Record(value, sources, hints.base, stamp, candidates)


def _value(prop: Property, column: Column, text: str, hints: ValueHints) -> Json:
    if column.kind in ("day", "link"):
        return text
    return convert(prop, Raw(text), hints)


def _how(column: Column) -> str:
    if column.kind == "link":
        return "link"
    return (
        "table" if any(str(step)[:3] in ("td@", "th@") for part in column.source for step in _steps(part)) else "text"
    )


def _steps(part: object) -> tuple[object, ...]:
    return part if isinstance(part, tuple) else (part,)
