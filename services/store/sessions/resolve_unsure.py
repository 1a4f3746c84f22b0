"""What an owner decides about a session that is `unsure`: it was done, or it is to be tried again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Row

from shoal.agent.sessions.once import to_do_again
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.errors import NotFound, WrongState
from shoal.services.events import JobEvent
from shoal.services.store.database import codec
from shoal.services.store.database.states import FINAL_STATES, State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id, session_id
from shoal.services.store.jobs import ending
from shoal.services.store.jobs.rows import LockedJob, counts_json, leased, lock_job
from shoal.services.store.records import UnsureAnswer


def resolve_session(tx: Tx, session: int, how: UnsureAnswer, tenant: str | None) -> None:
    """Settles an unsure session.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
        WrongState: it is not unsure, its job is archived or canceled, or its loop is being stopped or summed up at this
            moment.
    """
    unsure = tx.rows("unsure", id=session)
    if not unsure:
        raise NotFound(f"there is no session {session_id(session)}", session=session)
    try:
        job = lock_job(tx, unsure[0].job, tenant)
    except NotFound as err:
        raise NotFound(f"there is no session {session_id(session)}", session=session) from err
    row = tx.run("unsure", id=session).one()
    status = State(row.state).status
    if status is not Status.UNSURE:
        raise WrongState(f"session {session_id(session)} is {status}, not unsure", session=session, status=status.value)
    job.require_sessions()
    if how == "done":
        _done(tx, job, row)
    else:
        _again(tx, job, row)
    running = leased(tx, [job.id])
    counts = counts_json(job.counts(running[job.id].items if job.id in running else 0))
    tx.event(job.id, job.tenant, JobEvent.SETTLED, {"session": session, "how": how, "counts": counts})
    job.save(tx)


def _done(tx: Tx, job: LockedJob, row: Row[Any]) -> None:
    tx.run("resolve_as_done", id=row.id, outcome=codec.dump_outcome(_as_done(row)))
    if not row.children:
        job.ended[State.UNSURE] -= 1
        job.ended[State.COMPLETED] += 1
    if row.parent is None and job.status is Status.UNSURE:
        job.status, job.error = Status.COMPLETED, None


def _as_done(row: Row[Any]) -> Outcome:
    """What is known of the session, with the records that it had before the action."""
    known = codec.load_outcome(row.outcome) if row.outcome else Outcome(Status.UNSURE)
    records = known.records or (codec.load_checkpoint(row.checkpoint).records if row.checkpoint else ())
    reason = f"settled by its owner as done ({known.reason})" if known.reason else "settled by its owner as done"
    return replace(known, status=Status.COMPLETED, error=None, records=records, reason=reason)


def _again(tx: Tx, job: LockedJob, row: Row[Any]) -> None:
    if job.cancel_requested:
        raise WrongState(f"job {job_id(job.id)} is canceled: retry it first", job=job.id, status=job.status.value)
    state = State.QUEUED if row.parent is None else _reopen_parent(tx, row.parent)
    checkpoint = row.checkpoint
    if checkpoint is not None:
        checkpoint = codec.dump_checkpoint(to_do_again(codec.load_checkpoint(checkpoint)))
    tx.run("resolve_as_retry", id=row.id, state=state, checkpoint=checkpoint)
    if not row.children:
        job.ended[State.UNSURE] -= 1
    if job.is_final:
        job.reopen(tx)


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
            f"session {session_id(parent)} is summing up this loop; settle again when it has ended", session=parent
        )
    if state is State.WAITING:
        if ending.is_stopping(tx, parent):
            raise WrongState(
                f"session {session_id(parent)} stops this loop; settle again when that is done", session=parent
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
