"""Reading records: what the job says the place of is read there, and what it does not is found by the policy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from shoal.agent.errors import FieldsMissing
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.policies.rules.fields.extraction import extract_page
from shoal.agent.policies.rules.lists.empty_list import requested_words
from shoal.agent.policies.rules.lists.following import doubted, goes_on, read_whole_list
from shoal.agent.read.by_place.reading import PageReading, RecordReading, read_by_places, wait_for
from shoal.agent.read.drawn.page_tree import drawn_page
from shoal.agent.read.facts.facts import facts_of
from shoal.agent.read.grounding.claims import stated_count, texts_of
from shoal.agent.read.grounding.part_claims import failure_line
from shoal.agent.read.record.record import ReadRecord, read_blocks
from shoal.agent.read.schema import Property, properties_of
from shoal.agent.read.shown.places import name_stems
from shoal.agent.spec import ExtractSpec
from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import utc_now
from shoal.agent.types import Record


async def extract_records(policy: Policy, state: SessionState) -> Extraction:
    """Return what the page, and with `extract.next` the pages after it,
    state of the job's `extract`.

    Raises:
        BadSelector: a selector of the job is no CSS.
        PlaceMissing, PlaceAmbiguous, RecordInvalid: a place that the job gives is not there, is several, or says
            something else.
        FieldsMissing: the page does not show what the schema requires.
        ModelError: a model is needed, and could not be asked.
    """
    extract = state.spec.extract
    if extract is not None and extract.many and state.spec.sample is not None and policy.instant:
        return await _first_page(policy, extract, state)
    if extract is None or not (extract.fields or extract.records or extract.next or extract.wait_for):
        return await _by_policy(policy, state)
    if extract.wait_for is not None:
        await wait_for(state.page, extract.wait_for)
    placed = bool(extract.fields or extract.records)
    if extract.next is None and not placed:
        return await _by_policy(policy, state)
    if extract.next is not None or (policy.instant and extract.many):
        read = partial(_page, policy, extract)
        return await read_whole_list(state, read, asked=extract.next, most=extract.max_pages)
    extraction = await _page(policy, extract, state)
    return await doubted(state.page, extraction) if extract.many else extraction


async def _by_policy(policy: Policy, state: SessionState) -> Extraction:
    """Return what the policy reads; the rules look by themselves at how a list ends."""
    extraction = await policy.extract(state)
    many = state.spec.extract is not None and state.spec.extract.many
    return await doubted(state.page, extraction) if many and not policy.instant else extraction


async def _first_page(policy: Policy, extract_spec: ExtractSpec, state: SessionState) -> Extraction:
    """The records of a list's first page, for a sample: whether the list goes on is looked at, and not followed."""
    if extract_spec.wait_for is not None:
        await wait_for(state.page, extract_spec.wait_for)
    extraction = await _page(policy, extract_spec, state)
    if not extraction.records or not await goes_on(state.page, extract_spec.next):
        return await doubted(state.page, extraction)
    return replace(
        extraction, complete=False, why=extraction.why or "the list may go on, and a sample reads its first page"
    )


async def _page(policy: Policy, extract_spec: ExtractSpec, state: SessionState) -> Extraction:
    """The records of the page that is open."""
    if not extract_spec.fields and extract_spec.records is None:
        return await _unplaced(policy, state)
    locale = state.spec.browser.locale or ""
    given = await read_by_places(state.page, extract_spec, locale, requested_words(state))
    if extract_spec.many:
        return await _list(state, given, extract_spec)
    rest = _rest(extract_spec)
    beside = await _extract_rest(policy, state, rest) if rest is not None else None
    return _record(given, given.records[0], beside, extract_spec)


async def _unplaced(policy: Policy, state: SessionState) -> Extraction:
    """One page of a list of which the job says only how it goes on. The rules would follow it by themselves."""
    return await (extract_page(state) if policy.instant else policy.extract(state))


# --- one record ---------------------------------------------------------------------------------------


def _rest(extract_spec: ExtractSpec) -> ExtractSpec | None:
    """Return what is asked for without a place; None where each field has one."""
    schema = extract_spec.json_schema or {}
    left = [prop for prop in properties_of(schema) if prop.name not in extract_spec.fields]
    if not left:
        return None
    own = schema.get("properties")
    if isinstance(own, Mapping):
        names = {prop.name for prop in left}
        kept = {name: part for name, part in own.items() if name in names}
        required = [name for name in schema.get("required", ()) if name in names]
        schema = {**schema, "properties": kept, "required": required}
    return extract_spec.model_copy(update={"json_schema": schema, "fields": {}})


async def _extract_rest(policy: Policy, state: SessionState, rest: ExtractSpec) -> Extraction:
    """Return what the policy finds of the fields without a place. Nothing is no error here: the others were read."""
    with _asking(state, rest):
        try:
            return await policy.extract(state)
        except FieldsMissing:
            names = tuple(prop.name for prop in properties_of(rest.json_schema or {}))
            return Extraction((), missing=names)


@contextmanager
def _asking(state: SessionState, extract: ExtractSpec) -> Iterator[None]:
    """The session's state with another `extract`; its own again afterwards."""
    own = state.spec
    state.spec = own.model_copy(update={"extract": extract})
    try:
        yield
    finally:
        state.spec = state.spec.model_copy(update={"extract": own.extract})


def _record(
    page: PageReading, given: RecordReading, beside: Extraction | None, extract_spec: ExtractSpec
) -> Extraction:
    """One record of both; what the job gives the place of wins."""
    other = beside.records[0] if beside is not None and beside.records else Record({})
    values = {**_object(other.value), **given.value}
    order = [prop.name for prop in properties_of(extract_spec.json_schema or {})]
    value = {name: values[name] for name in sorted(values, key=lambda name: _place_of(name, order))}
    sources = {**other.sources, **given.sources}
    missing = tuple(name for name in order if name in given.lacking or (beside is not None and name in beside.missing))
    candidates = {name: several for name, several in other.candidates.items() if name not in given.value}
    record = Record(value, sources, page.url, utc_now(), candidates)
    if beside is None:
        return Extraction((record,), missing=missing)
    return replace(beside, records=(record,), missing=missing, schema=None)


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _place_of(name: str, order: list[str]) -> int:
    return order.index(name) if name in order else len(order)


# --- a list -------------------------------------------------------------------------------------------


async def _list(state: SessionState, page: PageReading, extract_spec: ExtractSpec) -> Extraction:
    """The records that the job names, with what stands in each of them for the fields without a place."""
    properties = properties_of(extract_spec.record_schema or {})
    beside = await _read_beside(state, page, [prop for prop in properties if prop.name not in extract_spec.fields])
    stamp, records, missing = utc_now(), [], set[str]()
    for position, given in enumerate(page.records):
        read = beside.get(position, ReadRecord())
        sources = {**read.sources, **given.sources}
        if not sources:
            continue  # an element of the list without any of the fields: a filler between the records
        values = {**read.value, **given.value}
        value = {prop.name: values[prop.name] for prop in properties if prop.name in values}
        records.append(Record(value, sources, page.url, stamp, read.candidates))
        missing |= {*given.lacking, *read.missing}
    if not records:
        names = ", ".join(prop.name for prop in properties)
        why = "" if page.empty else f"of {len(page.records):,} elements that are records, none states any of {names}"
        fields = tuple(prop.name for prop in properties)
        return Extraction((), complete=page.empty, empty=page.empty, why=why, missing=fields)
    shown = stated_count(page.text)
    failed = failure_line(page.text, texts_of(records))
    whole = not page.cut and not failed and (shown is None or shown <= len(records))
    why = f"the page says {failed!r}" if failed else ""
    named = tuple(prop.name for prop in properties if prop.name in missing)
    return Extraction(tuple(records), complete=whole, why=why, missing=named, shown=shown)


async def _read_beside(
    state: SessionState, page: PageReading, properties: Sequence[Property]
) -> Mapping[int, ReadRecord]:
    """Return what each record's element states of `properties`.

    The rules read it, whichever policy the job has: no other reading keeps to one element.
    """
    extract = state.spec.extract
    elements = [record.where for record in page.records]
    if extract is None or not properties or not elements or (extract.records or "").startswith("$"):
        return {}
    facts = await asyncio.to_thread(facts_of, await drawn_page(state.page), name_stems(properties), elements)
    return read_blocks(facts, properties, state.spec.browser.locale or "", extract.accept)
