"""What becomes of a failed attempt: a pure decision."""

from __future__ import annotations

import random
from dataclasses import replace

from shoal.agent.errors import Recourse, errors_for
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.services.store.records import Finish

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
LONGEST_RETRY_AFTER_S = 3600.0
"""A site may ask for any pause; longer ones are cut so that a slip of a digit does not park a job for a year."""


_OURS = errors_for(Recourse.OPERATOR)


def decide(work: Work, outcome: Outcome, *, max_attempts: int, dice: random.Random, excused: int = 0) -> Finish:
    """How the attempt is written: as it is, or, when another may succeed, queued again after a pause.

    Attempts count by their cause. One that failed by the installation itself does not, however many there are: the
    pause grows with those that this session has had already (`excused`). What it did is not kept, since hours of a full
    disk are thousands of such attempts.

    The pause doubles with each attempt, with up to half of it added by chance so that failures that came together do
    not come back together; a pause that the site asked for (Retry-After) is the least.
    """
    if outcome.status is Status.FAILED and outcome.error is not None and outcome.error.cls in _OURS:
        pause = _pause(excused + 1, dice)
        excused_one = replace(outcome, status=Status.QUEUED, tasks=())
        return Finish(work.session, work.fence, excused_one, ready_in_s=pause, counts=False)
    attempts = min(work.spec.max_attempts, max_attempts)
    again = outcome.status is Status.FAILED and outcome.error is not None and outcome.error.retryable
    if not again or work.attempt >= attempts:
        return Finish(work.session, work.fence, outcome)
    pause = _pause(work.attempt, dice)
    wish = min(outcome.retry_after_s or 0.0, LONGEST_RETRY_AFTER_S)
    return Finish(work.session, work.fence, replace(outcome, status=Status.QUEUED), ready_in_s=max(pause, wish))


def _pause(attempt: int, dice: random.Random) -> float:
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 10)) * (1 + dice.random() / 2)
