"""The indexes of `tables`, and how full their pages are. `migrations` makes them; a test holds both equal.

Only migrations and tests import this: SQLAlchemy loads the dialect of each database that an index says something for,
0.1 s in each process.
"""

from __future__ import annotations

from sqlalchemy import Column, ColumnElement, Index, TextClause, or_, text

from shoal.services.store.database.schedule_tables import schedule, schedule_run
from shoal.services.store.database.states import with_numbers
from shoal.services.store.database.tables import (
    artifact,
    audit,
    delivery,
    event,
    field_glossary,
    job,
    job_label,
    job_words,
    learning,
    metadata,
    pace,
    pending_children,
    robots,
    session,
    sink,
    staged,
    total,
    workflow,
)

__all__ = ["metadata"]


def _partial(name: str, where: str | ColumnElement[bool], *columns: Column[object], unique: bool = False) -> None:
    condition: TextClause | ColumnElement[bool] = text(with_numbers(where)) if isinstance(where, str) else where
    Index(name, *columns, unique=unique, postgresql_where=condition, sqlite_where=condition)


for _table in (job, total):
    # Updated once per group commit: room on the page keeps those updates off the indexes.
    _table.dialect_options["postgresql"]["with"] = {"fillfactor": "50"}

_partial("job_key", "key is not null", job.c.tenant, job.c.key, unique=True)
Index("job_tenant", job.c.tenant, job.c.id)
_partial("job_deadline", "deadline_at is not null and finished_at is null", job.c.deadline_at)
_partial("job_open", "finished_at is null", job.c.id)
_partial("job_canceling", "cancel_requested and finished_at is null", job.c.id)
_partial("job_retrying", "retry_below is not null", job.c.id)
_partial("job_finished", "finished_at is not null and archive is null", job.c.finished_at)
_partial("job_expires", "expires_at is not null", job.c.expires_at)
_partial("job_left_out", "finished_at is not null and not in_totals", job.c.id)
_partial("job_lineage", "lineage is not null", job.c.lineage, job.c.id)
_partial("job_unsure", "unsure > 0", job.c.id)
Index("job_label_job", job_label.c.job)
Index("job_words_host", job_words.c.host, job_words.c.job)

Index("session_path", session.c.job, session.c.path, unique=True)
_partial("session_ready", "state = {QUEUED}", session.c.job, session.c.domain, session.c.id)
# Every commit counts the leased sessions and items of its jobs: from the index alone, without their rows.
_partial("session_leased", "state = {RUNNING}", session.c.job, session.c.children, session.c.lease_until)
_partial("session_busy", "state = {RUNNING}", session.c.domain, session.c.job)
_partial("session_waiting", "state = {WAITING}", session.c.job)
# Waiting, terminated, failed and unsure sessions are looked for among any number of others.
_listed = "state in ({WAITING}, {TERMINATED}, {FAILED}, {UNSURE})"
_partial("session_listed", _listed, session.c.job, session.c.state, session.c.path)
_partial("session_delayed", "state = {DELAYED}", session.c.ready_at)
_partial("session_held", "state = {HELD}", session.c.parent, session.c.id)
_partial("session_stopping", "stopped and state = {WAITING}", session.c.id)
# For a retry: what it opens, and parents that it has kept waiting.
_partial("session_retriable", "state in ({TERMINATED}, {FAILED}, {CANCELED})", session.c.job, session.c.id)
_partial("session_emptied", "state = {WAITING} and pending_children = 0", session.c.job, session.c.id)
_partial("session_incomplete", "found is not null and state = {COMPLETED}", session.c.job)
_partial("session_reseating", "reseating and state = {WAITING}", session.c.id)
Index("unborn_job", pending_children.c.job, pending_children.c.first)
Index("staged_job", staged.c.job)

_limited = or_(pace.c.own_most.is_not(None), pace.c.own_delay_s.is_not(None), pace.c.own_pause_until.is_not(None))
# Dispatchers ask every two seconds what is set: next to nothing, in a table of every site that was ever asked.
_partial("pace_limited", _limited, pace.c.domain)
Index("robots_expires", robots.c.expires_at)
Index("field_glossary_expires", field_glossary.c.expires_at)
Index("artifact_job", artifact.c.job, artifact.c.session)
Index("artifact_key", artifact.c.key)
Index("event_job", event.c.job, event.c.seq)
Index("event_tenant", event.c.tenant, event.c.seq)

_partial("delivery_due", "state = {DELIVERY_WAITING}", delivery.c.due_at)
# For the claim, which goes from tenant to tenant.
_partial("delivery_waits", "state = {DELIVERY_WAITING}", delivery.c.tenant, delivery.c.due_at)
# For the notice that still waits, and for the last one.
_partial("delivery_about", "about is not null", delivery.c.about)
_partial("delivery_dead", "state = {DELIVERY_DEAD}", delivery.c.tenant, delivery.c.id)
Index("delivery_tenant", delivery.c.tenant, delivery.c.id)
Index("delivery_job", delivery.c.job, delivery.c.id)
Index("delivery_ended", delivery.c.ended_at)
_partial("sink_due", "state = 'waiting'", sink.c.due_at)
_partial("sink_leased", "leased", sink.c.tenant, sink.c.place, unique=True)
_partial("sink_failed", "state = 'failed'", sink.c.tenant, sink.c.job)
Index("sink_place", sink.c.tenant, sink.c.place, sink.c.job)

Index("workflow_name", workflow.c.tenant, workflow.c.name, unique=True)
Index("workflow_scope", workflow.c.tenant, workflow.c.site, workflow.c.goal, workflow.c.record_schema)
Index("learning_job", learning.c.job)
_partial("learning_open", "open", learning.c.loop)
Index("schedule_name", schedule.c.tenant, schedule.c.name, unique=True)
Index("schedule_due", schedule.c.due_at)
Index("schedule_run_job", schedule_run.c.job)
_partial("schedule_run_open", "pending is not null", schedule_run.c.schedule)
Index("audit_tenant", audit.c.tenant, audit.c.id)
