"""The rest of commands to long jobs and loops: found by any dispatcher, and done slice by slice."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import Row

from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import ending, reopening
from shoal.services.store.jobs.rows import LockedJob, lock_jobs
from shoal.services.store.loops.concurrency import release, reseat
from shoal.services.store.records import BulkProgress
from shoal.services.store.sessions.lease_expiry import expire_job
from shoal.services.store.sessions.partitions import Ready, partitions_of

NOTHING = BulkProgress(changed=0, ready=(), more=False)


class BulkKind(Enum):
    """Kinds of bulk operations."""

    END = "end"  # a job
    REOPEN = "reopen"  # a job
    STOP = "stop"  # a loop
    RESEAT = "reseat"  # a loop


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A job, or one loop of it, of which slices are left."""

    kind: BulkKind
    job: int
    loop: int = 0


def unfinished(tx: Tx, dice: random.Random) -> list[Unfinished]:
    """All of which slices are left, in any order, so that a huge one does not keep others waiting."""
    slices = [
        Unfinished(BulkKind.END, row.id) for row in (*tx.rows("canceling"), *tx.rows("past_deadline", now=tx.now))
    ]
    slices += [Unfinished(BulkKind.REOPEN, row.id) for row in tx.rows("retrying")]
    slices += [Unfinished(BulkKind.STOP, row.job, row.id) for row in tx.rows("stopping")]
    slices += [Unfinished(BulkKind.RESEAT, row.job, row.id) for row in tx.rows("reseating")]
    dice.shuffle(slices)
    return slices


def advance(tx: Tx, unfinished_part: Unfinished) -> BulkProgress:
    """Does one slice, unless there is nothing left to do."""
    job = lock_jobs(tx, [unfinished_part.job]).get(unfinished_part.job)
    if job is None or job.is_final:
        return NOTHING
    match unfinished_part.kind:
        case BulkKind.END:
            return _end(tx, job)
        case BulkKind.REOPEN:
            return _reopen(tx, job)
        case BulkKind.STOP:
            return _stop(tx, job, unfinished_part.loop)
        case BulkKind.RESEAT:
            return _reseat(tx, job, unfinished_part.loop)


def _end(tx: Tx, job: LockedJob) -> BulkProgress:
    """Ends a slice of a job that is canceled or late."""
    if job.is_late(tx.now):
        ended = expire_job(tx, job.id, ending.SLICE)
    else:
        ended = ending.end_job(tx, job, ending.CANCELED, ending.SLICE) if job.cancel_requested else 0
        ending.close_or_save(tx, job)
    return BulkProgress(ended, (), more=ended > 0)


def _reopen(tx: Tx, job: LockedJob) -> BulkProgress:
    """Opens a slice of what a retry opens again."""
    if job.retry_below is None or job.is_ending(tx.now):
        return NOTHING
    done = reopening.reopen(tx, job, ending.SLICE)
    job.save(tx)
    return BulkProgress(done.sessions + done.resumed, partitions_of(tx, done.ready, {job.id: job}), more=True)


def _stop(tx: Tx, job: LockedJob, loop: int) -> BulkProgress:
    """Cancels a slice of a stopped loop's children; its parent goes on when they were the last that it waited for."""
    row = _open_loop(tx, job, loop)
    if row is None or not row.stopped:
        return NOTHING
    ended = ending.end_children(tx, job, loop, ending.SLICE)
    if not ended:
        return _let_begun_go(tx, job, loop)
    pending = row.pending_children - ended
    resumes = not pending and not job.is_reopening(loop)
    tx.run(
        "store_loop_counts",
        id=loop,
        pending=pending,
        seats=row.seats,
        stopped=True,
        state=State.QUEUED if resumes else State.WAITING,
        raised=int(resumes),
    )
    job.save(tx)
    ready = [Ready(job.id, row.domain, loop)] if resumes else []
    return BulkProgress(ended, partitions_of(tx, ready, {job.id: job}), more=True)


def _let_begun_go(tx: Tx, job: LockedJob, loop: int) -> BulkProgress:
    """Gives permits to children of a stopped loop that have loops of their own, and were held when they were retried.

    They have begun, so they go on; all others are over by now.
    """
    ready = release(tx, job.id, loop, ending.SLICE)
    return BulkProgress(len(ready), partitions_of(tx, ready, {job.id: job}), more=bool(ready))


def _reseat(tx: Tx, job: LockedJob, loop: int) -> BulkProgress:
    """Holds a slice of a loop's children back, or lets it go, as its owner's last word on its concurrency says."""
    row = _open_loop(tx, job, loop)
    if row is None or row.stopped or not row.reseating:
        return NOTHING
    done = reseat(tx, row, row.seat_limit)
    return BulkProgress(done.held + len(done.ready), partitions_of(tx, done.ready, {job.id: job}), more=True)


def _open_loop(tx: Tx, job: LockedJob, loop: int) -> Row[Any] | None:
    """A loop that waits for its children; None when all of its job is being ended, or it was over meanwhile."""
    rows = [] if job.is_ending(tx.now) else tx.rows("loops", ids=tx.many([loop]))
    return rows[0] if rows and State(rows[0].state) is State.WAITING else None
