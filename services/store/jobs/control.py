"""An owner's commands to a job: cancel, pause, resume, retry, delete."""

from __future__ import annotations

from sqlalchemy import delete

from shoal.agent.status import Status, may_become
from shoal.services.errors import WrongState
from shoal.services.events import JobEvent
from shoal.services.store.database import tables
from shoal.services.store.database.states import RETRIED_STATES, State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id
from shoal.services.store.jobs import ending, reopening
from shoal.services.store.jobs.rows import Leased, LockedJob, counts_json, leased, lock_job, tell_webhooks
from shoal.services.store.loops.concurrency import reseat


def cancel_job(tx: Tx, job: int, tenant: str | None) -> None:
    """Marks a job as canceled, so that nothing of it begins, and cancels a first slice of what no worker holds.

    It is over when the rest is canceled too (`bulk_operations`), and workers have let go of what they hold.
    """
    locked = lock_job(tx, job, tenant)
    if locked.cancel_requested and not locked.is_final:
        return
    _require(locked, Status.CANCELED, "be canceled")
    locked.cancel_requested = True
    ending.end_job(tx, locked, ending.CANCELED, ending.SLICE)
    if locked.status is Status.PAUSED:
        locked.status = Status.RUNNING if locked.started_at else Status.QUEUED
    _say(tx, locked, JobEvent.CANCELED, leased(tx, [job]).get(job, Leased()))
    ending.close_or_save(tx, locked)


def pause_job(tx: Tx, job: int, tenant: str | None) -> None:
    """Lets no session of the job be claimed; running ones are asked to stop when their leases are renewed."""
    locked = lock_job(tx, job, tenant)
    if locked.cancel_requested:
        raise WrongState(f"job {job_id(job)} is being canceled and cannot be paused", job=job, status="canceled")
    _require(locked, Status.PAUSED, "be paused")
    locked.status = Status.PAUSED
    running = leased(tx, [job]).get(job, Leased())
    _say(tx, locked, JobEvent.PAUSED, running)
    tell_webhooks(tx, JobEvent.PAUSED.value, [(locked, {"counts": counts_json(locked.counts(running.items))})])
    locked.save(tx)


def resume_job(tx: Tx, job: int, tenant: str | None) -> None:
    """Lets a paused job go on."""
    locked = lock_job(tx, job, tenant)
    if locked.status is not Status.PAUSED:
        raise WrongState(
            f"job {job_id(job)} is {locked.status} and cannot be resumed", job=job, status=locked.status.value
        )
    locked.status = Status.RUNNING if locked.started_at else Status.QUEUED
    _say(tx, locked, JobEvent.RESUMED, leased(tx, [job]).get(job, Leased()))
    locked.save(tx)


def set_concurrency(tx: Tx, job: int, limit: int | None, tenant: str | None) -> None:
    """Lets at most `limit` items of the job's outermost loop run at once from now on; None: as many as there are slots.

    Those that run are not stopped. Loops within items keep their own limit. Of a long loop, a first slice of what is
    ready is held back, or of what is held let go; `shoal.services.store.jobs.bulk_operations` does the rest.
    """
    locked = lock_job(tx, job, tenant)
    require_going_on(locked)
    locked.concurrency = limit or 0
    (loop,) = tx.rows("loops", ids=tx.many([locked.root]))
    if State(loop.state) is State.WAITING and not (loop.stopped or loop.gated or locked.cancel_requested):
        reseat(tx, loop, limit)
    else:  # for when it is opened again
        tx.run("set_seats", id=loop.id, seat_limit=limit, seats=loop.seats)
    counts = counts_json(locked.counts(leased(tx, [job]).get(job, Leased()).items))
    tx.event(job, locked.tenant, JobEvent.CHANGED, {"concurrency": limit, "counts": counts})
    locked.save(tx)


def require_going_on(job: LockedJob) -> None:
    """Makes sure that there is something that an owner could change.

    Raises:
        WrongState: the job is final, or its deadline has passed: some of it is ended, and the rest will be.
    """
    if job.is_final or job.error is not None:
        why = "nothing of it runs" if job.is_final else "its deadline has passed"
        raise WrongState(f"job {job_id(job.id)} is {job.status}: {why}", job=job.id, status=job.status.value)


def retry_job(tx: Tx, job: int, tenant: str | None) -> None:
    """Queues failed, terminated and canceled items again; the loops that they are in wait for them again.

    Of a job with thousands of them, the last ones; `shoal.services.store.jobs.bulk_operations` does the rest.
    """
    locked = lock_job(tx, job, tenant)
    if not locked.is_final:
        raise WrongState(
            f"job {job_id(job)} is {locked.status} and cannot be retried", job=job, status=locked.status.value
        )
    was, items, unsure = locked.status, sum(locked.ended[state] for state in RETRIED_STATES), locked.ended[State.UNSURE]
    locked.reopen(tx)
    done = reopening.begin(tx, locked, ending.SLICE)
    if not done.sessions:
        why = f"job {job_id(job)} is {was} and has nothing to retry"
        if unsure:
            why += f" but {unsure:,} unsure: settle each of them, as done or to be tried again"
        raise WrongState(why, job=job, status=was.value)
    counts = counts_json(locked.counts(0))
    tx.event(job, locked.tenant, JobEvent.RETRIED, {"sessions": max(items, done.sessions), "counts": counts})
    locked.save(tx)


def delete_job(tx: Tx, job: int, tenant: str | None) -> None:
    """Removes a final job, with its labels and its key. What else it has is gone for callers; `drop` removes it."""
    locked = lock_job(tx, job, tenant)
    if not locked.is_final:
        raise WrongState(f"job {job_id(job)} is {locked.status}; cancel it first", job=job, status=locked.status.value)
    locked.leave_totals(tx)
    tx.conn.execute(tables.deleted.insert().values(job=job, tenant=locked.tenant))
    tx.conn.execute(delete(tables.job).where(tables.job.c.id == job))
    tx.run("drop_deliveries", job=job, n=ending.SLICE)


def _require(job: LockedJob, then: Status, what: str) -> None:
    if not may_become(job.status, then):
        raise WrongState(f"job {job_id(job.id)} is {job.status} and cannot {what}", job=job.id, status=job.status.value)


def _say(tx: Tx, job: LockedJob, name: JobEvent, running: Leased) -> None:
    tx.event(job.id, job.tenant, name, {"counts": counts_json(job.counts(running.items))})
