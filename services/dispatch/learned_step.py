"""The next step of a loop, by the evidence of its last items. Only the learner's thread imports this."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from shoal.agent.documents.kept_pages import checked, stored_pages
from shoal.agent.workflows.judging.phase import LearningStep
from shoal.agent.workflows.learning.evidence import SessionEvidence, unpacked
from shoal.agent.workflows.learning.loop import LoopLearning, next_step, refused
from shoal.services.events import LogEvent
from shoal.services.store.learning.records import LearningDue

log = structlog.get_logger()


def learned_step(known: LearningDue, evidence: Sequence[bytes]) -> LearningStep:
    """The next step of a loop. Evidence that says nothing teaches nothing.

    Args:
        evidence: of the loop's last items, as their workers kept it.
    """
    runs = []
    for kept in evidence:
        try:
            runs.append(unpacked(kept))
        except ValueError as error:
            log.warning(LogEvent.EVIDENCE_UNREAD, loop=known.loop, error=str(error))
    return next_step(_loop_learning(known, runs))


def checked_step(known: LearningDue, step: LearningStep, kept: Iterable[tuple[str, bytes, bytes]]) -> LearningStep:
    """The step, if the repair that it brings is right on kept pages; else what comes next without that repair.

    Args:
        kept: of each page its artifact's id, the page, and the evidence of its session.
    """
    assert known.version is not None and step.version is not None  # one is repaired by the other
    test = checked(known.version, step.version, stored_pages(kept), known.record_schema)
    if test.wrong:
        return refused(_loop_learning(known, ()), f"of kept pages, {test.wrong[0]}")
    return replace(step, why=f"{step.why}; {test}")


def _loop_learning(known: LearningDue, runs: Sequence[SessionEvidence]) -> LoopLearning:
    return LoopLearning(
        phase=known.phase,
        runs=runs,
        ended=known.ended,
        figures=known.figures,
        rounds=known.rounds,
        version=known.version,
        record_schema=known.record_schema,
        drift=known.drift,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
