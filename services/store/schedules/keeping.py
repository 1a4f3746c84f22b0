"""Schedules are put into the store, changed and found again; all of one tenant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import structlog
from pydantic import ValidationError
from sqlalchemy import Row, Select, delete, func, insert, select, update

from shoal.services.errors import NotFound, QuotaExceeded, WrongState
from shoal.services.events import LogEvent
from shoal.services.schedules.firing import times_of
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.schedules.times import next_times
from shoal.services.store.database.schedule_tables import schedule, schedule_run
from shoal.services.store.database.transaction import Tx
from shoal.services.store.read.reading import when
from shoal.services.store.schedules.keys import revoke_all
from shoal.services.store.schedules.records import ScheduleRow

log = structlog.get_logger(__name__)

MOST_SCHEDULES = 1_000
"""Of one tenant."""
_INSTANT_S = 0.001
"""Two firings of one schedule are so far apart at least."""


def put(tx: Tx, tenant: str, spec: ScheduleSpec, by: str | None) -> tuple[ScheduleRow, bool]:
    """Stores a schedule, or changes the one of its name; the second value says whether it is new.

    Its runs stay. Its next time is looked for anew where its times or `paused` changed.

    Raises:
        QuotaExceeded: the tenant has as many as it may.
    """
    known = tx.conn.execute(_of(tenant, spec.name).with_for_update()).first()
    if known is None:
        n = tx.conn.execute(select(func.count()).where(schedule.c.tenant == tenant)).scalar_one()
        if n >= MOST_SCHEDULES:
            raise QuotaExceeded(f"The tenant has {n} schedules; at most {MOST_SCHEDULES} are kept.", retry_after_s=3600)
        values = {"tenant": tenant, "name": spec.name, "created_by": by, "created_at": tx.now, "history_from": 0.0}
        due_at = _next(spec, tx.now, tx.now)
        tx.conn.execute(insert(schedule).values(**values, **_values(tx, spec, tx.now, due_at)))
        return get(tx, tenant, spec.name), True
    same = any(_when(row.spec) == _when(spec) for _, row in readable([known]))
    start = known.start if same else tx.now
    due_at = (
        known.due_at
        if same and known.due_at is not None and not spec.paused
        else _next(spec, start, _latest(tx, known.id))
    )
    _write(tx, known.id, _values(tx, spec, start, due_at))
    return get(tx, tenant, spec.name), False


def _when(spec: ScheduleSpec) -> tuple[str | None, str, str | None]:
    return spec.cron, spec.time_zone, spec.every


def _values(tx: Tx, spec: ScheduleSpec, start: float, due_at: float | None) -> dict[str, Any]:
    text = spec.model_dump_json(by_alias=True, exclude_defaults=True)
    return {"spec": text, "start": start, "due_at": due_at, "changed_at": tx.now}


def _next(spec: ScheduleSpec, start: float, behind: float) -> float | None:
    return None if spec.paused else next_times(times_of(spec, start), behind, 1)[0]


def _latest(tx: Tx, number: int) -> float:
    """This moment, or the last time that a schedule has fired, if that is later: a time is never due again."""
    until = select(func.max(schedule_run.c.until)).where(schedule_run.c.schedule == number)
    return max(tx.now, tx.conn.execute(until).scalar() or 0.0)


def _write(tx: Tx, number: int, values: dict[str, Any]) -> None:
    tx.conn.execute(update(schedule).where(schedule.c.id == number).values(**values))


def get(tx: Tx, tenant: str, name: str) -> ScheduleRow:
    """One schedule.

    Raises:
        NotFound: the tenant has none of this name.
    """
    return schedule_row(_one(tx, _of(tenant, name), name))


def by_number(tx: Tx, number: int) -> ScheduleRow:
    """One schedule, by the number that its runs have.

    Raises:
        NotFound: it is gone.
    """
    return schedule_row(_one(tx, select(schedule).where(schedule.c.id == number), str(number)))


def listed(tx: Tx, tenant: str, after: str | None, limit: int) -> list[ScheduleRow]:
    """Schedules in the order of their names, those behind `after`."""
    query = select(schedule).where(schedule.c.tenant == tenant).order_by(schedule.c.name).limit(limit)
    if after is not None:
        query = query.where(schedule.c.name > after)
    return [kept for _, kept in readable(tx.conn.execute(query))]


def pause(tx: Tx, tenant: str, name: str, paused: bool) -> ScheduleRow:
    """Lets a schedule fire no more, or again from its next time on."""
    row = schedule_row(_one(tx, _of(tenant, name).with_for_update(), name))
    if row.spec.paused != paused:
        spec = row.spec.model_copy(update={"paused": paused})
        _write(tx, row.id, _values(tx, spec, row.start, _next(spec, row.start, _latest(tx, row.id))))
    return get(tx, tenant, name)


def fire_now(tx: Tx, tenant: str, name: str) -> ScheduleRow:
    """Makes a schedule due at this moment; its next time stays what it is.

    Raises:
        WrongState: it is paused.
    """
    known = _one(tx, _of(tenant, name).with_for_update(), name)
    if known.due_at is None:
        raise WrongState(f"the schedule {name!r} is paused: resume it first")
    if known.due_at > tx.now:
        _write(tx, known.id, {"due_at": round(_latest(tx, known.id) + _INSTANT_S, 3)})
    return get(tx, tenant, name)


def accept(tx: Tx, tenant: str, name: str) -> ScheduleRow:
    """Takes the newest run as the measure of later ones: what was before it counts no more, and its mark is gone.

    What was held back of it is written.
    """
    known = _one(tx, _of(tenant, name).with_for_update(), name)
    run = schedule_run.c
    judged = select(run.at, run.job).where(run.schedule == known.id, run.figures.is_not(None))
    newest = tx.conn.execute(judged.order_by(run.at.desc()).limit(1)).first()
    if newest is None:
        raise WrongState(f"the schedule {name!r} has no run that completed")
    _write(tx, known.id, {"history_from": newest.at})
    tx.conn.execute(update(schedule_run).where(run.schedule == known.id, run.at == newest.at).values(verdict=None))
    tx.run("release_sinks", job=newest.job, now=tx.now)
    return get(tx, tenant, name)


def drop(tx: Tx, tenant: str, name: str) -> None:
    """Removes a schedule with what is known of its runs; their jobs stay, and what waits for a verdict is written.

    Its keys are revoked.
    """
    known = _one(tx, _of(tenant, name).with_for_update(), name)
    run = schedule_run.c
    gone = delete(schedule_run).where(run.schedule == known.id).returning(run.job, run.pending)
    revoke_all(tx, tenant, known.id)
    for row in tx.conn.execute(gone).all():
        if row.job is not None and row.pending is not None:  # it will not be judged
            tx.run("release_sinks", job=row.job, now=tx.now)
    tx.conn.execute(delete(schedule).where(schedule.c.id == known.id))


def _of(tenant: str, name: str) -> Select[Any]:
    return select(schedule).where(schedule.c.tenant == tenant, schedule.c.name == name)


def _one(tx: Tx, query: Select[Any], name: str) -> Row[Any]:
    row = tx.conn.execute(query).first()
    if row is None:
        raise NotFound(f"there is no schedule {name!r}")
    return row


def readable(rows: Iterable[Row[Any]]) -> Iterator[tuple[Row[Any], ScheduleRow]]:
    """Rows with their schedules; one that cannot be read is told of, and keeps no other from its time."""
    for row in rows:
        try:
            yield row, schedule_row(row)
        except WrongState as error:
            log.error(LogEvent.SCHEDULE_UNREADABLE, schedule=row.name, tenant=row.tenant, error=error.message)


def schedule_row(row: Row[Any]) -> ScheduleRow:
    """A schedule from its row.

    Raises:
        WrongState: what another version has stored cannot be read.
    """
    try:
        spec = ScheduleSpec.model_validate_json(row.spec)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise WrongState(
            f"the schedule {row.name!r} cannot be read ({where}: {fault['msg']}): hand it in again, or delete it"
        ) from error
    return ScheduleRow(
        id=row.id,
        tenant=row.tenant,
        spec=spec,
        start=row.start,
        due_at=None if row.due_at is None else when(row.due_at),
        created_by=row.created_by,
        created_at=when(row.created_at),
        changed_at=when(row.changed_at),
    )
