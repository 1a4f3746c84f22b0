"""A loop's children: the first are stored with the parent's checkpoint, the rest is kept packed and stored bit by bit.

One transaction makes the whole loop durable, however long it is: its ids are reserved, its first children are rows that
can be claimed, the others lie in a few packed rows (`unborn`). Each of those becomes children in a transaction of its
own, so that claims and outcomes go on in between. A dispatcher that dies on the way leaves parts that another takes up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row

from agent.types import Checkpoint, FanOut, LoopItem, Outcome
from services.store import codec, tables
from services.store.jobs import LockedJob, spec_of
from services.store.lanes import Ready
from services.store.records import Finish
from services.store.states import State
from services.store.tx import Tx

Json = Any

FIRST = 250
"""Children that are stored at once: more than a dispatcher claims at first, few enough to run within a blink."""
PART = 1_000
"""Children in one part: its transaction holds the job's row, and outcomes of that job wait for it."""
_PLAIN_HOST = re.compile(r"https?://([a-z0-9.-]+)(?:[/?#]|$)")
"""Most links; the rest goes through `urlsplit`, which takes ten times as long."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A loop that is durable, and its children that can be claimed already."""

    n: int
    ready: list[Ready]  # the first ready child on each domain


@dataclass(frozen=True, slots=True)
class Siblings:
    """Children of one loop that become rows together."""

    parent: Row[Any]
    first: int  # id of the first; the others follow
    idx: int  # its position among its siblings
    items: Sequence[LoopItem]
    host: str  # that items begin on which are no links; "" for the parent's domain


def host_of(url: str) -> str:
    """The host name of a URL, in lower case; "" when it has none."""
    plain = _PLAIN_HOST.match(url)
    if plain:
        return plain.group(1)
    try:
        return urlsplit(url.strip()).hostname or ""
    except ValueError:
        return ""


def hosts_needed(group: Sequence[Finish]) -> set[str]:
    """The host names of the children that a group of reports stores at once."""
    return {
        host
        for report in group
        if (loop := report.outcome.fan_out)
        for host in hosts_of(loop.items[:FIRST], host_of(loop.checkpoint.url))
        if host
    }


def children_in(group: Sequence[Finish]) -> int:
    """How many ids the children in a group of reports take."""
    return sum(len(report.outcome.fan_out.items) for report in group if report.outcome.fan_out)


def pack(group: Sequence[Finish]) -> dict[int, list[tuple[int, bytes]]]:
    """What of a group's loops is stored later, by session: parts of (size, packed items).

    Takes a second for a million items, so it is done before the transaction begins.
    """
    return {report.session: list(_parts(report.outcome.fan_out)) for report in group if report.outcome.fan_out}


def _parts(loop: FanOut) -> Iterator[tuple[int, bytes]]:
    later = islice(loop.items, FIRST, None)
    while part := tuple(islice(later, PART)):
        yield len(part), codec.pack_items(part)


def open_loop(tx: Tx, parent: Row[Any], outcome: Outcome, job: LockedJob, parts: list[tuple[int, bytes]]) -> Opened:
    """Makes the loop of a session durable, and stores its first children; ids are in the order of the items."""
    fan_out = outcome.fan_out
    assert fan_out is not None  # `_decide` gives WAITING to nothing else
    n, head = len(fan_out.items), fan_out.items[:FIRST]
    limit = _limit(tx, parent.depth, job)
    seats = len(head) if limit is None else min(len(head), limit)
    first = tx.first.get("session", 1)  # a loop without items needs no ids
    tx.first = {**tx.first, "session": first + n}
    tx.run(
        "begin_loop",
        id=parent.id,
        n=n,
        first=first,
        state=handed_down(fan_out.checkpoint),
        seat_limit=limit,
        seats=seats,
        stop_on_error=fan_out.on_error == "stop",
    )
    host = host_of(fan_out.checkpoint.url)
    ready = store_children(tx, Siblings(parent, first, parent.children, head, host), seats)
    later = []
    done = len(head)
    for size, packed in parts:
        place = {"first": first + done, "idx": parent.children + done, "n": size}
        later.append({"job": job.id, "parent": parent.id, "host": host, "items": packed, **place})
        done += size
    if later:
        tx.conn.execute(tables.unborn.insert(), later)
    return Opened(n, ready)


def handed_down(checkpoint: Checkpoint) -> str | None:
    """What a loop's items begin with of their parent's checkpoint: its login, and the fields that were agreed on."""
    own = Checkpoint(storage_state=checkpoint.storage_state, proposed=checkpoint.proposed)
    return None if own == Checkpoint() else codec.dump_checkpoint(own)


def _limit(tx: Tx, depth: int, job: LockedJob) -> int | None:
    """How many items of a loop may be out at once."""
    if depth == 0 and job.concurrency is not None:
        return job.concurrency or None
    loop = spec_of(tx, job.id, job.spec_text).loop_at(depth)
    return loop.concurrency if loop else None


def store_children(tx: Tx, some: Siblings, seats: int, *, otherwise: State = State.HELD) -> list[Ready]:
    """Stores children, the first `seats` of them queued; gives the first queued one on each domain."""
    children = list(_children(tx, some, seats, otherwise))
    tx.each("add_children", children, at_once=True)
    ready: dict[int, Ready] = {}
    for child in children[:seats]:
        ready.setdefault(child["domain"], Ready(child["job"], child["domain"], child["id"]))
    return list(ready.values())


def _children(tx: Tx, some: Siblings, seats: int, otherwise: State) -> Iterator[dict[str, Json]]:
    parent = some.parent
    for position, (item, host) in enumerate(zip(some.items, hosts_of(some.items, some.host), strict=True)):
        idx = some.idx + position
        yield {
            "id": some.first + position,
            "job": parent.job,
            "parent": parent.id,
            "depth": parent.depth + 1,
            "idx": idx,
            "path": f"{parent.path}{idx:08x}",
            "domain": tx.hosts[host] if host else parent.domain,
            "state": int(State.QUEUED if position < seats else otherwise),
            "item": codec.dump_item(item),
        }


def hosts_of(items: Sequence[LoopItem], elsewhere: str) -> Iterator[str]:
    """The host that each child begins on; "" for the parent's own domain."""
    for item in items:
        yield (host_of(item.value) if item.is_link else "") or elsewhere


def item_of(text: str | None) -> LoopItem | None:
    """A session's loop value, from its column."""
    return None if text is None else codec.load_item(text)
