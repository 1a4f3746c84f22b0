"""A retry of a long job: its failed sessions are opened again by slices, the last ones first.

The first slice marks the job with how far it has come (`retry_below`), and `shoal.services.store.jobs.bulk_operations`
does the rest. What is reopened may begin at once, and may fail again: that lies behind the mark, as do the children of
loops that it opens, so nothing is reopened twice. A session's descendants have higher ids than its own. So a parent
above the mark has all its children that will come; one below it waits, even when none of its children is open just now,
and the job's root is the last: no slice finds the job closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from shoal.agent.support.json_value import Json
from shoal.services.store.database.states import FINAL_STATES, State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import LockedJob
from shoal.services.store.sessions.partitions import Ready

_ABOVE_ALL = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Reopened:
    """The result of a slice."""

    sessions: int  # failed, terminated and canceled ones that are open again
    resumed: int  # parents whose children had ended again before all were reopened: they go on
    ready: Sequence[Ready]  # what can be claimed by it


@dataclass(slots=True)
class Parent:
    """A session of which children are opened again."""

    row: Row[Any]
    was_over: bool
    pending: int
    seats: int

    @classmethod
    def of(cls, row: Row[Any]) -> Parent:
        """As it stands."""
        state = State(row.state)
        if state in FINAL_STATES:
            return cls(row, True, 0, 0)
        if state is not State.WAITING:  # it waits until the mark has passed it
            raise RuntimeError(f"session {row.id} is {state.name} while its children are reopened")
        return cls(row, False, row.pending_children, row.seats)

    @property
    def free(self) -> int | None:
        """Permits that are left; None: as many as one likes."""
        return None if self.row.seat_limit is None else max(0, self.row.seat_limit - self.seats)

    def columns(self) -> dict[str, Json]:
        """Return what `reopen_loops` writes."""
        beyond_limit = self.row.seat_limit is not None and self.seats > self.row.seat_limit
        return {
            "id": self.row.id,
            "state": int(State.WAITING),
            "raised": int(self.was_over),
            "pending": self.pending,
            "seats": self.seats,
            "reseating": beyond_limit or (not self.was_over and bool(self.row.reseating)),
        }


def begin(tx: Tx, job: LockedJob, most: int) -> Reopened:
    """Opens a first slice of a job that was over. The caller has reopened the job itself, and saves it."""
    job.retry_below = _ABOVE_ALL
    end_learning(tx, job)
    return reopen(tx, job, most)


def end_learning(tx: Tx, job: LockedJob) -> None:
    """Nothing more is learned in the loops of a job that was over while they learned: they hold no item back."""
    tx.run("end_learning_of", job=job.id, why="the job was retried while the loop learned")


def reopen(tx: Tx, job: LockedJob, most: int) -> Reopened:
    """Opens one more slice of a job's sessions; moves the mark, or takes it away behind the last one.

    Of a loop that has been stopped anew meanwhile, what is not open yet stays as it is.
    """
    assert job.retry_below is not None
    retriable = tx.rows("retriable", job=job.id, below=job.retry_below, n=most + 1)
    opened, ready = _open(tx, job, retriable[:most])
    job.retry_below = retriable[most - 1].id if len(retriable) > most else 0
    resumed = tx.rows("resume_emptied", job=job.id, first=job.retry_below, n=most)
    if not job.retry_below and len(resumed) < most:
        job.retry_below = None
    ready += [Ready(job.id, row.domain, row.id) for row in resumed]
    return Reopened(opened, len(resumed), ready)


def _open(tx: Tx, job: LockedJob, batch: Sequence[Row[Any]]) -> tuple[int, list[Ready]]:
    """Opens sessions, with all above them that are over; gives how many, and those that can be claimed."""
    waiting: dict[int, Parent] = {}  # whose children these are, or will be further up
    begun: list[Row[Any]] = []
    held: list[Row[Any]] = []
    for depth in range(max((row.depth for row in batch), default=-1), -1, -1):
        some = [row for row in batch if row.depth == depth and row.id not in waiting]
        loops = [parent.row for parent in waiting.values() if parent.row.depth == depth and parent.was_over]
        parents = _parents(tx, [*some, *loops])
        some = [row for row in some if row.parent is None or not _stops(parents[row.parent])]
        for row in loops:
            if row.parent is not None:  # its own children are open: it has a permit, even where there is none
                parents[row.parent].pending += 1
                parents[row.parent].seats += 1
        for row in sorted(some, key=lambda row: row.id):
            (begun if row.parent is None or _takes(parents[row.parent]) else held).append(row)
        waiting |= {number: parent for number, parent in parents.items() if parent.pending}
    _write(tx, job, begun, held, waiting.values())
    return len(begun) + len(held) + sum(row.id in waiting for row in batch), [
        Ready(job.id, row.domain, row.id) for row in begun
    ]


def _parents(tx: Tx, children: Iterable[Row[Any]]) -> dict[int, Parent]:
    ids = sorted({row.parent for row in children if row.parent is not None})
    return {row.id: Parent.of(row) for row in tx.rows("loops", ids=tx.many(ids))} if ids else {}


def _stops(parent: Parent) -> bool:
    """Return whether its loop was stopped since its first children were reopened."""
    return not parent.was_over and bool(parent.row.stopped)


def _takes(parent: Parent) -> bool:
    """Gives a parent one more child; whether there is a permit for it."""
    parent.pending += 1
    if parent.free == 0:
        return False
    parent.seats += 1
    return True


def _write(
    tx: Tx, job: LockedJob, begun: Sequence[Row[Any]], held: Sequence[Row[Any]], waiting: Iterable[Parent]
) -> None:
    loops = [parent.columns() for parent in waiting]
    for rows, state in ((begun, State.QUEUED), (held, State.HELD)):
        items = [row.id for row in rows if not row.children]
        if items:
            tx.run("reopen_items", ids=tx.many(sorted(items)), state=state)
        # Those that failed after their loops go on from there.
        again = {"state": int(state), "raised": 1, "pending": 0, "seats": 0, "reseating": False}
        loops += [{"id": row.id, **again} for row in rows if row.children]
        for row in rows:
            if not row.children:
                job.ended[State(row.state)] -= 1
    tx.each("reopen_loops", sorted(loops, key=lambda loop: int(loop["id"])))
