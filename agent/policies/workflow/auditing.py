"""Audits: who taught a workflow reads a page again that it has read, without seeing what it read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from shoal.agent.policies.policy import Extraction
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Audited
from shoal.agent.types import Record
from shoal.agent.workflows.judging.audit import AuditOutcome, judge_audits

_VERDICTS: Mapping[AuditOutcome, Audited] = {
    AuditOutcome.RIGHT: "right",
    AuditOutcome.WRONG: "wrong",
    AuditOutcome.UNCLEAR: "unclear",
}


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of comparing the baseline's reading of one page with a replayed record."""

    verdict: Audited
    reading: Extraction  # the baseline's last one
    differing: tuple[str, ...] = ()  # fields that it reads otherwise


async def audit(
    replayed: Record, first: Extraction, read: Callable[[], Awaitable[Extraction]], *, exact: bool = False
) -> Audit:
    """Compares a replayed record with the baseline's reading, and lets the baseline read again where they differ.

    Args:
        first: what the baseline read.
        read: lets it read once more.
        exact: texts that differ in spaces, capitals or signs differ. A model may spell them its own way.
    """
    reading, seen = first, [_value_of(first)]
    verdict = judge_audits(_mapping(replayed.value), seen, exact=exact)
    while verdict.outcome is AuditOutcome.ASK_AGAIN:
        reading = await read()
        seen.append(_value_of(reading))
        verdict = judge_audits(_mapping(replayed.value), seen, exact=exact)
    return Audit(_VERDICTS[verdict.outcome], reading, verdict.fields)


def _value_of(reading: Extraction) -> Mapping[str, Json]:
    """The one record of a reading; nothing where it gave none or several."""
    return _mapping(reading.records[0].value) if len(reading.records) == 1 else {}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
