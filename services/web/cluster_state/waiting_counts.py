"""How many sessions of the whole cluster wait, and for what. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.agent.status import Status
from shoal.services.store.records import Unclaimable
from shoal.services.web.cluster_state.overview import Overview
from shoal.services.web.cluster_state.waiting import CAUSES, Cause

COUNTED: tuple[Cause, ...] = tuple(cause for cause in Cause if cause is not Cause.CANCELED)
"""What is told, with 0 where nothing waits for it: a series must not come and go."""

Lane = tuple[int, int]
"""Job and domain."""


def held_partitions(seen: Overview) -> dict[Lane, Cause]:
    """Queues that no free slot would help, as far as the dispatchers name them, each with what it waits for."""
    return {
        (job, domain): CAUSES.get(words, Cause.SLOT)
        for snapshot in seen.live
        for words, partitions in snapshot.data.get("lanes_held", {}).items()
        for job, domain in partitions
    }


def waiting_by_cause(seen: Overview, unclaimable: Unclaimable, held: Mapping[Lane, Cause]) -> dict[Cause, int]:
    """Sessions by what they wait for.

    Args:
        seen: sessions by status, and what the dispatchers say.
        unclaimable: what the store knows of those that are queued.
        held: see `held_lanes`.
    """
    counts: dict[Cause, int] = dict.fromkeys(COUNTED, 0)
    counts[Cause.PAUSED] = seen.sessions.get(Status.PAUSED, 0)
    counts[Cause.CHILDREN] = seen.sessions.get(Status.WAITING, 0)
    counts[Cause.RETRY_TIME] = unclaimable.delayed
    counts[Cause.CONCURRENCY] = unclaimable.held
    ready = seen.sessions.get(Status.QUEUED, 0) - unclaimable.delayed - unclaimable.held
    for partition, n in unclaimable.in_partitions.items():
        counts[held[partition]] += n
        ready -= n
    counts[_of_ready(seen)] += max(0, ready)  # the two looks at the store are not one moment
    return counts


def _of_ready(seen: Overview) -> Cause:
    """What sessions wait for that could be claimed now."""
    if not seen.fresh:
        return Cause.DISPATCHER
    if not seen.slots:
        return Cause.WORKER
    return Cause.SLOT if seen.busy >= seen.slots else Cause.TURN
