"""Partitions: the ready sessions of one job on one domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from shoal.agent.status import Status
from shoal.services.events import JobEvent
from shoal.services.store.database import codec
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import LockedJob
from shoal.services.store.records import ChangedPartitions, Partition

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
_MOST_PARTITIONS = 5_000
"""Partitions that are told in one go: about a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A session that can be claimed now."""

    job: int
    domain: int
    session: int


def all_partitions(tx: Tx) -> list[Partition]:
    """Every partition with ready sessions whose job may run; each cursor is just below the partition's first
    session."""
    return _partitions(tx.rows("partitions", now=tx.now))


def no_changes(tx: Tx) -> ChangedPartitions:
    """Return how far the events go."""
    return ChangedPartitions(tx.run("last_event").scalar_one(), (), more=False)


def changed_partitions(tx: Tx, after: int) -> ChangedPartitions:
    """The partitions of jobs that were handed in, opened or changed after an event."""
    events = tx.rows("events_after", after=after, n=_EVENTS)
    jobs = sorted({row.job for row in events if row.name in _OPENING})
    ready = (
        _partitions(tx.rows("partitions_of_jobs", jobs=tx.many(jobs), now=tx.now, n=_MOST_PARTITIONS)) if jobs else ()
    )
    return ChangedPartitions(events[-1].seq if events else after, tuple(ready), more=len(events) == _EVENTS)


def partitions_at(tx: Tx, sessions: Sequence[int]) -> tuple[Partition, ...]:
    """The partitions of those of some sessions that are ready, as far as their jobs may run."""
    return tuple(_partitions(tx.rows("partitions_at", ids=tx.many(sessions), now=tx.now))) if sessions else ()


def _partitions(rows: Iterable[Row[Any]]) -> list[Partition]:
    return [
        Partition(r.job, r.tenant, r.domain, r.host, r.priority, r.id - 1, codec.load_politeness(r.politeness))
        for r in rows
    ]


def partitions_of(tx: Tx, ready: Iterable[Ready], jobs: Mapping[int, LockedJob]) -> tuple[Partition, ...]:
    """The partitions of sessions that have just become ready, as far as their jobs may run."""
    first: dict[tuple[int, int], int] = {}
    for ready_session in ready:
        job = jobs[ready_session.job]
        if job.status in (Status.QUEUED, Status.RUNNING) and not job.is_ending(tx.now):
            partition = (ready_session.job, ready_session.domain)
            first[partition] = min(first.get(partition, ready_session.session), ready_session.session)
    hosts = host_names(tx, {domain for _, domain in first})
    return tuple(
        Partition(
            locked.id,
            locked.tenant,
            domain,
            hosts[domain],
            locked.priority,
            session - 1,
            codec.load_politeness(locked.politeness),
        )
        for (job, domain), session in first.items()
        for locked in (jobs[job],)
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
    """Return whether a delayed session's time has come."""
    return bool(tx.rows("due", now=tx.now))


def wake_due(tx: Tx) -> list[int]:
    """Makes delayed sessions ready whose time has come; gives them."""
    return [row.id for row in tx.rows("wake", now=tx.now)] if any_due(tx) else []


def wake(tx: Tx) -> tuple[Partition, ...]:
    """The same; gives their partitions."""
    return partitions_at(tx, wake_due(tx))
