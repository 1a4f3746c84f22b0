"""Every event name, in one place: rows of the event table (feeds, webhooks, dashboard) and log lines."""

from __future__ import annotations

from enum import StrEnum


class JobEvent(StrEnum):
    """Rows of the event table. Each carries the job's counts (`services.store.records.Counts` as an object)."""

    SUBMITTED = "job.submitted"
    """Stored with its root session. data: url, counts."""
    STARTED = "job.started"
    """Its first session was claimed. data: counts."""
    PROGRESS = "job.progress"
    """A group of sessions was written. data: counts, sessions: up to 50 of [session id, status]."""
    FANNED_OUT = "job.fanned_out"
    """A session became a loop. data: session, items, counts."""
    PAUSED = "job.paused"
    RESUMED = "job.resumed"
    RETRIED = "job.retried"
    """Failed items were queued again. data: sessions (how many), counts."""
    CANCELED = "job.canceled"
    FINISHED = "job.finished"
    """Its root session is final. data: status, counts, usage, error."""


class LogEvent(StrEnum):
    """Names of log lines; add one here before logging it."""

    SERVICE_STARTED = "service.started"
    SERVICE_STOPPED = "service.stopped"
    REQUEST_FAILED = "request.failed"
    STORE_AWAY = "store.away"
    STORE_BACK = "store.back"
    ARTIFACTS_AWAY = "artifacts.away"
    ARTIFACTS_BACK = "artifacts.back"
    UPLOAD_LOST = "upload.lost"
    """A file that waited for its upload cannot be read."""
    WORKER_STARTED = "worker.started"
    WORKER_LOST = "worker.lost"
    WORKER_STOPPED = "worker.stopped"
    BROWSER_STARTED = "browser.started"
    BROWSER_LOST = "browser.lost"
    BROWSER_RECYCLED = "browser.recycled"
    SESSION_FAILED = "session.failed"
    SESSION_RETRIED = "session.retried"
    REPORT_LATE = "report.late"
    LEASE_REAPED = "lease.reaped"
    LOOP_FAILED = "loop.failed"
    """A background loop met an error that nobody foresaw; it goes on."""
    MODEL_AWAY = "model.away"
    EGRESS_REFUSED = "egress.refused"
    CLUSTER_STARTING = "cluster.starting"
    CLUSTER_READY = "cluster.ready"
    CLUSTER_STOPPING = "cluster.stopping"
    LEFTOVERS_REMOVED = "cluster.leftovers_removed"
    WEBHOOK_FAILED = "webhook.failed"
