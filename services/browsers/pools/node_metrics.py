"""One worker's figures on Ray's metrics endpoint of its node, where they can be told apart by pod.

Names are those of the catalogue; Ray puts `ray_` before them. For the whole cluster read the gateway's.
"""

from __future__ import annotations

from ray.util.metrics import Counter, Gauge

from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.metrics import metric
from shoal.services.metrics_delta import MetricsDelta

GAUGES = {
    "shoal_slots": "slots",
    "shoal_slots_busy": "busy",
    "shoal_browsers": "browsers",
    "shoal_worker_memory_bytes": "rss_bytes",
}
"""Metric to field of the worker's stats."""


class NodeMetrics:
    """Tells Ray what a worker says of itself. Ray forgets gauges that are not set again and again."""

    def __init__(self) -> None:
        self._gauges = {name: Gauge(name, metric(name).meaning) for name in GAUGES}
        self._counters: dict[str, Counter] = {}
        self._before = MetricsDelta()

    def tell(self, stats: WorkerStats) -> None:
        """Call it each time that somebody asks for the worker's stats."""
        for name, field in GAUGES.items():
            self._gauges[name].set(float(getattr(stats, field)))
        now = MetricsDelta()
        now.absorb(stats.figures)
        for (name, *labels), value in now.counts.items():
            grown = value - self._before.counts.get((name, *labels), 0.0)
            if grown > 0:
                self._counter(name).inc(grown, dict(zip(metric(name).labels, labels, strict=True)))
        self._before = now

    def _counter(self, name: str) -> Counter:
        if name not in self._counters:
            self._counters[name] = Counter(name, metric(name).meaning, tag_keys=metric(name).labels)
        return self._counters[name]
