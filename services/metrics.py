"""Every metric of Shoal, in one place: name, type, labels, meaning.

Labels take few values: never an id, a host, a URL, a tenant or a caller's words. To add a metric, add its line to
`CATALOGUE`; what is counted where it happens goes through `Metrics`, what others keep is read at each scrape by
`services.gateway.scrape`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

Type = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the catalogue."""

    name: str  # without the `_total` that counters get in the exposition
    type: Type
    labels: tuple[str, ...]
    meaning: str  # with the unit, where it has one
    buckets: tuple[float, ...] = ()  # of a histogram


_LATENCY_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

CATALOGUE: tuple[Metric, ...] = (
    # counted by the gateway
    Metric("shoal_http_requests", "counter", ("method", "route", "status"), "Answered requests."),
    Metric(
        "shoal_http_request_seconds",
        "histogram",
        ("method", "route"),
        "Time until an answer began, in seconds.",
        _LATENCY_S,
    ),
    Metric("shoal_jobs_submitted", "counter", ("how",), "Jobs stored, by how they came: `single` or `batch`."),
    Metric("shoal_submissions_refused", "counter", ("code",), "Submissions that were refused, by error code."),
    Metric("shoal_event_streams", "gauge", (), "Event streams that are open."),
    # read from the store
    Metric("shoal_sessions", "gauge", ("status",), "Sessions in the store, by status."),
    Metric("shoal_store_up", "gauge", (), "1 when the store answered at this scrape, else 0."),
    # read from the dispatchers' snapshots
    Metric("shoal_dispatchers", "gauge", (), "Dispatchers whose snapshot is fresh."),
    Metric("shoal_dispatcher_snapshot_age_seconds", "gauge", (), "Age of the oldest dispatcher snapshot, in seconds."),
    Metric("shoal_workers", "gauge", (), "Browser workers."),
    Metric("shoal_slots", "gauge", (), "Browser slots in all."),
    Metric("shoal_slots_busy", "gauge", (), "Browser slots that run a session."),
    Metric("shoal_leases", "gauge", (), "Sessions that are leased to workers."),
    Metric("shoal_reports_uncommitted", "gauge", (), "Outcomes that wait in memory to be written."),
    Metric("shoal_worker_memory_bytes", "gauge", (), "Resident memory of all browser workers and their browsers."),
    Metric("shoal_browser_restarts", "counter", (), "Browsers that were replaced, since their workers started."),
    Metric("shoal_sessions_ended", "counter", (), "Attempts that ended, since the dispatchers started."),
    Metric("shoal_sessions_ended_failed", "counter", (), "Attempts that ended in an error, likewise."),
)

# The library adds a `_created` series to each counter, which doubles their number and tells nobody anything.
disable_created_metrics()  # type: ignore[no-untyped-call]

_BY_NAME = {metric.name: metric for metric in CATALOGUE}


class Metrics:
    """The metrics of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.http_requests = self._counter("shoal_http_requests")
        self.http_seconds = self._histogram("shoal_http_request_seconds")
        self.jobs_submitted = self._counter("shoal_jobs_submitted")
        self.submissions_refused = self._counter("shoal_submissions_refused")
        self.event_streams = self._gauge("shoal_event_streams")

    def _counter(self, name: str) -> Counter:
        metric = _BY_NAME[name]
        return Counter(metric.name, metric.meaning, metric.labels, registry=self.registry)

    def _gauge(self, name: str) -> Gauge:
        metric = _BY_NAME[name]
        return Gauge(metric.name, metric.meaning, metric.labels, registry=self.registry)

    def _histogram(self, name: str) -> Histogram:
        metric = _BY_NAME[name]
        return Histogram(metric.name, metric.meaning, metric.labels, buckets=metric.buckets, registry=self.registry)


def family(name: str) -> CounterMetricFamily | GaugeMetricFamily:
    """An empty family of a catalogued metric, for values that are read at a scrape."""
    metric = _BY_NAME[name]
    cls = CounterMetricFamily if metric.type == "counter" else GaugeMetricFamily
    return cls(metric.name, metric.meaning, labels=metric.labels)
