"""Metrics that are not counted here but read from the store at each scrape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from agent.status import Status
from services.errors import StoreAway
from services.gateway.keys import EVERYBODY
from services.gateway.overview import Overview, overview
from services.metrics import family
from services.store.store import Store

Family = CounterMetricFamily | GaugeMetricFamily


async def read_values(store: Store) -> Overview | None:
    """The whole cluster; None while the store is away (the metric `shoal_store_up` says so)."""
    try:
        return await overview(store, EVERYBODY)
    except StoreAway:
        return None


class Snapshots(Collector):
    """One scrape's values as metric families."""

    def __init__(self, seen: Overview | None) -> None:
        self._seen = seen

    def collect(self) -> Iterator[Family]:
        """Every family that the store and the dispatchers' snapshots give."""
        yield _plain("shoal_store_up", 1 if self._seen is not None else 0)
        if self._seen is None:
            return
        yield _by_label("shoal_sessions", {str(status): self._seen.sessions.get(status, 0) for status in Status})
        live, workers = self._seen.live, self._seen.workers
        yield _plain("shoal_dispatchers", len(live))
        ages = [snapshot.age_s for snapshot in self._seen.dispatchers.values()]
        yield _plain("shoal_dispatcher_snapshot_age_seconds", max(ages, default=0))
        yield _plain("shoal_workers", len(workers))
        yield _plain("shoal_slots", self._seen.slots)
        yield _plain("shoal_slots_busy", self._seen.busy)
        yield _plain("shoal_leases", sum(snapshot.number("leases") for snapshot in live))
        yield _plain("shoal_reports_uncommitted", sum(snapshot.number("uncommitted") for snapshot in live))
        yield _plain("shoal_worker_memory_bytes", sum(float(worker.get("rss_bytes", 0)) for worker in workers))
        yield _plain("shoal_browser_restarts", sum(float(worker.get("browser_restarts", 0)) for worker in workers))
        yield _plain("shoal_sessions_ended", sum(snapshot.number("ended") for snapshot in live))
        yield _plain("shoal_sessions_ended_failed", sum(snapshot.number("failed") for snapshot in live))


def _plain(name: str, value: float) -> Family:
    found = family(name)
    found.add_metric((), value)
    return found


def _by_label(name: str, values: Mapping[str, float]) -> Family:
    found = family(name)
    for label, value in values.items():
        found.add_metric((label,), value)
    return found
