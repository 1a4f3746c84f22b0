"""How what a long loop has left for later becomes children that can be claimed."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import Row

from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import lock_jobs
from shoal.services.store.loops.fanout import store_children
from shoal.services.store.loops.staged_items import siblings_of
from shoal.services.store.records import MaterializedChildren
from shoal.services.store.sessions.partitions import partitions_of


def next_part(tx: Tx, dice: random.Random) -> Row[Any] | None:
    """A part to store next: of any job that has some, so that a huge loop does not keep others waiting.

    What is being ended is left out: its children become rows that are final (`shoal.services.store.jobs.ending`).
    """
    jobs = [row.job for row in tx.rows("pending_jobs", now=tx.now)]
    dice.shuffle(jobs)
    for job in jobs:
        if pending := tx.rows("next_pending", job=job):
            return pending[0]
    return None


def materialize(tx: Tx, part: Row[Any] | None) -> MaterializedChildren:
    """Stores the children of one part, unless another dispatcher just did or they are ended meanwhile."""
    if part is None:
        return MaterializedChildren(stored=0, ready=(), more=False)
    job = lock_jobs(tx, [part.job])[part.job]
    (loop,) = tx.rows("loops", ids=tx.many([part.parent]))
    stored, ready = 0, []
    if not (job.is_ending(tx.now) or loop.stopped) and tx.rows("take_pending", first=part.first):
        permits = part.n if loop.seat_limit is None else max(0, min(part.n, loop.seat_limit - loop.seats))
        permits = 0 if loop.gated else permits
        ready = store_children(tx, siblings_of(tx, part), permits)
        tx.run("set_seats", id=loop.id, seat_limit=loop.seat_limit, seats=loop.seats + permits)
        stored = part.n
    return MaterializedChildren(stored, partitions_of(tx, ready, {job.id: job}), more=True)
