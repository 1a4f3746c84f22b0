"""A dispatcher's report about itself: the snapshot that `/v1/status`, the metrics and the dashboard read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import loop_time
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.dispatch.commit.committer import Uncommitted
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.dispatch.scheduling.model_bound import ModelBound
from shoal.services.dispatch.workers.sizing import Size
from shoal.services.inference.watch import Admission
from shoal.services.store.records import Partition
from shoal.services.store.waiting_causes import WaitingCause

_SMOOTHING = 0.3
"""Share of the newest look in the rate."""
_TOLD_PARTITIONS = 200
"""Partitions of one cause that the snapshot names, so that their sessions can be counted and told; every status call
reads them."""


class StatusReporter:
    """Makes the snapshots of one dispatcher; it remembers the last look, for rates."""

    def __init__(self, state: DispatchState, model_bound: ModelBound | None, admission: Admission | None) -> None:
        self._state = state
        self._model_bound = model_bound
        self._admission = admission
        self._looked = loop_time()
        self._ended = 0
        self._rate = 0.0

    def snapshot(
        self,
        stats: Sequence[WorkerStats],
        leaving: frozenset[str],
        uncommitted: Uncommitted,
        size: Size | None,
        room: int,
    ) -> dict[str, Json]:
        """Return how this dispatcher and its workers stand, of which some are leaving; `room`: slots that it may still
        fill."""
        state, now = self._state, loop_time()
        self._look(now)
        slots = sum(worker.slots for worker in stats)
        waiting, held = self._waiting(now, slots)
        partitions = {cause: [(partition.job, partition.domain) for partition in some] for cause, some in held.items()}
        return {
            "workers": [{**_worker(worker), "leaving": worker.name in leaving} for worker in stats],
            "slots": slots,
            "busy": sum(worker.busy for worker in stats),
            "leases": len(state.leases),
            "uncommitted": uncommitted.reports,
            "uncommitted_bytes": uncommitted.bytes,
            "lanes_waiting": dict(waiting),
            "lanes_held": partitions,
            "held": self._by_job(held, now),
            "tenants": state.partitions.tenants(),
            "weights": dict(state.partitions.weights),
            "at_share": _at_share(state, slots),
            "rate": round(self._rate, 3),
            "room": room,
            "size": None if size is None else {"workers": size.workers, "why": size.why},
            "model": self._admission.snapshot() if self._admission else None,
            "sites": dict(state.site_rates.snapshot(now)),
            "queue_age_s": state.unserved.longest_s(now),
            "figures": state.metrics.delta.figures(),
            "ended": state.ended,
            "failed": state.failed,
        }

    def _waiting(self, now: float, slots: int) -> tuple[Counter[WaitingCause], dict[WaitingCause, list[Partition]]]:
        """Partitions by what they wait for; and some of those that no free slot would help."""
        counts: Counter[WaitingCause] = Counter()
        held: dict[WaitingCause, list[Partition]] = {}
        shares = self._state.shares(slots)
        for partition in self._state.partitions:
            cause = self._state.domains.why(partition.domain, partition.job, partition.politeness, now)
            cause = cause or (self._model_bound and self._model_bound.why(partition)) or WaitingCause.SLOT
            if cause is WaitingCause.SLOT and shares is not None and not shares.allows(partition.tenant):
                cause = WaitingCause.SHARE
            counts[cause] += 1
            if cause is not WaitingCause.SLOT and counts[cause] <= _TOLD_PARTITIONS:
                held.setdefault(cause, []).append(partition)
        return counts, held

    def _look(self, now: float) -> None:
        seconds = max(now - self._looked, 0.001)
        newest = (self._state.ended - self._ended) / seconds
        self._rate += (newest - self._rate) * _SMOOTHING
        self._looked, self._ended = now, self._state.ended

    def _by_job(
        self, held: Mapping[WaitingCause, Sequence[Partition]], now: float
    ) -> dict[str, dict[str, tuple[WaitingCause, float]]]:
        """By job and host what its sessions there wait for, and the seconds that are left where that is known."""
        by_job: dict[str, dict[str, tuple[WaitingCause, float]]] = {}
        for cause, partitions in held.items():
            for partition in partitions:
                left_s = round(self._state.domains.blocked_s(partition.domain, partition.job, now), 1)
                by_job.setdefault(str(partition.job), {})[partition.host] = (cause, left_s)
        return by_job


def _at_share(state: DispatchState, slots: int) -> list[str]:
    """Tenants with ready sessions that hold as many slots as one may."""
    shares = state.shares(slots)
    return [] if shares is None else [name for name in state.partitions.tenants() if not shares.allows(name)]


def _worker(stats: WorkerStats) -> dict[str, Json]:
    names = ("name", "node", "slots", "busy", "waiting", "browsers", "browser_restarts", "rss_bytes", "uploads_waiting")
    age_s = None if stats.browser_age_s is None else round(stats.browser_age_s, 1)
    return {**{name: getattr(stats, name) for name in names}, "age_s": round(stats.age_s, 1), "browser_age_s": age_s}
