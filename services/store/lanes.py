"""Lanes: the ready sessions of one job on one domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from agent.status import Status
from services.events import JobEvent
from services.store import codec
from services.store.jobs import LockedJob
from services.store.records import Lane, News
from services.store.tx import Tx

_OPENING = frozenset(
    (
        JobEvent.SUBMITTED,
        JobEvent.FANNED_OUT,
        JobEvent.RESUMED,
        JobEvent.RETRIED,
        JobEvent.CHANGED,
        JobEvent.SETTLED,
    )
)
"""Events that may make sessions ready, or change the turn of those that are."""
_EVENTS = 2_000
"""Events that are looked at in one go."""
_LANES = 5_000
"""Lanes that are told in one go: about a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A session that can be claimed now."""

    job: int
    domain: int
    session: int


def all_lanes(tx: Tx) -> list[Lane]:
    """Every lane with ready sessions whose job may run; each cursor is just below the lane's first session."""
    return _lanes(tx.rows("lanes", now=tx.now))


def no_news(tx: Tx) -> News:
    """How far the events go."""
    return News(tx.run("last_event").scalar_one(), (), more=False)


def news(tx: Tx, after: int) -> News:
    """The lanes of jobs that were handed in, opened or changed after an event."""
    events = tx.rows("events_after", after=after, n=_EVENTS)
    jobs = sorted({row.job for row in events if row.name in _OPENING})
    ready = _lanes(tx.rows("lanes_of_jobs", jobs=tx.many(jobs), now=tx.now, n=_LANES)) if jobs else ()
    return News(events[-1].seq if events else after, tuple(ready), more=len(events) == _EVENTS)


def lanes_at(tx: Tx, sessions: Sequence[int]) -> tuple[Lane, ...]:
    """The lanes of those of some sessions that are ready, as far as their jobs may run."""
    return tuple(_lanes(tx.rows("lanes_at", ids=tx.many(sessions), now=tx.now))) if sessions else ()


def _lanes(rows: Iterable[Row[Any]]) -> list[Lane]:
    return [
        Lane(r.job, r.tenant, r.domain, r.host, r.priority, r.id - 1, codec.load_politeness(r.politeness)) for r in rows
    ]


def lanes_of(tx: Tx, ready: Iterable[Ready], jobs: Mapping[int, LockedJob]) -> tuple[Lane, ...]:
    """The lanes of sessions that have just become ready, as far as their jobs may run."""
    first: dict[tuple[int, int], int] = {}
    for one in ready:
        job = jobs[one.job]
        if job.status in (Status.QUEUED, Status.RUNNING) and not job.is_ending(tx.now):
            lane = (one.job, one.domain)
            first[lane] = min(first.get(lane, one.session), one.session)
    hosts = host_names(tx, {domain for _, domain in first})
    return tuple(
        Lane(
            found.id,
            found.tenant,
            domain,
            hosts[domain],
            found.priority,
            session - 1,
            codec.load_politeness(found.politeness),
        )
        for (job, domain), session in first.items()
        for found in (jobs[job],)
    )


def host_names(tx: Tx, domains: Iterable[int]) -> dict[int, str]:
    """Host names by the ids of their domains."""
    names = {domain: tx.caches.hosts.get(domain) for domain in domains}
    unknown = [domain for domain, host in names.items() if host is None]
    own = set(tx.hosts.values())
    if unknown:
        for row in tx.rows("host_names", ids=tx.many(unknown)):
            names[row.id] = row.host
            if row.id not in own:  # this transaction may have added it, and may still fail
                tx.caches.hosts.put(row.id, row.host)
    return {domain: host for domain, host in names.items() if host is not None}


def any_due(tx: Tx) -> bool:
    """Whether a delayed session's time has come."""
    return bool(tx.rows("due", now=tx.now))


def wake_due(tx: Tx) -> list[int]:
    """Makes delayed sessions ready whose time has come; gives them."""
    return [row.id for row in tx.rows("wake", now=tx.now)] if any_due(tx) else []


def wake(tx: Tx) -> tuple[Lane, ...]:
    """The same; gives their lanes."""
    return lanes_at(tx, wake_due(tx))
