"""A loop's children: the first are stored with the parent's checkpoint, the rest is compressed and stored in parts.

While a session finds the items of its loop, they come in pieces, and lie compressed under its attempt (`staged`). They
count for nothing if that attempt does not end well. One transaction then makes the whole loop durable, however long it
is: its ids are reserved, its first children are rows that can be claimed, and the compressed parts are its pending
children. Each part becomes children in a transaction of its own, so that claims and outcomes go on in between. A
dispatcher that dies on the way leaves parts that another takes up. No process ever holds more than a piece of a loop.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row

from shoal.agent.compressed_items import LoopPiece, decompress_items
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Checkpoint, LoopItem, Outcome
from shoal.services.errors import WrongState
from shoal.services.store.database import codec
from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import session_id
from shoal.services.store.jobs.rows import LockedJob, lock_jobs
from shoal.services.store.records import Finish, MaterializedChildren
from shoal.services.store.sessions.partitions import Ready, partitions_of

_PLAIN_HOST = re.compile(r"https?://([a-z0-9.-]+)(?:[/?#]|$)")
"""Most links; the rest goes through `urlsplit`, which takes ten times as long."""


@dataclass(frozen=True, slots=True)
class OpenedLoop:
    """A loop that is durable, and its children that can be claimed already."""

    n: int
    ready: list[Ready]  # the first ready child on each domain


@dataclass(frozen=True, slots=True)
class ChildBatch:
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
        for host in hosts_of(loop.items, host_of(loop.checkpoint.url))
        if host
    }


def children_in(group: Sequence[Finish]) -> int:
    """Return how many ids the children in a group of reports take."""
    return sum(report.outcome.fan_out.n for report in group if report.outcome.fan_out)


def stage(tx: Tx, session: int, fence: int, piece: LoopPiece) -> bool:
    """Keeps items for the loop that a running session will open; False when the lease is another's by now.

    A piece that comes again changes nothing. What earlier attempts have left goes.
    """
    (row,) = tx.rows("leases", ids=tx.many([session])) or (None,)
    if row is None or row.fence != fence or row.state != State.RUNNING:
        return False
    tx.run("drop_stale_items", session=session, fence=fence)
    at, rows = piece.at, []
    for part in piece.parts:
        rows.append({"session": session, "fence": fence, "at": at, "job": row.job, "n": part.n, "items": part.data})
        at += part.n
    tx.each("stage_items", rows)
    return True


def open_loop(
    tx: Tx, parent: Row[Any], outcome: Outcome, job: LockedJob, spec: JobSpec, *, most: int | None = None
) -> OpenedLoop:
    """Makes the loop of a session durable, and stores its first children; ids are in the order of the items.

    Of the job's spec, it asks for the `concurrency` of its loops. At most `most` children may begin at first.
    """
    fan_out = outcome.fan_out
    assert fan_out is not None  # `_decide` gives WAITING to nothing else
    n, limit = fan_out.n, _limit(parent.depth, job, spec)
    permits = len(fan_out.items) if limit is None else min(len(fan_out.items), limit)
    permits = permits if most is None else min(permits, most)
    first = tx.first.get("session", 1)  # a loop without items needs no ids
    tx.first = {**tx.first, "session": first + n}
    tx.run(
        "begin_loop",
        id=parent.id,
        n=n,
        first=first,
        state=handed_down(fan_out.checkpoint),
        seat_limit=limit,
        seats=permits,
        stop_on_error=fan_out.on_error == "stop",
    )
    host = host_of(fan_out.checkpoint.url)
    ready = store_children(tx, ChildBatch(parent, first, parent.children, fan_out.items, host), permits)
    if fan_out.later:
        _keep_for_later(tx, parent, first, host, fan_out.later)
    return OpenedLoop(n, ready)


def _keep_for_later(tx: Tx, parent: Row[Any], first: int, host: str, n: int) -> None:
    """Makes the items that the session had handed on the loop's children to be.

    Raises:
        WrongState: some of them are missing.
    """
    own = {"session": parent.id, "fence": parent.fence}
    kept = tx.run("staged_items", **own).scalar_one()
    if kept != n:
        raise WrongState(
            f"session {session_id(parent.id)} says that {n} more items belong to its loop; {kept} are kept for it",
            session=parent.id,
        )
    tx.run("keep_items", **own, first=first, idx=parent.children, host=host)
    tx.run("drop_items", session=parent.id)


def handed_down(checkpoint: Checkpoint) -> str | None:
    """Return what a loop's items begin with of their parent's checkpoint:
    its login, and what was agreed on for them.
    """
    own = Checkpoint(
        storage_state=checkpoint.storage_state,
        proposed=checkpoint.proposed,
        items_only_read=checkpoint.items_only_read,
        glossary=checkpoint.glossary,
    )
    return None if own == Checkpoint() else codec.dump_checkpoint(own)


def _limit(depth: int, job: LockedJob, spec: JobSpec) -> int | None:
    """Return how many items of a loop may be out at once."""
    if depth == 0 and job.concurrency is not None:
        return job.concurrency or None
    loop = spec.loop_at(depth)
    return loop.concurrency if loop else None


def store_children(
    tx: Tx, some: ChildBatch, permits: int, *, otherwise: State = State.HELD, outcome: str | None = None
) -> list[Ready]:
    """Stores children, the first `permits` of them queued; gives the first queued one on each domain.

    `outcome`: of all of them, as its column holds it, where `otherwise` is final.
    """
    children = [{**child, "outcome": outcome} for child in _children(tx, some, permits, otherwise)]
    tx.each("add_children", children)
    ready: dict[int, Ready] = {}
    for child in children[:permits]:
        ready.setdefault(child["domain"], Ready(child["job"], child["domain"], child["id"]))
    return list(ready.values())


def _children(tx: Tx, some: ChildBatch, permits: int, otherwise: State) -> Iterator[dict[str, Json]]:
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
            "state": int(State.QUEUED if position < permits else otherwise),
            "item": codec.dump_item(item),
        }


def hosts_of(items: Sequence[LoopItem], elsewhere: str) -> Iterator[str]:
    """The host that each child begins on; "" for the parent's own domain."""
    for item in items:
        yield (host_of(item.value) if item.is_link else "") or elsewhere


def item_of(text: str | None) -> LoopItem | None:
    """A session's loop value, from its column."""
    return None if text is None else codec.load_item(text)


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
