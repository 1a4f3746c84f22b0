"""Audits: a model reads a page again that a workflow has read, without seeing what the workflow read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from shoal.agent.policies.policy import Extraction
from shoal.agent.support.json_value import Json
from shoal.agent.types import Audited, Record
from shoal.agent.workflows.judging.audit import AuditOutcome, judge_audits

_SAID: Mapping[AuditOutcome, Audited] = {
    AuditOutcome.RIGHT: "right",
    AuditOutcome.WRONG: "wrong",
    AuditOutcome.UNCLEAR: "unclear",
}


@dataclass(frozen=True, slots=True)
class Audit:
    """What a model's readings of one page say of a replayed record."""

    said: Audited
    reading: Extraction  # the model's last one
    differing: tuple[str, ...] = ()  # fields that it reads otherwise


async def audit(replayed: Record, first: Extraction, read: Callable[[], Awaitable[Extraction]]) -> Audit:
    """Compares a replayed record with a model's reading, and lets the model read again where they differ.

    Args:
        first: what the model read.
        read: lets it read once more.
    """
    reading, seen = first, [_value_of(first)]
    verdict = judge_audits(_mapping(replayed.value), seen)
    while verdict.outcome is AuditOutcome.ASK_AGAIN:
        reading = await read()
        seen.append(_value_of(reading))
        verdict = judge_audits(_mapping(replayed.value), seen)
    return Audit(_SAID[verdict.outcome], reading, verdict.fields)


def _value_of(reading: Extraction) -> Mapping[str, Json]:
    """The one record of a reading; nothing where it gave none or several."""
    return _mapping(reading.records[0].value) if len(reading.records) == 1 else {}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
