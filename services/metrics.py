"""Every metric of Shoal, in one place: name, type, labels, meaning.

Labels take few values: never an id, a host, a URL or a caller's words; tenants only as the few largest and the rest. To
add a metric, add its line to `CATALOGUE`. What the gateway counts goes through `Metrics`; what dispatchers and workers
count goes through their `shoal.services.metrics_delta.MetricsDelta` and comes with the dispatcher's snapshot; the rest
is read from the store. `shoal.services.web.cluster_state.scrape` puts the last two into each scrape, for the whole
cluster. What dispatchers and workers count is also on Ray's metrics endpoint of their node, there with the prefix
`ray_` and by process.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

Type = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the catalogue."""

    name: str  # without the `_total` that counters get in the exposition
    type: Type
    labels: tuple[str, ...]
    meaning: str  # with the unit, where it has one
    buckets: tuple[float, ...] = ()  # of a histogram
    by: Literal["gateway", "store", "snapshot", "delta"] = "gateway"  # who knows it

    @property
    def exposed(self) -> tuple[str, ...]:
        """Names of its series in the exposition."""
        endings = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
        return tuple(self.name + ending for ending in endings[self.type])


_LATENCY_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_SESSION_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0)
_STEP_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_REPAIR_S = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
_MODEL_S = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0, 300.0)


def _counted_by(by: Literal["snapshot", "delta"], *lines: Metric) -> tuple[Metric, ...]:
    return tuple(replace(line, by=by) for line in lines)


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
    Metric(
        "shoal_jobs_submitted",
        "counter",
        ("how",),
        "Jobs stored, by how they came: `single`, `batch`, `try` or `schedule`.",
    ),
    Metric(
        "shoal_schedule_runs",
        "counter",
        ("outcome",),
        "Times of schedules, by what became of them: `started`, `queued`, `skipped`, `missed` or `refused`; those that "
        "were `late`, once more; runs that are over by their job's status, or as `degraded`.",
    ),
    Metric("shoal_submissions_refused", "counter", ("code",), "Submissions that were refused, by error code."),
    Metric("shoal_event_streams", "gauge", (), "Event streams that are open."),
    # read from the store
    Metric("shoal_sessions", "gauge", ("status",), "Sessions by status, until their job is deleted.", by="store"),
    Metric(
        "shoal_sessions_waiting",
        "gauge",
        ("cause",),
        "Sessions that wait, by cause (docs/operations/operations.md); queues beyond 200 of one cause count as `slot`.",
        by="store",
    ),
    Metric("shoal_tenant_sessions", "gauge", ("tenant", "status"), "The same of the 20 tenants with most.", by="store"),
    Metric("shoal_sinks", "gauge", ("state",), "Sinks of jobs that wait, or were given up (`failed`).", by="store"),
    Metric("shoal_webhooks", "gauge", ("state",), "Webhook messages that wait, or were given up (`dead`).", by="store"),
    Metric(
        "shoal_provisional_records",
        "gauge",
        (),
        "Records of running loops that a workflow read, and that no audit has confirmed since.",
        by="store",
    ),
    Metric(
        "shoal_audit_bound",
        "gauge",
        ("of",),
        "The largest share of wrong records, at 95 %, that audits leave possible in running loops: by the audits of "
        "`all` loops, and of the loop where it is `largest`; 0 where no workflow has read a record.",
        by="store",
    ),
    Metric("shoal_store_up", "gauge", (), "1 when the store answered at this scrape, else 0.", by="store"),
    # read from the dispatchers' snapshots
    *_counted_by(
        "snapshot",
        Metric("shoal_dispatchers", "gauge", (), "Dispatchers whose snapshot is fresh."),
        Metric("shoal_dispatcher_snapshot_age_seconds", "gauge", (), "Age of the oldest snapshot, in seconds."),
        Metric("shoal_workers", "gauge", (), "Browser workers."),
        Metric("shoal_browsers", "gauge", (), "Browser processes that are up."),
        Metric("shoal_slots", "gauge", (), "Browser slots in all."),
        Metric("shoal_slots_busy", "gauge", (), "Browser slots that run a session."),
        Metric("shoal_uploads_waiting", "gauge", (), "Artifacts that wait at workers for the artifact store."),
        Metric("shoal_leases", "gauge", (), "Sessions that are leased to workers."),
        Metric("shoal_reports_uncommitted", "gauge", (), "Outcomes that wait in memory to be written."),
        Metric("shoal_reports_uncommitted_bytes", "gauge", (), "Their size, with those being written, in bytes."),
        Metric("shoal_queues_waiting", "gauge", ("cause",), "Queues (a job on a site) by what they wait for."),
        Metric("shoal_queue_age_seconds", "gauge", (), "Longest time that a queue was not served, in seconds."),
        Metric("shoal_worker_memory_bytes", "gauge", (), "Memory of all workers and their browsers, in bytes."),
        Metric("shoal_model_servers", "gauge", ("state",), "Model servers that admission watches: `up` or `away`."),
        Metric("shoal_model_admitted", "gauge", (), "Model-bound sessions that run."),
        Metric("shoal_model_admission_limit", "gauge", (), "Model-bound sessions that may run at once."),
        Metric("shoal_sessions_ended", "counter", (), "Sessions that ended, since the dispatchers started."),
        Metric("shoal_sessions_ended_failed", "counter", (), "Sessions that ended other than completed, likewise."),
    ),
    # counted by dispatchers and workers
    *_counted_by(
        "delta",
        Metric("shoal_attempts", "counter", ("status", "failure"), "Attempts by how they ended and what failed."),
        Metric("shoal_session_seconds", "histogram", (), "Time of one attempt of a session, in seconds.", _SESSION_S),
        Metric("shoal_slot_seconds", "counter", (), "Time that sessions held a slot, in seconds."),
        Metric("shoal_step_seconds", "histogram", (), "Time of one step: observe, decide, act, in seconds.", _STEP_S),
        Metric("shoal_action_seconds", "histogram", (), "Time of one action, in seconds.", _STEP_S),
        Metric("shoal_actions", "counter", ("action", "outcome"), "Actions by name: `ok` or `failed`."),
        Metric("shoal_pages", "counter", (), "Pages that were opened."),
        Metric(
            "shoal_documents",
            "counter",
            ("outcome",),
            "Documents read without a browser: `used`; `unchanged` since an earlier run; `passed_on` to a browser; "
            "beside a browser `agreed`, `different`; `unknown` (no answer); `turned_away` by the site.",
        ),
        Metric("shoal_records", "counter", (), "Records that completed sessions gave."),
        Metric(
            "shoal_records_read",
            "counter",
            ("tier",),
            "The same by what they were read by: `http`, `page` or `session`.",
        ),
        Metric(
            "shoal_replays",
            "counter",
            ("outcome",),
            "Items with a workflow: `whole`; `missed` (its baseline went on); `shadow` (compared with its baseline).",
        ),
        Metric("shoal_replay_misses", "counter", ("reason",), "Why workflows gave items back."),
        Metric(
            "shoal_replay_hits",
            "counter",
            ("of", "family"),
            "What workflows found an `element` or read a `field` by: each family of locators or places that agreed.",
        ),
        Metric(
            "shoal_audits",
            "counter",
            ("result",),
            "Replayed records that their baseline read again: `right`, `wrong`, `unclear` or `not_done`.",
        ),
        Metric(
            "shoal_learning_decisions",
            "counter",
            ("phase",),
            "What loops that learn went on with: `items`, `shadow`, `replay`, `off`.",
        ),
        Metric(
            "shoal_repairs",
            "counter",
            ("outcome",),
            "Repairs of workflows: `begun`; `compiled` (another version is compared); `proved` (it replays); "
            "`given_up` (nothing better was learned).",
        ),
        Metric("shoal_repair_calls", "counter", (), "Model calls of the items that ended in repairs that are over."),
        Metric(
            "shoal_repair_seconds",
            "histogram",
            ("outcome",),
            "Time of one repair, in seconds, by its end: `proved` or `given_up`.",
            _REPAIR_S,
        ),
        Metric("shoal_model_calls", "counter", (), "Model calls of sessions."),
        Metric("shoal_model_seconds", "histogram", ("outcome",), "Time of one model call, in seconds.", _MODEL_S),
        Metric("shoal_tokens", "counter", ("kind",), "Tokens: `prompt`, `cached` (of the prompt), `completion`."),
        Metric("shoal_leases_expired", "counter", (), "Leases that ran out or ended with their worker."),
        Metric("shoal_reports_late", "counter", (), "Outcomes that came after their lease was another's."),
        Metric("shoal_reports_given_up", "counter", (), "Reports that could not be stored, not even as failures."),
        Metric("shoal_browser_restarts", "counter", (), "Browsers that died or hung, and were replaced."),
        Metric("shoal_workers_lost", "counter", (), "Browser workers that died or fell silent."),
    ),
)

# The library adds a `_created` series to each counter, which doubles their number; no dashboard or alert uses it.
disable_created_metrics()  # type: ignore[no-untyped-call]

_BY_NAME = {line.name: line for line in CATALOGUE}


class Metrics:
    """The metrics of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.http_requests = self._counter("shoal_http_requests")
        self.http_seconds = self._histogram("shoal_http_request_seconds")
        self.jobs_submitted = self._counter("shoal_jobs_submitted")
        self.submissions_refused = self._counter("shoal_submissions_refused")
        self.schedule_runs = self._counter("shoal_schedule_runs")
        self.event_streams = self._gauge("shoal_event_streams")

    def _counter(self, name: str) -> Counter:
        line = _BY_NAME[name]
        return Counter(line.name, line.meaning, line.labels, registry=self.registry)

    def _gauge(self, name: str) -> Gauge:
        line = _BY_NAME[name]
        return Gauge(line.name, line.meaning, line.labels, registry=self.registry)

    def _histogram(self, name: str) -> Histogram:
        line = _BY_NAME[name]
        return Histogram(line.name, line.meaning, line.labels, buckets=line.buckets, registry=self.registry)


def metric(name: str) -> Metric:
    """The catalogue's line of that name.

    Raises:
        KeyError: there is none; add it.
    """
    return _BY_NAME[name]


def family(name: str) -> CounterMetricFamily | GaugeMetricFamily:
    """An empty family of a catalogued metric, for values that are read at a scrape."""
    line = _BY_NAME[name]
    cls = CounterMetricFamily if line.type == "counter" else GaugeMetricFamily
    return cls(line.name, line.meaning, labels=line.labels)


def histogram_family(name: str) -> HistogramMetricFamily:
    """The same of a histogram."""
    return HistogramMetricFamily(_BY_NAME[name].name, _BY_NAME[name].meaning, labels=_BY_NAME[name].labels)
