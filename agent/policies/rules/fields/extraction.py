"""One page's record or records, read again while scripts may still bring what is missing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from shoal.agent.errors import FieldsMissing, GoalNeedsModel
from shoal.agent.models.decisions.extract import lacking
from shoal.agent.page.page import Page
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.fields.list_reading import page_list
from shoal.agent.policies.rules.lists.empty_list import judged_empty
from shoal.agent.read.drawn.page_tree import MOST_ELEMENTS, drawn_page, is_large
from shoal.agent.read.facts.facts import Facts, facts_of
from shoal.agent.read.record.record import PageReader
from shoal.agent.read.schema import Property, properties_of
from shoal.agent.read.shown.places import name_stems, possible_label_words
from shoal.agent.read.values.phrases import phrase
from shoal.agent.support.moments import utc_now
from shoal.agent.types import Record

_LATE_S = 8.0
"""Seconds that a page may take for data that its scripts still bring."""
_LOOK_S = 0.4
"""Between two looks at a page whose content is still coming."""
_SETTLE_S = 5.0
"""Seconds that a page's requests and changes may take to end."""


async def extract_page(state: SessionState) -> Extraction:
    """Return what the page states of the job's schema:
    one record, or many where the schema is of an array.

    What the page does not state stays out of the record and is named in `missing`. One call reads the page; only when a
    field is missing and scripts may still bring it, the page is waited for and read again.

    Raises:
        FieldsMissing: the page states none of the fields.
    """
    extract = state.spec.extract
    if extract is None or extract.record_schema is None:
        raise GoalNeedsModel("without a JSON Schema there is nothing to read by")
    properties = properties_of(extract.record_schema)
    if not properties:
        raise GoalNeedsModel("the schema names no properties: without a model nothing says what to read")
    facts, extraction = await _look(state, properties)
    waits: list[str] = []
    began = time.monotonic()
    if _may_still_come(extraction, facts, properties):
        if not await state.page.settle(budget_s=_SETTLE_S):
            waits.append("its requests to end")
        facts, extraction = await _look(state, properties)
        settled = True
        while time.monotonic() - began < _LATE_S:
            if cause := _coming(extraction, facts, properties):
                waits.append(cause)
                await asyncio.sleep(_LOOK_S)
                settled = False
            elif settled or not _may_still_come(extraction, facts, properties):
                break
            else:  # what was waited for came, and its content may be on the way: a drawn table asks for its rows
                await state.page.settle(budget_s=_SETTLE_S)
                settled = True
            facts, extraction = await _look(state, properties)
    awaited = (
        _describe_waits(waits, began)
        if _coming(extraction, facts, properties) or "its requests to end" in waits
        else ""
    )
    extraction = replace(extraction, awaited=awaited)
    if not extract.many and not any(record.sources for record in extraction.records):
        message = lacking(extraction.records, facts.url, extraction.missing, awaited)
        raise FieldsMissing(message, fields=extraction.missing, awaited=awaited)
    return extraction


async def _look(state: SessionState, properties: Sequence[Property]) -> tuple[Facts, Extraction]:
    extract = state.spec.extract
    accept = extract.accept if extract is not None else "likely"
    locale, stamp = state.spec.browser.locale or "", utc_now()
    page = await drawn_page(state.page)
    if extract is not None and extract.many:
        return await _look_at_list(state, page, properties)
    reader = await asyncio.to_thread(partial(PageReader, page, properties, locale, places_alone=is_large(page)))
    read = await asyncio.to_thread(reader.read, accept)
    if any(source.sureness != "certain" for source in read.sources.values()) or read.missing:
        answers = await state.page.fetched_json()
        read = await asyncio.to_thread(reader.read, accept, answers) if answers else read
    if not read.sources and not read.candidates:
        return reader.facts, Extraction((), missing=read.missing)
    record = Record(read.value, read.sources, reader.facts.url, stamp, read.candidates)
    return reader.facts, Extraction((record,), missing=read.missing)


async def _look_at_list(state: SessionState, page: Page, properties: Sequence[Property]) -> tuple[Facts, Extraction]:
    extract = state.spec.extract
    accept = extract.accept if extract is not None else "likely"
    facts = await asyncio.to_thread(facts_of, page, name_stems(properties))
    if is_large(page):
        why = f"the page has more than {MOST_ELEMENTS:,} elements, and was not read"
        return facts, Extraction((), complete=False, why=why, missing=tuple(prop.name for prop in properties))
    locale = state.spec.browser.locale or ""
    extraction = await asyncio.to_thread(page_list, page, properties, locale, utc_now(), accept)
    return facts, extraction if extraction.records else await judged_empty(state, extraction)


def _may_still_come(extraction: Extraction, facts: Facts, properties: Sequence[Property]) -> bool:
    """A required field is missing where scripts run, or any field where the page says that it is still loading.

    An optional field that a finished page does not show is no reason to wait: waiting would cost more than the page.
    """
    if not facts.scripted and not facts.busy:
        return False
    required = {prop.name for prop in properties if prop.required}
    if not extraction.records or required & set(extraction.missing):
        return True
    return bool(extraction.missing) and (facts.bare or bool(_coming(extraction, facts, properties)))


def _coming(extraction: Extraction, facts: Facts, properties: Sequence[Property]) -> str:
    """Return what says that what is missing may still come, in words;
    "" when nothing does.

    That is what the page says itself, an empty element that is called as a missing field is, and, where nothing was
    found or a required field is missing, an empty element that may hold anything.
    """
    missing = [prop for prop in properties if prop.name in extraction.missing]
    if extraction.records and not missing:
        return ""
    if facts.busy or extraction.empty:
        return facts.busy
    needed = not extraction.records or any(prop.required for prop in missing)
    names = {word for prop in missing for word in possible_label_words(prop)}
    for element in facts.empty:
        tag, _, own = element.partition(" ")
        if names & {word for token in own.split() for word in phrase(token)}:
            return f"the empty {tag} {own}".strip()
        if needed and facts.scripted and (tag in _HOLDERS or facts.bare or _HOLDING & set(phrase(own))):
            return f"the empty {tag} {own}".strip()
    return ""


_HOLDERS = ("main", "article", "dl", "table", "tbody")
_HOLDING = frozenset(phrase("app root content results items list main data table grid records rows"))
"""Words by which scripts call the element that they fill."""


def _describe_waits(waits: Sequence[str], began: float) -> str:
    """Return what was waited for in vain, for the error's message."""
    causes = ", ".join(dict.fromkeys(waits))
    return f"waited {time.monotonic() - began:.1f} s for {causes}" if causes else ""
