"""An owner's decision about a session that is `unsure`: it was done, or it is to be tried again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Row

from shoal.agent.sessions.once import to_do_again
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.errors import WrongState
from shoal.services.events import JobEvent
from shoal.services.store.database import codec
from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id, session_id
from shoal.services.store.jobs.rows import LockedJob, counts_json, leased
from shoal.services.store.records import UnsureAnswer
from shoal.services.store.sessions.retry_session import locked_session, reopen_session


def resolve_session(tx: Tx, session: int, how: UnsureAnswer, tenant: str | None) -> None:
    """Settles an unsure session.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
        WrongState: it is not unsure, its job is archived or canceled, or its loop is being stopped or summed up at this
            moment.
    """
    job, row = locked_session(tx, session, tenant)
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
    """Return what is known of the session, with the records that it had before the action."""
    known = codec.load_outcome(row.outcome) if row.outcome else Outcome(Status.UNSURE)
    records = known.records or (codec.load_checkpoint(row.checkpoint).records if row.checkpoint else ())
    reason = f"settled by its owner as done ({known.reason})" if known.reason else "settled by its owner as done"
    return replace(known, status=Status.COMPLETED, error=None, records=records, reason=reason)


def _again(tx: Tx, job: LockedJob, row: Row[Any]) -> None:
    if job.cancel_requested:
        raise WrongState(f"job {job_id(job.id)} is canceled: retry it first", job=job.id, status=job.status.value)
    checkpoint = row.checkpoint
    if checkpoint is not None:
        checkpoint = codec.dump_checkpoint(to_do_again(codec.load_checkpoint(checkpoint)))
    reopen_session(tx, job, row, checkpoint)
