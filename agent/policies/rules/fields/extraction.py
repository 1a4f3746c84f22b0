"""One page's record or records, read again once when scripts may still bring what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from shoal.agent.errors import FieldsMissing, GoalNeedsModel
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.facts.facts import Facts, read_facts
from shoal.agent.policies.rules.fields.candidates import name_stems
from shoal.agent.policies.rules.fields.fields import page_reader, read_record
from shoal.agent.policies.rules.fields.records import read_records
from shoal.agent.policies.rules.fields.schema import Property, properties_of
from shoal.agent.types import Record

_SETTLE_S = 5.0
"""How long a page may take for what its scripts still bring."""


async def extract_page(state: SessionState) -> Extraction:
    """What the page states of the job's schema: one record, or many where the schema is of an array.

    What the page does not state stays out of the record and is named in `missing`. One call reads the page; only when a
    field is missing and scripts may still bring it, the page is given time to settle and is read once more.

    Raises:
        FieldsMissing: the page states none of the fields.
    """
    wanted = state.spec.extract
    if wanted is None or wanted.record_schema is None:
        raise GoalNeedsModel("without a JSON Schema there is nothing to read by")
    properties = properties_of(wanted.record_schema)
    if not properties:
        raise GoalNeedsModel("the schema names no properties: without a model nothing says what to read")
    words = name_stems(properties)
    facts = await read_facts(state.page, many=wanted.many, words=words)
    found = _read(facts, properties, state, wanted.many)
    if _may_still_come(found, facts, properties):
        await state.page.settle(budget_s=_SETTLE_S)
        facts = await read_facts(state.page, many=wanted.many, words=words)
        found = _read(facts, properties, state, wanted.many)
    if not found.records and not wanted.many:
        raise FieldsMissing(f"{facts.url} states none of: {', '.join(found.missing)}", fields=found.missing)
    return found


def _may_still_come(found: Extraction, facts: Facts, properties: Sequence[Property]) -> bool:
    """A required field is missing where scripts run, or any field where the page says that it is still loading.

    An optional field that a finished page does not show is no reason to wait: waiting would cost more than the page.
    """
    if not facts.scripted and not facts.busy:
        return False
    required = {prop.name for prop in properties if prop.required}
    return not found.records or bool(required & set(found.missing)) or (facts.busy and bool(found.missing))


def _read(facts: Facts, properties: Sequence[Property], state: SessionState, many: bool) -> Extraction:
    locale = state.spec.browser.locale or ""
    stamp = datetime.now(UTC).isoformat(timespec="milliseconds")
    if many:
        return read_records(facts, properties, locale, stamp)
    value, sources, missing = read_record(page_reader(facts, locale), properties)
    if not sources:
        return Extraction((), missing=tuple(missing))
    return Extraction((Record(value, sources, facts.url, stamp),), missing=tuple(missing))
