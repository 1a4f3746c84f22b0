"""What a loop does next, by the evidence of its last items. Only the learner's thread imports this."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import structlog

from shoal.agent.workflows.judging.phase import LearningStep
from shoal.agent.workflows.learning.evidence import unpacked
from shoal.agent.workflows.learning.loop import Lessons, next_step
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
    return next_step(
        Lessons(
            phase=known.phase,
            runs=runs,
            ended=known.ended,
            figures=known.figures,
            rounds=known.rounds,
            version=known.version,
            record_schema=known.record_schema,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    )
