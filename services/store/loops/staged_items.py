"""Parts of loops that are durable but not rows yet: unpacked, and stored as children."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import Row

from shoal.agent.sessions.loops.compressed_items import decompress_items
from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.loops.fanout import ChildBatch, hosts_of, store_children


def siblings_of(tx: Tx, part: Row[Any]) -> ChildBatch:
    """The children in a part."""
    items = decompress_items(part.items)
    tx.know_hosts({host for host in hosts_of(items, part.host) if host})
    (parent,) = tx.rows("sessions", ids=tx.many([part.parent]))
    return ChildBatch(parent, part.first, part.idx, items, part.host)


def store_parts(tx: Tx, job: int, parent: int | None, most: int, state: State, outcome: str | None) -> Counter[int]:
    """Stores parts of a job's loops, or of one, as ended, until there are `most` children; gives how many by parent."""
    stored = Counter[int]()
    while stored.total() < most and (pending := tx.rows("pending_of", job=job, parent=parent, n=1)):
        part = tx.run("pending_part", first=pending[0].first).one()
        tx.run("take_pending", first=part.first)
        store_children(tx, siblings_of(tx, part), 0, otherwise=state, outcome=outcome)
        stored[part.parent] += part.n
    return stored
