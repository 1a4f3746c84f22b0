"""Lanes: the ready sessions of one job on one domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent.status import Status
from services.store import codec
from services.store.jobs import LockedJob
from services.store.records import Lane
from services.store.tx import Tx


@dataclass(frozen=True, slots=True)
class Ready:
    """A session that can be claimed now."""

    job: int
    domain: int
    session: int


def all_lanes(tx: Tx) -> list[Lane]:
    """Every lane with ready sessions whose job may run; each cursor is just below the lane's first session."""
    return [
        Lane(r.job, r.tenant, r.domain, r.host, r.priority, r.id - 1, codec.load_politeness(r.politeness))
        for r in tx.rows("lanes", now=tx.now)
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


def wake_due(tx: Tx) -> None:
    """Makes delayed sessions ready whose time has come."""
    if any_due(tx):
        tx.run("wake", now=tx.now)
