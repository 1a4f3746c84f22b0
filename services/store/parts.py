"""Parts of loops that are durable but not rows yet: unpacked, and stored as children."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import Row

from agent.packed import unpack_items
from services.store.fanout import Siblings, hosts_of, store_children
from services.store.states import State
from services.store.tx import Tx


def siblings_of(tx: Tx, part: Row[Any]) -> Siblings:
    """The children in a part."""
    items = unpack_items(part.items)
    tx.know_hosts({host for host in hosts_of(items, part.host) if host})
    (parent,) = tx.rows("sessions", ids=tx.many([part.parent]))
    return Siblings(parent, part.first, part.idx, items, part.host)


def store_parts(tx: Tx, job: int, parent: int | None, most: int, state: State, outcome: str | None) -> Counter[int]:
    """Stores parts of a job's loops, or of one, as ended, until there are `most` children; gives how many by parent."""
    stored = Counter[int]()
    while stored.total() < most and (found := tx.rows("unborn_of", job=job, parent=parent, n=1)):
        part = tx.run("unborn_part", first=found[0].first).one()
        tx.run("take_unborn", first=part.first)
        store_children(tx, siblings_of(tx, part), 0, otherwise=state, outcome=outcome)
        stored[part.parent] += part.n
    return stored
