"""What is left of jobs and loops that are being ended: found again, whoever began it, and ended slice by slice."""

from __future__ import annotations

import random
from dataclasses import dataclass

from services.store import ending
from services.store.jobs import LockedJob, lock_jobs
from services.store.lanes import Ready, lanes_of
from services.store.reap import expire_job
from services.store.records import Swept
from services.store.states import State
from services.store.tx import Tx

NOTHING = Swept(ended=0, ready=(), more=False)


@dataclass(frozen=True, slots=True)
class Ending:
    """A job, or one loop of it, that is being ended."""

    job: int
    loop: int | None = None


def endings(tx: Tx, dice: random.Random) -> list[Ending]:
    """All that is being ended, in any order, so that a huge one does not keep others waiting."""
    found = [Ending(row.id) for row in (*tx.rows("canceling"), *tx.rows("past_deadline", now=tx.now))]
    found += [Ending(row.job, row.id) for row in tx.rows("stopping")]
    dice.shuffle(found)
    return found


def sweep(tx: Tx, one: Ending) -> Swept:
    """Ends one slice, unless there is nothing left to end."""
    job = lock_jobs(tx, [one.job]).get(one.job)
    if job is None or job.is_final:
        return NOTHING
    if one.loop is not None:
        return _stop(tx, job, one.loop)
    if job.is_late(tx.now):
        ended = expire_job(tx, job.id, ending.SLICE)
    else:
        ended = ending.end_job(tx, job, ending.CANCELED, ending.SLICE) if job.cancel_requested else 0
        ending.close_or_save(tx, job)
    return Swept(ended, (), more=ended > 0)


def _stop(tx: Tx, job: LockedJob, loop: int) -> Swept:
    """Cancels a slice of a stopped loop's children; its parent goes on when they were the last that it waited for."""
    found = tx.rows("loops", ids=tx.many([loop]))
    if job.is_ending(tx.now) or not found or not found[0].stopped or State(found[0].state) is not State.WAITING:
        return NOTHING  # all of the job is ended, or the loop was reopened
    row = found[0]
    ended = ending.end_children(tx, job, loop, ending.SLICE)
    if not ended:
        return NOTHING
    pending = row.pending_children - ended
    state = State.WAITING if pending else State.QUEUED
    tx.run(
        "settle_loop",
        id=loop,
        pending=pending,
        seats=row.seats,
        stopped=True,
        state=state,
        raised=int(not pending),
    )
    job.save(tx)
    ready = [] if pending else [Ready(job.id, row.domain, loop)]
    return Swept(ended, lanes_of(tx, ready, {job.id: job}), more=True)
