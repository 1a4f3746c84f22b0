"""Runs of schedules are read, and what each gave is written once it is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Row, Select, or_, select, update

from shoal.services.errors import NotFound
from shoal.services.events import JobEvent
from shoal.services.schedules.bands import HISTORY
from shoal.services.schedules.figures import RunFigures
from shoal.services.schedules.firing import Pending, RunState
from shoal.services.store.database.schedule_tables import schedule, schedule_run
from shoal.services.store.database.states import State
from shoal.services.store.database.tables import job as jobs
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import lock_jobs, specs_of
from shoal.services.store.jobs.sink_records import SinkState
from shoal.services.store.jobs.webhook_messages import WebhookMessage, announce
from shoal.services.store.read.reading import when
from shoal.services.store.schedules.keeping import get
from shoal.services.store.schedules.records import Judged, RunOfJob, RunRow, RunVerdict

_FIGURES = TypeAdapter(RunFigures)
_VERDICT = TypeAdapter(RunVerdict)


def newest(tx: Tx, tenant: str, name: str, before: float | None, limit: int) -> list[RunRow]:
    """The last runs of a schedule, those before a moment, the newest first."""
    number = get(tx, tenant, name).id
    query = _runs().where(schedule_run.c.schedule == number).order_by(schedule_run.c.at.desc()).limit(limit)
    if before is not None:
        query = query.where(schedule_run.c.at < before)
    return [run_row(row) for row in tx.conn.execute(query)]


def newest_completed(tx: Tx, tenant: str, name: str, only: int | None = None) -> RunRow:
    """The newest run that completed and is not degraded; with a number, of the schedule that has it alone.

    Raises:
        NotFound: there is no such schedule, or no such run of it.
    """
    number = get(tx, tenant, name).id
    if only is not None and number != only:
        raise NotFound(f"the schedule {name!r} is another one now")
    c = schedule_run.c
    query = _runs().where(c.schedule == number, c.figures.is_not(None), c.verdict.is_(None), jobs.c.id.is_not(None))
    row = tx.conn.execute(query.order_by(c.at.desc()).limit(1)).first()
    if row is None:
        raise NotFound(f"no run of the schedule {name!r} has completed without being degraded")
    return run_row(row)


def of_job(tx: Tx, job: int) -> RunOfJob | None:
    """The run that a job is; None: it is no schedule's."""
    query = _runs().join(schedule, schedule.c.id == schedule_run.c.schedule).add_columns(schedule.c.name)
    row = tx.conn.execute(query.where(schedule_run.c.job == job)).first()
    return None if row is None else RunOfJob(row.name, run_row(row))


def to_judge(tx: Tx, limit: int) -> list[RunRow]:
    """Runs whose job is over, or gone, and of which it is not known yet what they gave; the oldest first."""
    c = schedule_run.c
    is_over = or_(jobs.c.id.is_(None), jobs.c.finished_at.is_not(None))
    query = _runs().where(c.pending == Pending.VERDICT.value, is_over).order_by(c.at).limit(limit)
    return [run_row(row) for row in tx.conn.execute(query)]


def history(tx: Tx, run: RunRow) -> list[RunRow]:
    """The good runs that a run is held against, the newest first."""
    c = schedule_run.c
    known = tx.conn.execute(select(schedule.c.history_from).where(schedule.c.id == run.schedule)).scalar()
    query = _runs().where(
        c.schedule == run.schedule,
        c.at < run.at.timestamp(),
        c.at >= (known or 0.0),
        c.figures.is_not(None),
        c.verdict.is_(None),
    )
    return [run_row(row) for row in tx.conn.execute(query.order_by(c.at.desc()).limit(HISTORY))]


def judged(tx: Tx, done: Judged) -> bool:
    """Writes what a run gave, and releases its sinks; or holds them and tells of it where it is degraded.

    False where another process has done so, or its job has gone on since it was looked at.
    """
    c = schedule_run.c
    name = tx.conn.execute(select(schedule.c.name).where(schedule.c.id == done.schedule).with_for_update()).scalar()
    if name is None or not _still_ended_then(tx, done):
        return False
    changed = tx.conn.execute(
        update(schedule_run)
        .where(c.schedule == done.schedule, c.job == done.job, c.pending == Pending.VERDICT.value)
        .values(
            pending=None,
            figures=None if done.figures is None else _FIGURES.dump_json(done.figures).decode(),
            verdict=None if done.verdict is None else _VERDICT.dump_json(done.verdict).decode(),
        )
    )
    if not changed.rowcount:
        return False
    if done.verdict is not None:
        why = f"the run is degraded: {'; '.join(reason.text for reason in done.verdict.reasons)}"
        held = sorted(
            tx.rows("hold_sinks", job=done.job, held=SinkState.HELD.value, now=tx.now, why=why),
            key=lambda row: row.nth,
        )
        held_sinks = [{"sink": row.nth, "place": row.place} for row in held]
        _tell(tx, done, JobEvent.DEGRADED, {**done.degraded_event(name), "held": held_sinks})
        return True
    tx.run("release_sinks", job=done.job, now=tx.now)
    if (changes := done.changes_event(name)) is not None:
        _tell(tx, done, JobEvent.RECORDS_CHANGED, changes)
    return True


def _still_ended_then(tx: Tx, done: Judged) -> bool:
    """Return whether a run's job, which is locked, stands as it was looked at: it may have been retried meanwhile."""
    job = lock_jobs(tx, [done.job]).get(done.job)
    finished_at = None if job is None or job.finished_at is None else when(job.finished_at)
    return (job is None or job.is_final) and finished_at == done.finished_at


def _tell(tx: Tx, done: Judged, event: JobEvent, data: Mapping[str, object]) -> None:
    tx.event(done.job, done.tenant, event, data)
    spec = specs_of(tx, [done.job])[done.job]
    announce(tx, [WebhookMessage(done.job, done.tenant, spec, event.value, data)])


def _runs() -> Select[Any]:
    return select(schedule_run, jobs.c.status.label("job_status"), jobs.c.id.label("kept_job")).outerjoin_from(
        schedule_run, jobs, jobs.c.id == schedule_run.c.job
    )


def run_row(row: Row[Any]) -> RunRow:
    """A run from its row, beside which its job's status stands."""
    return RunRow(
        schedule=row.schedule,
        at=when(row.at),
        until=when(row.until),
        times=row.times,
        state=RunState(row.state),
        why=row.why,
        fired_at=when(row.fired_at),
        job=row.job,
        status=None if row.job_status is None else State(row.job_status).status,
        figures=None if row.figures is None else _FIGURES.validate_json(row.figures),
        verdict=None if row.verdict is None else _VERDICT.validate_json(row.verdict),
        over=row.pending is None,
    )
