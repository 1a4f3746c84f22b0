"""Leases that end without a report, and jobs whose time is up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from agent.status import Status
from agent.types import ErrorInfo, Outcome
from services.store import codec, ending
from services.store.finish import write_group
from services.store.jobs import LockedJob, lock_jobs, specs_naming
from services.store.records import Finish, Freed, Reaped
from services.store.states import State, state_of
from services.store.tx import Tx

_LOST = ErrorInfo("LeaseLost", "lease_lost", "its worker stopped reporting", retryable=True)
_UNCONFIRMED = ErrorInfo(
    "LeaseLost", "action_unconfirmed", "its worker died inside an action that must not be repeated", retryable=False
)
_LATE_JOBS = 50
"""Jobs that one transaction comes to: each takes some statements, as many sessions of one job take few."""
_TOO_LATE = ErrorInfo("DeadlinePassed", "deadline_passed", "the job's deadline passed", retryable=False)


def reap_leases(tx: Tx, owner: str | None) -> Reaped:
    """Ends leases that ran out, or all of one owner's, as if their workers had reported it."""
    over = tx.rows("expired", now=tx.now) if owner is None else tx.rows("owned", owner=owner)
    if not over:
        return Reaped((), ())
    # Under the jobs' locks, so that nobody else ends these attempts between this look and the write.
    lock_jobs(tx, sorted({row.job for row in over}))
    rows = [
        row
        for row in tx.rows("leases", ids=tx.many([row.id for row in over]))
        if row.state == State.RUNNING and (row.owner == owner if owner is not None else row.lease_until <= tx.now)
    ]
    specs = specs_naming(tx, {row.job for row in rows}, "max_attempts")
    reports = [_report(row, specs[row.job].max_attempts) for row in rows]
    written = write_group(tx, reports)
    return Reaped(_freed(tx, rows), written.ready)


def _report(row: Row[Any], max_attempts: int) -> Finish:
    """What a session becomes whose worker is gone. Pure."""
    pending = row.checkpoint is not None and codec.load_checkpoint(row.checkpoint).pending_action
    if pending:
        outcome = Outcome(Status.UNSURE, error=_UNCONFIRMED, reason=f"may have done: {pending}")
    elif row.attempt >= max_attempts:
        outcome = Outcome(Status.FAILED, error=_LOST)
    else:
        outcome = Outcome(Status.QUEUED, error=_LOST)
    return Finish(row.id, row.fence, outcome)


def _freed(tx: Tx, rows: Sequence[Row[Any]]) -> tuple[Freed, ...]:
    after = {row.id: State(row.state).status for row in tx.rows("leases", ids=tx.many([row.id for row in rows]))}
    return tuple(Freed(row.id, row.job, row.domain, after[row.id]) for row in rows)


def expire_jobs(tx: Tx) -> list[int]:
    """Fails a first slice of what is left of jobs whose deadline passed; gives those that it has come to.

    The others are left to its next call, and to `services.store.sweep`.
    """
    late: list[int] = []
    left = ending.SLICE
    for row in tx.rows("past_deadline", now=tx.now):
        if left <= 0 or len(late) == _LATE_JOBS:
            break
        if ended := expire_job(tx, row.id, left):
            late.append(row.id)
            left -= ended
    return late


def expire_job(tx: Tx, number: int, most: int) -> int:
    """Fails some `most` sessions of a job that is late, running ones first; their reports will come late.

    A session inside an action that must not be repeated becomes unsure instead: nobody will hear how that ended.
    Gives how many are over now; 0: somebody else has ended the job.
    """
    job = lock_jobs(tx, [number]).get(number)
    if job is None or not job.is_late(tx.now):
        return 0
    unsure = _leave_unsure(tx, number)
    job = lock_jobs(tx, [number])[number]
    if job.is_final:
        return unsure  # it was its only session
    ended = ending.end_job(tx, job, _fate(job), most)
    if not job.cancel_requested:
        job.error = _TOO_LATE  # from now on nobody can move its deadline: some of it is over
    ending.close_or_save(tx, job)
    return unsure + ended


def _fate(job: LockedJob) -> ending.Fate:
    status = Status.CANCELED if job.cancel_requested else Status.FAILED
    outcome = Outcome(status, error=None if job.cancel_requested else _TOO_LATE)
    return ending.Fate(state_of(status), codec.dump_outcome(outcome), running=True)


def _leave_unsure(tx: Tx, job: int) -> int:
    """Ends those running sessions of a job that are inside an action which must not be repeated; gives how many."""
    running = [row.id for row in tx.rows("running_in", jobs=tx.many([job]))]
    reports = [_report(row, 0) for row in tx.rows("leases", ids=tx.many(running))] if running else []
    unsure = [report for report in reports if report.outcome.status is Status.UNSURE]
    if unsure:
        write_group(tx, unsure)
    return len(unsure)
