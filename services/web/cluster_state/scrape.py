"""Metrics that are not counted here but read from the store at each scrape."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.judging.sampling import bound_of
from shoal.services.errors import StoreAway
from shoal.services.metrics import CATALOGUE, family, histogram_family, metric
from shoal.services.metrics_delta import MetricsDelta
from shoal.services.store.store import Store
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.cluster_state.overview import Overview, Snapshot, every_snapshot, overview_of
from shoal.services.web.cluster_state.waiting_counts import blocked_queues, waiting_by_cause
from shoal.services.web.cluster_state.waiting_words import QUEUE_CAUSES, queue_label
from shoal.services.web.http.api_keys import EVERYBODY

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily

_TENANTS = 20
_OTHERS = "(others)"
"""The name for all tenants but the largest; no tenant can be called so."""


@dataclass(frozen=True, slots=True)
class Values:
    """The figures of one scrape."""

    seen: Overview
    counted: Sequence[Snapshot]  # of every dispatcher that ever spoke: a count must not fall when one is silent
    tenants: Mapping[tuple[str, Status], int]  # sessions
    waiting: Mapping[WaitingCause, int]  # sessions
    webhooks: Mapping[str, int]  # messages by state
    learning: Sequence[Mapping[str, int]]  # what items came to, by loop that runs and learns
    sinks: Mapping[str, int] = field(default_factory=dict)  # of jobs, by state


async def read_values(store: Store) -> Values | None:
    """The whole cluster; None while the store is away (the metric `shoal_store_up` says so)."""
    try:
        webhooks, sinks = await store.count_deliveries(), await store.sinks.count()
        counts, snapshots = await store.counts_by_status(), await every_snapshot(store)
        seen = overview_of(counts, snapshots, EVERYBODY)
        held = blocked_queues(seen)
        unclaimable = await store.unclaimable(list(held))
        learning = await store.learning.running()
    except StoreAway:
        return None
    return Values(
        seen,
        list(snapshots.values()),
        counts,
        waiting_by_cause(seen, unclaimable, held),
        {str(state): n for state, n in webhooks.items()},
        learning,
        {str(state): n for state, n in sinks.items()},
    )


class Snapshots(Collector):
    """One scrape's values as metric families."""

    def __init__(self, values: Values | None) -> None:
        self._values = values

    def collect(self) -> Iterator[Family]:
        """Every family that the store and the dispatchers' snapshots give."""
        yield _plain("shoal_store_up", 1 if self._values is not None else 0)
        if self._values is None:
            return
        seen = self._values.seen
        yield _by_label("shoal_sessions", {str(status): seen.sessions.get(status, 0) for status in Status})
        yield _by_label("shoal_sessions_waiting", {str(cause): n for cause, n in self._values.waiting.items()})
        yield _by_tenant(self._values.tenants)
        yield _by_label("shoal_webhooks", {"waiting": 0, "dead": 0, **self._values.webhooks})
        yield _by_label("shoal_sinks", {"waiting": 0, "failed": 0, **self._values.sinks})
        yield from _of_learning(self._values.learning)
        yield from _of_snapshots(seen)
        yield from _families_of_deltas(self._values.counted)


def _of_learning(loops: Sequence[Mapping[str, int]]) -> Iterator[Family]:
    """Yield what loops have read that no audit has confirmed, and what their audits prove."""
    yield _plain("shoal_provisional_records", sum(figures.get("provisional", 0) for figures in loops))
    read = [figures for figures in loops if figures.get("provisional") or figures.get("audits")]
    total: Counter[str] = Counter()
    for figures in read:
        total.update(figures)
    largest = max((bound_of(figures).at_most for figures in read), default=0.0)
    yield _by_label("shoal_audit_bound", {"all": bound_of(total).at_most if read else 0.0, "largest": largest})


def _of_snapshots(seen: Overview) -> Iterator[Family]:
    live, workers = seen.live, seen.workers
    yield _plain("shoal_dispatchers", len(live))
    ages = [snapshot.age_s for snapshot in seen.dispatchers.values()]
    yield _plain("shoal_dispatcher_snapshot_age_seconds", max(ages, default=0))
    yield _plain("shoal_workers", len(workers))
    yield _plain("shoal_browsers", sum(float(worker.get("browsers", 0)) for worker in workers))
    yield _plain("shoal_slots", seen.slots)
    yield _plain("shoal_slots_busy", seen.busy)
    yield _plain("shoal_uploads_waiting", seen.uploads_waiting)
    yield _plain("shoal_leases", sum(snapshot.number("leases") for snapshot in live))
    yield _plain("shoal_reports_uncommitted", sum(snapshot.number("uncommitted") for snapshot in live))
    yield _plain("shoal_reports_uncommitted_bytes", sum(snapshot.number("uncommitted_bytes") for snapshot in live))
    queues = {**dict.fromkeys(QUEUE_CAUSES, 0), **seen.queues}  # zeros too: a series must not come and go
    yield _by_label("shoal_queues_waiting", {queue_label(cause): n for cause, n in queues.items()})
    yield _plain("shoal_queue_age_seconds", max((snapshot.number("queue_age_s") for snapshot in live), default=0))
    yield _plain("shoal_worker_memory_bytes", sum(float(worker.get("rss_bytes", 0)) for worker in workers))
    yield from _of_admission([model for snapshot in live if (model := snapshot.data.get("model"))])


def _of_admission(models: list[Json]) -> Iterator[Family]:
    """Yield what the dispatchers know of the model servers; zeros where none is watched."""
    servers = Counter("up" if server["up"] else "away" for model in models for server in model["servers"])
    yield _by_label("shoal_model_servers", {"up": servers["up"], "away": servers["away"]})
    yield _plain("shoal_model_admitted", sum(float(model["active"]) for model in models))
    limits = [math.inf if model["limit"] is None else float(model["limit"]) for model in models]
    yield _plain("shoal_model_admission_limit", sum(limits) if models else math.inf)


def _families_of_deltas(counted: Sequence[Snapshot]) -> Iterator[Family]:
    """Yield what dispatchers and workers have counted, added up.
    Counters without labels are there from the beginning.
    """
    yield _plain("shoal_sessions_ended", sum(snapshot.number("ended") for snapshot in counted))
    yield _plain("shoal_sessions_ended_failed", sum(snapshot.number("failed") for snapshot in counted))
    total = MetricsDelta()
    for snapshot in counted:
        total.absorb(snapshot.data.get("figures", {}))
    for line in CATALOGUE:
        if line.by != "delta":
            continue
        if line.type == "histogram":
            yield _histogram(line.name, total)
        else:
            metrics = family(line.name)
            values = {key[1:]: value for key, value in total.counts.items() if key[0] == line.name}
            for labels, value in (values or ({} if line.labels else {(): 0.0})).items():
                metrics.add_metric(labels, value)
            yield metrics


def _histogram(name: str, total: MetricsDelta) -> HistogramMetricFamily:
    histogram, bounds = histogram_family(name), [*map(str, metric(name).buckets), "+Inf"]
    for key, span in total.spans.items():
        if key[0] == name:
            so_far, cumulated = 0.0, []
            for bound, n in zip(bounds, span[:-1], strict=True):
                so_far += n
                cumulated.append((bound, so_far))
            histogram.add_metric(key[1:], cumulated, span[-1])
    return histogram


def _by_tenant(counts: Mapping[tuple[str, Status], int]) -> Family:
    """The tenants with most sessions, the rest as one: labels must not grow with the number of callers."""
    sizes: Counter[str] = Counter()
    for (tenant, _), n in counts.items():
        sizes[tenant] += n
    largest = {tenant for tenant, _ in sizes.most_common(_TENANTS)}
    shown: Counter[tuple[str, str]] = Counter()
    for (tenant, status), n in counts.items():
        shown[tenant if tenant in largest else _OTHERS, str(status)] += n
    metrics = family("shoal_tenant_sessions")
    for tenant in sorted({tenant for tenant, _ in shown}):
        for status in Status:
            metrics.add_metric((tenant, str(status)), shown[tenant, str(status)])
    return metrics


def _plain(name: str, value: float) -> Family:
    metrics = family(name)
    metrics.add_metric((), value)
    return metrics


def _by_label(name: str, values: Mapping[str, float]) -> Family:
    metrics = family(name)
    for label, value in values.items():
        metrics.add_metric((label,), value)
    return metrics
