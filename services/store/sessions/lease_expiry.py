"""Leases that end without a report, and jobs whose time is up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from shoal.agent.errors import ActionUnconfirmed, DeadlinePassed, LeaseLost
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.store.database import codec
from shoal.services.store.database.states import State, state_of
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import ending
from shoal.services.store.jobs.rows import LockedJob, lock_jobs
from shoal.services.store.records import ExpiredLease, ExpiredLeases, Finish
from shoal.services.store.sessions.finish import write_group
from shoal.services.store.throttle.set_clock import LOOK, ROUND_S, set_back
from shoal.services.store.throttle.site_limits import FOREVER_S

_WORKER = "its worker was lost"
_LEASE = "its lease was not renewed"
_DEADLINE = "the job's deadline passed"
"""Reasons for the end of a lease without a report. Of a lease that ran out it is unknown whether the worker died."""

MOST_LOSSES = 10
"""Attempts of a session that may end with their worker or lease before it fails."""
_AT_ONCE = 2
"""So many losses are followed by another attempt at once."""
_LONGEST_WAIT_S = 60.0
_LATE_JOBS = 50
"""Jobs that one transaction comes to: each takes some statements, as many sessions of one job take few."""
_TOO_LATE = DeadlinePassed("the job's deadline passed").info()


def note_look(tx: Tx, lease_s: float) -> None:
    """Notes that a dispatcher looks at the leases, and gives them back the time in which none could.

    The first dispatcher after an outage of the store does it for all: the row is locked until the transaction ends. A
    lease never gets more than `lease_s` from now on, so one whose dispatcher is gone runs out. By a clock that was set,
    leases last neither shorter nor longer; and by one that was set back nothing waits longer than it was told to. Apart
    from `reap_leases`, which locks jobs before sessions.
    """
    row = tx.run("last_look", name=LOOK).one_or_none()
    tx.run("put_state", name=LOOK, data=codec.dump_json({}), at=tx.now)
    if row is None:
        return
    # Looks that are always late must not make a lease immortal: the first seconds of a pause count.
    away_s = tx.now - row.at - _round_s(lease_s)
    if away_s > 0:
        tx.run("extend_leases", seen=row.at, by=away_s, most=tx.now + lease_s)
    elif by := set_back(row.at, tx.now):
        tx.run("shorten_leases", most=tx.now + lease_s)
        _pull_back(tx, by)


def _pull_back(tx: Tx, by: float) -> None:
    """Pull what waits for a moment back to its time,
    by a clock that was set back `by` seconds.

    What began to wait since then, within one look, waits shorter. Deadlines of jobs are left alone: they are moments of
    the clock.
    """
    for query in ("pull_back_retries", "pull_back_paces", "pull_back_deliveries", "pull_back_sinks"):
        tx.run(query, by=by, now=tx.now)
    tx.run("pull_back_site_pauses", by=by, now=tx.now, forever=FOREVER_S)
    tx.run("pull_back_job_paces", now=tx.now)


def _round_s(lease_s: float) -> float:
    return min(ROUND_S, lease_s / 4)


def expire_leases(tx: Tx, owner: str | None, lease_s: float | None = None) -> ExpiredLeases:
    """Ends leases that ran out, or all of one owner's, as if their workers had reported it.

    `lease_s`: of the dispatcher whose look was noted just before. When the store was away since, nothing is ended.
    """
    if owner is None and lease_s is not None:
        seen = tx.run("last_look", name=LOOK).one().at
        if tx.now - seen > _round_s(lease_s):
            return ExpiredLeases((), ())
    over = tx.rows("expired", now=tx.now) if owner is None else tx.rows("owned", owner=owner)
    if not over:
        return ExpiredLeases((), ())
    # Under the jobs' locks, so that no other transaction ends these attempts between this look and the write.
    lock_jobs(tx, sorted({row.job for row in over}))
    rows = [
        row
        for row in tx.rows("leases", ids=tx.many([row.id for row in over]))
        if row.state == State.RUNNING and (row.owner == owner if owner is not None else row.lease_until <= tx.now)
    ]
    why = _LEASE if owner is None else _WORKER
    reports = [_report(row, why) for row in rows]
    written = write_group(tx, reports)
    return ExpiredLeases(_freed(tx, rows), written.ready)


def _report(row: Row[Any], why: str) -> Finish:
    """Return what a session becomes whose lease ended without a report.
    Pure.

    A lost worker is not the session's fault, so the attempt does not count. Sessions that lose their worker each time
    may be what ends it: they wait longer each time, and fail at last.
    """
    pending = row.checkpoint is not None and codec.load_checkpoint(row.checkpoint).pending_action
    if pending:
        message = f"{why} inside an action that must not be repeated"
        error = ActionUnconfirmed(message).info()
        outcome = Outcome(Status.UNSURE, error=error, reason=f"may have done: {pending}")
        return Finish(row.id, row.fence, outcome)
    losses = row.losses + 1
    if losses >= MOST_LOSSES:
        error = LeaseLost(f"{why}, as in {row.losses} attempts before: it may be this session that ends them").info()
        return Finish(row.id, row.fence, Outcome(Status.FAILED, error=error))
    outcome = Outcome(Status.QUEUED, error=LeaseLost(why).info())
    return Finish(row.id, row.fence, outcome, ready_in_s=_wait_s(losses), counts=False)


def _wait_s(losses: int) -> float:
    """The pause after so many losses. Pure."""
    return 0.0 if losses <= _AT_ONCE else min(2.0 ** (losses - _AT_ONCE - 1), _LONGEST_WAIT_S)


def _freed(tx: Tx, rows: Sequence[Row[Any]]) -> tuple[ExpiredLease, ...]:
    after = {row.id: State(row.state).status for row in tx.rows("leases", ids=tx.many([row.id for row in rows]))}
    return tuple(ExpiredLease(row.id, row.job, row.domain, after[row.id]) for row in rows)


def expire_jobs(tx: Tx) -> list[int]:
    """Fails a first slice of what is left of jobs whose deadline passed; gives those that it has come to.

    The others are left to its next call, and to `shoal.services.store.jobs.bulk_operations`.
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

    A session inside an action that must not be repeated becomes unsure instead: how that ended will not be known.
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
        job.error = _TOO_LATE  # from now on its deadline cannot be moved: some of it is over
    ending.close_or_save(tx, job)
    return unsure + ended


def _fate(job: LockedJob) -> ending.Fate:
    status = Status.CANCELED if job.cancel_requested else Status.FAILED
    outcome = Outcome(status, error=None if job.cancel_requested else _TOO_LATE)
    return ending.Fate(state_of(status), codec.dump_outcome(outcome), running=True)


def _leave_unsure(tx: Tx, job: int) -> int:
    """Ends those running sessions of a job that are inside an action which must not be repeated; gives how many."""
    running = [row.id for row in tx.rows("running_in", jobs=tx.many([job]))]
    reports = [_report(row, _DEADLINE) for row in tx.rows("leases", ids=tx.many(running))] if running else []
    unsure = [report for report in reports if report.outcome.status is Status.UNSURE]
    if unsure:
        write_group(tx, unsure)
    return len(unsure)
