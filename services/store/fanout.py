"""A loop's children, stored with the parent's checkpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row

from agent.types import FanOut, LoopItem, Outcome
from services.store import codec
from services.store.jobs import LockedJob, spec_of
from services.store.lanes import Ready
from services.store.records import Finish
from services.store.states import State
from services.store.tx import Tx

Json = Any

_CHUNK = 10_000
"""Children per statement: keeps the arrays of a huge loop within some 10 MB."""
_PLAIN_HOST = re.compile(r"https?://([a-z0-9.-]+)(?:[/?#]|$)")
"""Most links; the rest goes through `urlsplit`, which takes ten times as long."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A loop whose children are stored."""

    n: int
    ready: list[Ready]  # the first ready child on each domain


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
    """The host names of every child in a group of reports."""
    return {host for report in group if report.outcome.fan_out for host in _hosts(report.outcome.fan_out) if host}


def children_in(group: Sequence[Finish]) -> int:
    """How many ids the children in a group of reports take."""
    return sum(len(report.outcome.fan_out.items) for report in group if report.outcome.fan_out)


def open_loop(tx: Tx, parent: Row[Any], outcome: Outcome, job: LockedJob) -> Opened:
    """Stores the children of a session that fanned out; their ids are in the order of the items."""
    fan_out = outcome.fan_out
    assert fan_out is not None  # `_decide` gives WAITING to nothing else
    n = len(fan_out.items)
    limit = _limit(tx, parent.depth, job)
    seats = n if limit is None else min(n, limit)
    first = tx.first.get("session", 1)  # a loop without items needs no ids
    tx.first = {**tx.first, "session": first + n}
    tx.run(
        "begin_loop",
        id=parent.id,
        n=n,
        first=first,
        state=None if fan_out.checkpoint.storage_state is None else codec.dump_json(fan_out.checkpoint.storage_state),
        seat_limit=limit,
        seats=seats,
        stop_on_error=fan_out.on_error == "stop",
    )
    ready: dict[int, Ready] = {}
    for chunk in _chunks(_children(tx, parent, fan_out, first, seats)):
        tx.each("add_children", chunk, at_once=True)
        for child in chunk:
            if child["state"] == State.QUEUED and child["domain"] not in ready:
                ready[child["domain"]] = Ready(job.id, child["domain"], child["id"])
    return Opened(n, list(ready.values()))


def _limit(tx: Tx, depth: int, job: LockedJob) -> int | None:
    """How many items of a loop may be out at once."""
    if depth == 0 and job.concurrency is not None:
        return job.concurrency or None
    loop = spec_of(tx, job.id, job.spec_text).loop_at(depth)
    return loop.concurrency if loop else None


def _children(tx: Tx, parent: Row[Any], fan_out: FanOut, first: int, seats: int) -> Iterator[dict[str, Json]]:
    for position, (item, host) in enumerate(zip(fan_out.items, _hosts(fan_out), strict=True)):
        idx = parent.children + position
        yield {
            "id": first + position,
            "job": parent.job,
            "parent": parent.id,
            "depth": parent.depth + 1,
            "idx": idx,
            "path": f"{parent.path}{idx:08x}",
            "domain": tx.hosts[host] if host else parent.domain,
            "state": int(State.QUEUED if position < seats else State.HELD),
            "item": codec.dump_item(item),
        }


def _hosts(fan_out: FanOut) -> Iterator[str]:
    """The host that each child begins on; "" for the parent's own domain."""
    elsewhere = host_of(fan_out.checkpoint.url)
    for item in fan_out.items:
        yield (host_of(item.value) if item.is_link else "") or elsewhere


def _chunks(children: Iterator[dict[str, Json]]) -> Iterator[list[dict[str, Json]]]:
    chunk: list[dict[str, Json]] = []
    for child in children:
        chunk.append(child)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def item_of(text: str | None) -> LoopItem | None:
    """A session's loop value, from its column."""
    return None if text is None else codec.load_item(text)
