"""One session is tried again alone: its owner says so, and all above it wait for it once more."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from shoal.agent.status import Status
from shoal.services.errors import NotFound, WrongState
from shoal.services.events import JobEvent
from shoal.services.store.database.states import FINAL_STATES, RETRIED_STATES, State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id, session_id
from shoal.services.store.jobs import ending, reopening
from shoal.services.store.jobs.rows import LockedJob, counts_json, leased, lock_job


def retry_session(tx: Tx, session: int, tenant: str | None) -> None:
    """Queues a failed, terminated or canceled session again, with fresh attempts.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
        WrongState: it is none of these, or an unsure one; its job is archived, is being ended or will retry it itself;
            some of its own items would have to be tried again as well; or its loop is being stopped or summed up at
            this moment.
    """
    job, row = locked_session(tx, session, tenant)
    job.require_sessions()
    _require_retriable(tx, job, row)
    if job.is_final:
        reopening.end_learning(tx, job)
    reopen_session(tx, job, row, row.checkpoint)
    running = leased(tx, [job.id])
    counts = counts_json(job.counts(running[job.id].items if job.id in running else 0))
    tx.event(job.id, job.tenant, JobEvent.RETRIED, {"session": session, "sessions": 1, "counts": counts})
    job.save(tx)


def locked_session(tx: Tx, session: int, tenant: str | None) -> tuple[LockedJob, Row[Any]]:
    """A session and its job, locked.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
    """
    unlocked = tx.rows("session_to_reopen", id=session)
    if not unlocked:
        raise NotFound(f"there is no session {session_id(session)}", session=session)
    try:
        job = lock_job(tx, unlocked[0].job, tenant)
    except NotFound as err:
        raise NotFound(f"there is no session {session_id(session)}", session=session) from err
    return job, tx.run("session_to_reopen", id=session).one()


def reopen_session(tx: Tx, job: LockedJob, row: Row[Any], checkpoint: str | None) -> None:
    """Queues a final session again from a checkpoint; opens all above it, and its job, where they are over.

    Raises:
        WrongState: as `_reopen_parent`.
    """
    state = State.QUEUED if row.parent is None else _reopen_parent(tx, row.parent)
    tx.run("reopen_session", id=row.id, state=state, checkpoint=checkpoint)
    if not row.children:
        job.ended[State(row.state)] -= 1
    if job.is_final:
        job.reopen(tx)


def _require_retriable(tx: Tx, job: LockedJob, row: Row[Any]) -> None:
    name, status = session_id(row.id), State(row.state).status

    def refused(why: str) -> WrongState:
        return WrongState(why, session=row.id, status=status.value)

    if status is Status.UNSURE:
        raise refused(f"session {name} is unsure: settle it first, as done or to be tried again")
    if row.state not in RETRIED_STATES:
        raise refused(f"session {name} is {status} and cannot be retried")
    if not job.is_final and job.is_ending(tx.now):
        raise refused(f"job {job_id(job.id)} is being ended; retry session {name} when it is over")
    if job.is_reopening(row.id):
        raise refused(f"job {job_id(job.id)} is being retried, and session {name} with it")
    if row.children and _has_retriable_items(tx, job.id, row.id):
        raise refused(f"session {name} is a loop, and items of it are to be retried: retry each of them, or the job")


def _has_retriable_items(tx: Tx, job: int, loop: int) -> bool:
    (span,) = tx.rows("span", id=loop)
    return bool(tx.rows("retriable_in", job=job, parent=loop, first=span.first, last=span.last))


def _reopen_parent(tx: Tx, parent: int, *, child_waits: bool = False) -> State:
    """Lets a parent, and those above it, wait for one more child; gives how that child is queued.

    A child that waits for its own loop takes a permit even where there is none, since its children already run.

    Raises:
        WrongState: a worker holds the parent just now, and has been told how its loop went; or the loop is stopped,
            and some of its children are still to be canceled: they would begin after all.
    """
    (loop,) = tx.rows("loops", ids=tx.many([parent]))
    state = State(loop.state)
    if state is State.RUNNING:
        raise WrongState(
            f"session {session_id(parent)} is summing up this loop; say it again when it has ended", session=parent
        )
    if state is State.WAITING:
        if ending.is_stopping(tx, parent):
            raise WrongState(
                f"session {session_id(parent)} stops this loop; say it again when that is done", session=parent
            )
        # Of a stopped loop all that is open has begun: each has its permit, and those that were canceled have none.
        taken = loop.pending_children if loop.stopped else loop.seats
        full = loop.seat_limit is not None and taken >= loop.seat_limit and not child_waits
        seats, pending = taken + (not full), loop.pending_children + 1
        tx.run("store_loop_counts", id=parent, pending=pending, seats=seats, stopped=False, state=state, raised=0)
        return State.HELD if full else State.QUEUED
    tx.run("reopen_parent", id=parent, state=State.WAITING, pending=1, seats=1)
    if state in FINAL_STATES and loop.parent is not None:
        _reopen_parent(tx, loop.parent, child_waits=True)
    return State.QUEUED
