"""Counts of the whole cluster's waiting sessions, by cause. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.agent.status import Status
from shoal.services.store.records import Unclaimable
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.cluster_state.overview import Overview

COUNTED: tuple[WaitingCause, ...] = tuple(cause for cause in WaitingCause if cause is not WaitingCause.CANCELED)
"""The causes that are counted, with 0 where nothing waits for them: a series must not come and go."""

Queue = tuple[int, int]
"""Job and domain."""


def blocked_queues(seen: Overview) -> dict[Queue, WaitingCause]:
    """Queues that no free slot would help, as far as the dispatchers name them, each with what it waits for."""
    return {
        queue: cause for snapshot in seen.live for cause, queues in snapshot.named_queues.items() for queue in queues
    }


def waiting_by_cause(
    seen: Overview, unclaimable: Unclaimable, held: Mapping[Queue, WaitingCause]
) -> dict[WaitingCause, int]:
    """Sessions by what they wait for.

    Args:
        seen: sessions by status, and what the dispatchers say.
        unclaimable: what the store knows of those that are queued.
        held: see `blocked_queues`.
    """
    counts: dict[WaitingCause, int] = dict.fromkeys(COUNTED, 0)
    counts[WaitingCause.PAUSED] = seen.sessions.get(Status.PAUSED, 0)
    counts[WaitingCause.CHILDREN] = seen.sessions.get(Status.WAITING, 0)
    counts[WaitingCause.RETRY_TIME] = unclaimable.delayed
    counts[WaitingCause.CONCURRENCY] = unclaimable.held - unclaimable.learning
    counts[WaitingCause.LEARNING] = unclaimable.learning
    ready = seen.sessions.get(Status.QUEUED, 0) - unclaimable.delayed - unclaimable.held
    for partition, n in unclaimable.in_partitions.items():
        counts[held[partition]] += n
        ready -= n
    counts[_of_ready(seen)] += max(0, ready)  # the two looks at the store are not one moment
    return counts


def _of_ready(seen: Overview) -> WaitingCause:
    """Return what sessions wait for that could be claimed now."""
    if not seen.fresh:
        return WaitingCause.DISPATCHER
    if not seen.slots:
        return WaitingCause.WORKER
    return WaitingCause.SLOT if seen.busy >= seen.slots else WaitingCause.TURN
