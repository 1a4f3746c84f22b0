"""Ending by slices: the open sessions of a job that is canceled or late, and of a loop that is stopped.

A loop of a million items would be a transaction of half a minute. So the process that ends one marks it, ends the
first slice, and leaves the rest to any dispatcher (`shoal.services.store.jobs.bulk_operations`). Between two slices
all counts are whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row

from shoal.agent.errors import UnsureAction
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.store.database import codec
from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import LockedJob, close_those_over, finished_events, leased, tell_unsure
from shoal.services.store.loops.fanout import store_parts

SLICE = 2_000
"""Sessions that one transaction ends, or a part of a compressed loop more: some 50 ms, in which its job, and on SQLite
every other writer, waits."""


@dataclass(frozen=True, slots=True)
class Fate:
    """The end that sessions get."""

    state: State
    outcome: str | None = None  # as its column holds it; None: what their last attempt said stays
    running: bool = False  # those that workers hold are ended as well


CANCELED = Fate(State.CANCELED)
_ENDED = UnsureAction("the job's time was up after an action that must not be repeated, and before its end was known")

# Sessions are looked for where an index leads to them, one state after the other. Ready ones come again: what was
# delayed may have been woken meanwhile, by a claim that asks for no job's lock.
_OF_JOB = ("ready_of", "held_of", "delayed_of", "ready_of")
_OF_LOOP = ("ready_in", "held_in", "delayed_in", "ready_in")


def end_job(tx: Tx, job: LockedJob, fate: Fate, most: int) -> int:
    """Ends some `most` open sessions of a job, parents that wait for others last; gives how many. Does not save it.

    Its root is final when nothing else is left to be ended. A retry that was not done yet goes no further.
    """
    job.retry_below = None
    left = most
    for query in ("running_of", *_OF_JOB, "running_of") if fate.running else _OF_JOB:
        # What was found counts, though a claim may have taken it meanwhile: less than asked for means that no more is.
        left -= _end(tx, job, fate, [row.id for row in tx.rows(query, job=job.id, n=left)]) if left > 0 else 0
    if left > 0:
        stored = store_parts(tx, job.id, None, left, fate.state, fate.outcome)
        job.ended[fate.state] += stored.total()
        _take_off(tx, job, fate, stored)
        left -= stored.total()
    if left > 0:
        left -= _end(tx, job, fate, [row.id for row in tx.rows("waiting_of", job=job.id, n=left)])
    return most - left


def close_or_save(tx: Tx, job: LockedJob) -> None:
    """Writes a job after a slice; ends it when there was nothing left."""
    finished_events(tx, close_those_over(tx, [job], leased(tx, [job.id])))
    job.save(tx)


def _end(tx: Tx, job: LockedJob, fate: Fate, ids: Sequence[int]) -> int:
    """Ends sessions of a job and takes them off their loops; gives how many were asked for."""
    rows = _write(tx, job, fate, ids)
    _take_off(tx, job, fate, Counter(row.parent for row in rows if row.parent is not None))
    return len(ids)


def _write(tx: Tx, job: LockedJob, fate: Fate, ids: Sequence[int]) -> Sequence[Row[Any]]:
    doubts = _doubts(tx, ids) if fate.state is State.FAILED else {}
    rows = list(_write_all(tx, job, fate, [session for session in ids if session not in doubts]))
    unsure: list[int] = []
    for doubted, outcome in doubts.items():
        ended = _write_all(tx, job, replace(fate, state=State.UNSURE, outcome=outcome), [doubted])
        unsure += [row.id for row in ended]
        rows += ended
    tell_unsure(tx, [(job, unsure)])
    return rows


def _write_all(tx: Tx, job: LockedJob, fate: Fate, ids: Sequence[int]) -> Sequence[Row[Any]]:
    if not ids:
        return ()
    rows = tx.rows(
        "end_sessions", ids=tx.many(sorted(ids)), state=fate.state, outcome=fate.outcome, running=fate.running
    )
    job.ended[fate.state] += sum(not row.children for row in rows)
    return rows


def _doubts(tx: Tx, ids: Sequence[int]) -> dict[int, str]:
    """Those that did what must not be done twice, with their outcome: "failed" would be taken for "not sent"."""
    if not ids:
        return {}
    known = {
        row.id: codec.load_checkpoint(row.checkpoint) for row in tx.rows("kept_checkpoints", ids=tx.many(sorted(ids)))
    }
    return {
        session: codec.dump_outcome(
            Outcome(Status.UNSURE, error=_ENDED.info(), reason=f"did {checkpoint.confirmed[-1]}")
        )
        for session, checkpoint in known.items()
        if checkpoint.confirmed
    }


def _take_off(tx: Tx, job: LockedJob, fate: Fate, ended: Counter[int]) -> None:
    """Takes ended children off the loops that wait for them; a loop without any left ends with them."""
    if ended:
        tx.each("less_pending", [{"id": parent, "n": n} for parent, n in sorted(ended.items())])
        _end(tx, job, fate, [row.id for row in tx.rows("emptied", ids=tx.many(sorted(ended)))])


# --- stopped loops -------------------------------------------------------------------------------------


def end_children(tx: Tx, job: LockedJob, loop: int, most: int) -> int:
    """Cancels some `most` children of a stopped loop that have not begun or wait for another try; gives how many.

    The caller takes them off the loop. Children that fanned out have begun: they go on.
    """
    (span,) = tx.rows("span", id=loop)
    left, ended = most, 0
    for query in _OF_LOOP:
        children = _select_ids(tx, query, span, left) if left > 0 else []
        ended += len(_write(tx, job, CANCELED, children))
        left -= len(children)
    if left > 0:
        stored = store_parts(tx, job.id, loop, left, State.CANCELED, None).total()
        job.ended[State.CANCELED] += stored
        ended += stored
    return ended


def is_stopping(tx: Tx, loop: int) -> bool:
    """Return whether a loop is stopped, and children of it are still to be canceled."""
    (span,) = tx.rows("span", id=loop)
    return bool(span.stopped) and (
        bool(tx.rows("pending_of", job=span.job, parent=loop, n=1))
        or any(_select_ids(tx, query, span, 1) for query in _OF_LOOP)
    )


def _select_ids(tx: Tx, query: str, span: Row[Any], n: int) -> list[int]:
    return [row.id for row in tx.rows(query, job=span.job, parent=span.id, first=span.first, last=span.last, n=n)]
