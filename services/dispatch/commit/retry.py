"""Retry or end of a failed attempt: a pure decision, by the table of `shoal.agent.fault_table`."""

from __future__ import annotations

import random
from dataclasses import replace

from shoal.agent.fault_table import PAUSE, treatment_of
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.services.store.records import Finish


def finish_or_retry(
    work: Work, outcome: Outcome, *, max_attempts: int, dice: random.Random, excused: int = 0
) -> Finish:
    """Return how the attempt is written:
    as it is, or, when another may succeed, queued again after a pause.

    Attempts count by their cause. One that failed by the installation itself does not, however many there are: the
    pause grows with those that this session has had already (`excused`). What it did is not kept, since hours of a full
    disk are thousands of such attempts.

    Chance lengthens the pause, so that failures that came together do not come back together. A pause that the site
    asked for (Retry-After) is the least.
    """
    if outcome.status is not Status.FAILED or outcome.error is None:
        return Finish(work.session, work.fence, outcome)
    treatment = treatment_of(outcome.error)
    again = replace(outcome, status=Status.QUEUED)
    if treatment.again and not treatment.counts:
        wait_s = PAUSE.before(excused + 1, dice.random())
        return Finish(work.session, work.fence, replace(again, tasks=()), ready_in_s=wait_s, counts=False)
    if not treatment.again or work.attempt >= min(work.spec.max_attempts, max_attempts):
        return Finish(work.session, work.fence, outcome)
    wait_s = PAUSE.before(work.attempt, dice.random(), outcome.retry_after_s or 0.0)
    return Finish(work.session, work.fence, again, ready_in_s=wait_s)
