"""The result of one record's audits: who taught the workflow, a model or the rules, has read its page again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.reading.channels import value_key

_MOST_AUDITS = 3
"""Readings of one record by the auditor: with fewer, an auditor that errs would overthrow what is right."""


class AuditOutcome(StrEnum):
    """The result of one record's audits so far."""

    RIGHT = "right"
    """The auditor says the same."""
    ASK_AGAIN = "ask_again"
    """One audit differs: an auditor errs too."""
    WRONG = "wrong"
    """Two audits say the same, and not what was replayed."""
    UNCLEAR = "unclear"
    """The audits differ among themselves: nothing is proven, and a person may look."""


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """The state of one record's audit."""

    outcome: AuditOutcome
    fields: tuple[str, ...] = ()  # that differ in what the last audit read


def judge_audits(
    replayed: Mapping[str, Json], audits: Sequence[Mapping[str, Json]], *, exact: bool = False
) -> AuditVerdict:
    """Return what the audits of one record, each made without seeing the others,
    say of it.

    Args:
        exact: as `differences` has it.
    """
    differing = [differences(replayed, audit, exact=exact) for audit in audits]
    if any(not fields for fields in differing):
        return AuditVerdict(AuditOutcome.RIGHT)
    keys = [_key(audit, exact) for audit in audits]
    for audit, key, fields in zip(audits, keys, differing, strict=True):
        if keys.count(key) >= 2 and audit is not None:
            return AuditVerdict(AuditOutcome.WRONG, fields)
    if len(audits) >= _MOST_AUDITS:
        return AuditVerdict(AuditOutcome.UNCLEAR, differing[-1])
    return AuditVerdict(AuditOutcome.ASK_AGAIN, differing[-1] if differing else ())


def differences(replayed: Mapping[str, Json], audited: Mapping[str, Json], *, exact: bool = False) -> tuple[str, ...]:
    """The fields whose values differ; unless `exact`, spaces, capitals and signs of texts make no difference."""
    names = dict.fromkeys((*replayed, *audited))
    return tuple(
        name for name in names if _value_key(replayed.get(name), exact) != _value_key(audited.get(name), exact)
    )


def _key(record: Mapping[str, Json], exact: bool) -> str:
    return "|".join(f"{name}={_value_key(record[name], exact)}" for name in sorted(record) if record[name] is not None)


def _value_key(value: Json, exact: bool) -> str:
    return f"text {value}" if exact and isinstance(value, str) else value_key(value)
