"""Parts of loops that are durable but not rows yet: how they become children."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import Row

from agent.packed import unpack_items
from services.store.fanout import Siblings, hosts_of, store_children
from services.store.jobs import LockedJob, lock_jobs
from services.store.lanes import lanes_of
from services.store.records import Unfolded
from services.store.states import State
from services.store.tx import Tx

_NOTHING = Unfolded(stored=0, ready=(), more=False)


def next_part(tx: Tx, dice: random.Random) -> Row[Any] | None:
    """A part to store next: of any job that has some, so that a huge loop does not keep others waiting."""
    jobs = tx.rows("unborn_jobs")
    found = tx.rows("unborn_part", first=dice.choice(jobs).first) if jobs else ()
    return found[0] if found else None


def unfold(tx: Tx, part: Row[Any] | None) -> Unfolded:
    """Stores the children of one part, unless another dispatcher just did."""
    if part is None:
        return _NOTHING
    job = lock_jobs(tx, [part.job])[part.job]
    stored, ready = 0, []
    if tx.rows("take_unborn", first=part.first):
        (loop,) = tx.rows("loops", ids=tx.many([part.parent]))
        seats = part.n if loop.seat_limit is None else max(0, min(part.n, loop.seat_limit - loop.seats))
        ready = store_children(tx, _siblings(tx, part), seats)
        tx.run("set_seats", id=loop.id, seat_limit=loop.seat_limit, seats=loop.seats + seats)
        stored = part.n
    return Unfolded(stored, lanes_of(tx, ready, {job.id: job}), more=True)


def store_rest(tx: Tx, job: LockedJob, state: State, *, parent: int | None = None) -> int:
    """Stores what is left of a job's loops (or of one) in a state that is not claimed; gives how many children.

    For commands that end them at once: the transaction takes a second for each 50,000.
    """
    stored = 0
    for row in tx.rows("unborn_of", job=job.id, parent=parent):
        part = tx.run("unborn_part", first=row.first).one()
        tx.run("take_unborn", first=row.first)
        store_children(tx, _siblings(tx, part), 0, otherwise=state)
        stored += part.n
    return stored


def _siblings(tx: Tx, part: Row[Any]) -> Siblings:
    items = unpack_items(part.items)
    tx.know_hosts({host for host in hosts_of(items, part.host) if host})
    (parent,) = tx.rows("sessions", ids=tx.many([part.parent]))
    return Siblings(parent, part.first, part.idx, items, part.host)
