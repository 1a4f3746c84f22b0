"""Schedules fire: a time's row, its job and the schedule's next time are written in one transaction.

So each time is fired once, whatever dies. Schedules are locked by id, then jobs by id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, delete, func, insert, select, update

from shoal.services.errors import KeyReused
from shoal.services.schedules.firing import PENDING, RUN_KEY, MissedTimes, Pending, RunState
from shoal.services.store.database.schedule_tables import schedule, schedule_run
from shoal.services.store.database.tables import job as jobs
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.control import cancel_job, delete_job
from shoal.services.store.jobs.rows import lock_jobs
from shoal.services.store.jobs.submission import submit_all
from shoal.services.store.records import NewJob
from shoal.services.store.schedules.keeping import readable
from shoal.services.store.schedules.records import DueSchedule, Fired, Firing, QueuedRun, QueuedStart, ScheduleRow

MOST_QUEUED = 100
"""Runs of one schedule that wait at once; what comes beyond is skipped."""
_DROPPED_AT_ONCE = 10
"""Runs beyond `keep` that one firing removes: a schedule's own `keep` may have been made much smaller."""


@dataclass(frozen=True, slots=True)
class _Start:
    """A run that is submitted."""

    row: ScheduleRow
    at: float
    job: NewJob


def run_key(number: int, at: float) -> str:
    """The idempotency key of a schedule's run at a time."""
    moment = datetime.fromtimestamp(at, UTC)
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return f"{RUN_KEY}{number}:{text.replace('+00:00', 'Z')}"


# --- what is to be done ----------------------------------------------------------------------------------


def due(tx: Tx, limit: int) -> tuple[list[DueSchedule], bool]:
    """Schedules whose time has come, the longest overdue first; and whether some of them cannot be read."""
    c = schedule.c
    rows = tx.conn.execute(select(schedule).where(c.due_at <= tx.now).order_by(c.due_at, c.id).limit(limit)).all()
    schedules = [DueSchedule(kept, row.due_at, row.changed_at) for row, kept in readable(rows)]
    return schedules, len(schedules) < len(rows)


def set_aside(tx: Tx, limit: int) -> None:
    """Takes their next time from due schedules that cannot be read, so that they are not looked at again and again."""
    c = schedule.c
    rows = tx.conn.execute(
        select(schedule).where(c.due_at <= tx.now).order_by(c.due_at, c.id).limit(limit).with_for_update()
    ).all()
    kept = {row.id for row, _ in readable(rows)}
    gone = [row.id for row in rows if row.id not in kept]
    tx.conn.execute(update(schedule).where(c.id.in_(gone)).values(due_at=None))


def next_due_in_s(tx: Tx) -> float | None:
    """Seconds until the next firing; None where none comes."""
    c = schedule.c
    due_at = tx.conn.execute(select(c.due_at).where(c.due_at.is_not(None)).order_by(c.due_at).limit(1)).scalar()
    return None if due_at is None else max(0.0, due_at - tx.now)


def startable(tx: Tx, limit: int) -> list[QueuedRun]:
    """Queued runs whose turn has come, one of each schedule: the run before is over."""
    run = schedule_run.alias()
    first = select(run.c.schedule, run.c.at).where(run.c.pending == Pending.START.value)
    rows = tx.conn.execute(
        first.add_columns(schedule)
        .join(schedule, schedule.c.id == run.c.schedule)
        .where(schedule.c.due_at.is_not(None), ~_open_jobs(run.c.schedule).exists())
        .order_by(run.c.at)
        .limit(limit)
    )
    queued: dict[int, QueuedRun] = {}
    for row, kept in readable(rows):
        queued.setdefault(row.id, QueuedRun(kept, row.at))
    return list(queued.values())


def _open_jobs(number: Any) -> Select[Any]:
    """The jobs of a schedule's runs that are not over."""
    run = schedule_run.alias()
    return select(jobs.c.id).where(
        run.c.schedule == number,
        run.c.pending == Pending.VERDICT.value,
        run.c.job == jobs.c.id,
        jobs.c.finished_at.is_(None),
    )


# --- written ---------------------------------------------------------------------------------------------


def fire(tx: Tx, firings: Sequence[Firing]) -> list[Fired]:
    """Writes what became of schedules' times; those that others fired, or changed, meanwhile are left out."""
    locked = _lock(tx, [firing.due.row.id for firing in firings])
    fired: list[Fired] = []
    starts: list[_Start] = []
    displaced: list[int] = []  # jobs that runs take the place of
    for firing in sorted(firings, key=lambda firing: firing.due.row.id):
        row, at = firing.due.row, firing.plan.run_at
        if locked.get(row.id) != (firing.due.due_at, firing.due.version):
            continue
        if firing.plan.missed is not None:
            fired.append(_miss(tx, row, firing.plan.missed))
        if at is not None:
            decision = _decide(tx, firing)
            fired.append(_add(tx, row, at, decision))
            displaced += decision.displaced
            if decision.state is RunState.STARTED and firing.job is not None:
                starts.append(_Start(row, at, firing.job))
        tx.conn.execute(update(schedule).where(schedule.c.id == row.id).values(due_at=firing.plan.next_due))
    return _started(tx, fired, starts, displaced)


def start_queued(tx: Tx, starts: Sequence[QueuedStart]) -> list[Fired]:
    """Submits runs whose turn has come; those that others started meanwhile, or whose turn it is not, are left out."""
    locked = _lock(tx, [start.run.row.id for start in starts])
    fired: list[Fired] = []
    ready: list[_Start] = []
    run = schedule_run.c
    for start in sorted(starts, key=lambda start: start.run.row.id):
        row, at = start.run.row, start.run.at
        waits = select(run.at).where(
            run.schedule == row.id, run.pending == Pending.START.value, ~_open_jobs(row.id).exists()
        )
        first = tx.conn.execute(waits.order_by(run.at).limit(1)).scalar()
        if first != at or locked.get(row.id, (None, 0.0))[0] is None:
            continue
        state = RunState.STARTED if start.job is not None else RunState.REFUSED
        # It keeps when it was fired: a run that waits for its turn is not late.
        values = {"state": state.value, "why": start.refusal, "pending": PENDING.get(state)}
        tx.conn.execute(update(schedule_run).where(run.schedule == row.id, run.at == at).values(**values))
        fired.append(Fired(row.id, row.tenant, row.spec.name, state, 1, tx.now - at))
        if start.job is not None:
            ready.append(_Start(row, at, start.job))
    return _started(tx, fired, ready, ())


def _lock(tx: Tx, numbers: Sequence[int]) -> dict[int, tuple[float | None, float]]:
    c = schedule.c
    rows = tx.conn.execute(
        select(c.id, c.due_at, c.changed_at).where(c.id.in_(sorted(numbers))).order_by(c.id).with_for_update()
    )
    return {row.id: (row.due_at, row.changed_at) for row in rows}


@dataclass(frozen=True, slots=True)
class _Decision:
    state: RunState
    why: str = ""
    displaced: Sequence[int] = ()  # jobs that have to make room for it


def _decide(tx: Tx, firing: Firing) -> _Decision:
    """Return what becomes of the time that runs now."""
    if firing.job is None:
        return _Decision(RunState.REFUSED, firing.refusal)
    number, overlap = firing.due.row.id, firing.due.row.spec.overlap
    run = schedule_run.c
    queued = select(func.count()).where(run.schedule == number, run.pending == Pending.START.value)
    n = tx.conn.execute(queued).scalar_one()
    going_on = tx.conn.execute(_open_jobs(number)).scalars().all()
    if overlap == "cancel" and n:
        waits = update(schedule_run).where(run.schedule == number, run.pending == Pending.START.value)
        tx.conn.execute(waits.values(state=RunState.SKIPPED.value, why="a later run took its place", pending=None))
    if overlap == "cancel" or not (n or going_on):
        state = RunState.QUEUED if firing.waits else RunState.STARTED
        return _Decision(state, firing.waits, going_on)
    if overlap == "skip":
        return _Decision(RunState.SKIPPED, "the run before is not over")
    if n >= MOST_QUEUED:
        return _Decision(RunState.SKIPPED, f"{n} runs wait already")
    return _Decision(RunState.QUEUED, "the run before is not over")


def _miss(tx: Tx, row: ScheduleRow, missed: MissedTimes) -> Fired:
    least = "" if missed.counted else "at least "
    why = f"no gateway ran, or none could write, for {least}{missed.times:,} of its times"
    values = {"at": missed.first, "until": missed.last, "times": missed.times, "state": RunState.MISSED.value}
    tx.conn.execute(insert(schedule_run).values(schedule=row.id, fired_at=tx.now, why=why, **values))
    return Fired(row.id, row.tenant, row.spec.name, RunState.MISSED, missed.times, tx.now - missed.last)


def _add(tx: Tx, row: ScheduleRow, at: float, decision: _Decision) -> Fired:
    values = {"at": at, "until": at, "times": 1, "state": decision.state.value, "why": decision.why}
    pending = PENDING.get(decision.state)
    tx.conn.execute(insert(schedule_run).values(schedule=row.id, fired_at=tx.now, pending=pending, **values))
    return Fired(row.id, row.tenant, row.spec.name, decision.state, 1, tx.now - at)


def _started(tx: Tx, fired_times: Sequence[Fired], starts: Sequence[_Start], displaced: Sequence[int]) -> list[Fired]:
    """Submits the jobs of runs, and ends what they take the place of; gives `fired_times` with their jobs."""
    submitted = _submit(tx, starts) if starts else {}
    surplus = _surplus(tx, [start.row for start in starts])
    locked = lock_jobs(tx, sorted({*displaced, *surplus}))
    for job in sorted(locked.keys() & set(displaced)):
        if not locked[job].is_final:
            cancel_job(tx, job, None)
    for job in sorted(locked.keys() & set(surplus)):
        if locked[job].is_final:
            delete_job(tx, job, None)
    return [submitted.get(fired.schedule, fired) if fired.state is RunState.STARTED else fired for fired in fired_times]


def _submit(tx: Tx, starts: Sequence[_Start]) -> dict[int, Fired]:
    """Submits the jobs of runs under their keys; gives what became of them, by schedule."""
    calls = [[_keyed(start)] for start in starts]
    fired_by_schedule = {}
    run = schedule_run.c
    for start, result in zip(starts, submit_all(tx, calls), strict=True):
        values: dict[str, Any]
        if isinstance(result, KeyReused):
            job, state = None, RunState.REFUSED
            values = {"state": state.value, "why": result.message, "pending": None}
        else:
            job, state = result[0].job, RunState.STARTED
            values = {"job": job}
        tx.conn.execute(update(schedule_run).where(run.schedule == start.row.id, run.at == start.at).values(**values))
        row = start.row
        fired_by_schedule[row.id] = Fired(row.id, row.tenant, row.spec.name, state, 1, tx.now - start.at, job)
    return fired_by_schedule


def _keyed(start: _Start) -> NewJob:
    spec = start.job.spec.model_copy(update={"idempotency_key": run_key(start.row.id, start.at)})
    return replace(start.job, spec=spec, submitted_by=start.row.created_by)


def _surplus(tx: Tx, rows: Sequence[ScheduleRow]) -> list[int]:
    """Forgets the oldest runs beyond those that schedules keep; gives their jobs."""
    run = schedule_run.c
    jobs_of_old: list[int] = []
    for row in rows:
        newest = select(run.at).where(run.schedule == row.id).order_by(run.at.desc())
        last_kept = tx.conn.execute(newest.offset(row.spec.keep - 1).limit(1)).scalar()
        if last_kept is None:
            continue
        old = select(run.at, run.job).where(run.schedule == row.id, run.at < last_kept, run.pending.is_(None))
        gone = tx.conn.execute(old.order_by(run.at).limit(_DROPPED_AT_ONCE)).all()
        if gone:
            ats = [each.at for each in gone]
            tx.conn.execute(delete(schedule_run).where(run.schedule == row.id, run.at.in_(ats)))
        jobs_of_old += [each.job for each in gone if each.job is not None]
    return jobs_of_old
