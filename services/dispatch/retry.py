"""What becomes of a failed attempt: a pure decision."""

from __future__ import annotations

import random
from dataclasses import replace

from agent.status import Status
from agent.types import Outcome
from agent.work import Work
from services.store.records import Finish

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
LONGEST_RETRY_AFTER_S = 3600.0
"""A site may ask for any pause; longer ones are cut so that a slip of a digit does not park a job for a year."""


def decide(work: Work, outcome: Outcome, *, max_attempts: int, dice: random.Random) -> Finish:
    """How the attempt is written: as it is, or, when another may succeed, queued again after a pause.

    The pause doubles with each attempt, with up to half of it added by chance so that failures that came together do
    not come back together; a pause that the site asked for (Retry-After) is the least.
    """
    attempts = min(work.spec.max_attempts, max_attempts)
    again = outcome.status is Status.FAILED and outcome.error is not None and outcome.error.retryable
    if not again or work.attempt >= attempts:
        return Finish(work.session, work.fence, outcome)
    pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (work.attempt - 1)) * (1 + dice.random() / 2)
    wish = min(outcome.retry_after_s or 0.0, LONGEST_RETRY_AFTER_S)
    return Finish(work.session, work.fence, replace(outcome, status=Status.QUEUED), ready_in_s=max(pause, wish))
