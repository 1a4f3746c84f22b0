"""Concurrency permits: how many children of a loop may be out at once, and how slices give it another number of them.

To hold back a million children that are ready, or to let them go, takes half a minute. So the first transaction writes
what holds from now on and marks the loop (`reseating`), and `shoal.services.store.jobs.bulk_operations` does the rest.
Meanwhile claims count who is out of a loop that has more ready children than permits
(`shoal.services.store.sessions.claim`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import ending
from shoal.services.store.sessions.partitions import Ready


@dataclass(frozen=True, slots=True)
class ConcurrencyChange:
    """The result of a slice."""

    held: int  # children that are held back now
    ready: Sequence[Ready]  # children that can be claimed by it


def reseat(tx: Tx, loop: Row[Any], limit: int | None) -> ConcurrencyChange:
    """Does a slice of what brings a loop to `limit` permits (None: one for each child); leaves a mark if more is left.

    None that has begun is held back. Of a loop that learns, none is let go and all are held: what is learned decides
    which of them begin.
    """
    ready: list[Ready] = []
    most = 0 if loop.gated else limit
    held, done = _hold_back(tx, loop, most) if most is not None and loop.seats > most else (0, True)
    permits = loop.seats - held
    if done and not loop.gated and (limit is None or permits < limit):
        free = ending.SLICE if limit is None else min(ending.SLICE, limit - permits)
        ready = release(tx, loop.job, loop.id, free)
        permits += len(ready)
        done = len(ready) < free or permits == limit
    tx.run("reseat", id=loop.id, seat_limit=limit, seats=permits, reseating=not done)
    return ConcurrencyChange(held, ready)


def release(tx: Tx, job: int, loop: int, n: int) -> list[Ready]:
    """Lets the first `n` held children of a loop go. The caller gives them their permits."""
    return [Ready(job, row.domain, row.id) for row in tx.rows("release_held", parent=loop, n=n)]


def _hold_back(tx: Tx, loop: Row[Any], limit: int) -> tuple[int, bool]:
    """Holds some queued children back; gives how many, and whether that was all there is to be held.

    They are found from domain to domain. So that the first ones of the loop are its next ones nevertheless, as many
    more are held back as then have a permit, where these are few.
    """
    (span,) = tx.rows("span", id=loop.id)
    most = min(ending.SLICE, loop.seats - limit + (limit if limit <= ending.SLICE else 0))
    ready = tx.rows("ready_in", job=loop.job, parent=loop.id, first=span.first, last=span.last, n=most)
    # Claims do not wait for the job's lock: what they take meanwhile keeps its permit.
    held = tx.run("hold", ids=tx.many(sorted(row.id for row in ready))).rowcount if ready else 0
    return held, len(ready) < most or loop.seats - held <= limit
