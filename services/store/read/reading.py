"""Reads for callers: jobs, sessions, results, events, artifacts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, exists, or_, select, text

from shoal.agent.redaction.masking import masked_item
from shoal.agent.redaction.redactor import redactor_of
from shoal.agent.status import FINAL, Status
from shoal.agent.types import Checkpoint, LoopItem, Outcome, Record
from shoal.services.errors import BadInput, NotFound
from shoal.services.store.database import codec, tables
from shoal.services.store.database.states import FINAL_STATES, QUEUED_STATES, State, states_of
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id, session_id
from shoal.services.store.jobs.rows import Leased, leased, locked, spec_of, specs_of
from shoal.services.store.learning.provisional import figures_of, is_provisional
from shoal.services.store.loops.fanout import item_of
from shoal.services.store.records import (
    ArtifactRow,
    EventRow,
    JobFilter,
    JobRow,
    ResultRow,
    SessionDetail,
    SessionRow,
)
from shoal.services.store.waiting_causes import WaitingCause

_CURSOR = re.compile(r"([0-9a-f]*):(\d{1,9})")
_JOB_ID = re.compile(r"j([0-9]{1,18})", re.ASCII)
_STEP_LENGTH = 4 << 20
"""Outcomes that are read at once have about so many characters: as many as the last ones let hope."""
_MOST_STEP = 500
_LEAST_DIGIT = "0"
"""Behind a path come those that it begins and those that are greater: paths are hex digits, and this is the least."""
_INDEXED = {
    State.RUNNING: "running_page",
    **dict.fromkeys((State.WAITING, State.TERMINATED, State.FAILED, State.UNSURE), "listed_page"),
}
"""States whose sessions are found without a walk over a job's others. What is queued, completed or canceled is mostly a
large part of it, and an index of it would cost each session that is dispatched."""
_RESULT_COLUMNS = ("id", "path", "parent", "state", "item", "attempt", "outcome", "children")


def when(seconds: float) -> datetime:
    """A moment from its column."""
    return datetime.fromtimestamp(seconds, UTC)


def _when(seconds: float | None) -> datetime | None:
    return None if seconds is None else when(seconds)


# --- jobs ----------------------------------------------------------------------------------------------


def job_row(tx: Tx, job: int, tenant: str | None = None) -> JobRow:
    """One job.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
    """
    row = tx.conn.execute(select(tables.job).where(tables.job.c.id == job)).one_or_none()
    if row is None or (tenant is not None and row.tenant != tenant):
        raise NotFound(f"there is no job {job_id(job)}", job=job)
    return _job_row(tx, row, leased(tx, [job]).get(job, Leased()))


def previous_job(tx: Tx, job: int) -> int | None:
    """The run of the same work before a job, that completed; None where there is none."""
    return next((row.id for row in tx.rows("previous_run", id=job)), None)


def list_jobs(tx: Tx, job_filter: JobFilter) -> list[JobRow]:
    """Jobs that match, newest first."""
    rows = tx.conn.execute(matching(job_filter)).all()
    running = leased(tx, [row.id for row in rows]) if rows else {}
    return [_job_row(tx, row, running.get(row.id, Leased())) for row in rows]


def matching(job_filter: JobFilter) -> Select[Any]:
    """The query for rows of jobs that match, newest first."""
    table = tables.job
    query = select(table).order_by(table.c.id.desc()).limit(job_filter.limit)
    if job_filter.tenant is not None:
        query = query.where(table.c.tenant == job_filter.tenant)
    if job_filter.statuses:
        query = query.where(table.c.status.in_([State[status.name] for status in job_filter.statuses]))
        if not FINAL.intersection(job_filter.statuses):
            query = query.where(table.c.finished_at.is_(None))  # says no more, but its index holds open jobs only
    if job_filter.unsure:
        query = query.where(text("job.unsure > 0"))  # as its index has it
    if job_filter.before is not None:
        query = query.where(table.c.id < job_filter.before)
    if job_filter.since is not None:
        query = query.where(table.c.created_at >= job_filter.since.timestamp())
    if job_filter.until is not None:
        query = query.where(table.c.created_at < job_filter.until.timestamp())
    if job_filter.site:
        query = query.where(_worded(tables.job_words.c.host == job_filter.site.lower()))
    for word in job_filter.text.lower().split():
        condition = _worded(tables.job_words.c.words.contains(word, autoescape=True))
        number = _JOB_ID.fullmatch(word)
        query = query.where(or_(condition, table.c.id == int(number[1])) if number else condition)
    for name, value in job_filter.labels.items():
        label = tables.job_label.alias()
        query = query.where(exists().where(label.c.name == name, label.c.value == value, label.c.job == table.c.id))
    return query


def _worded(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that the words of a job are so."""
    return exists().where(tables.job_words.c.job == tables.job.c.id, condition)


def _job_row(tx: Tx, row: Row[Any], running: Leased) -> JobRow:
    job = locked(row)
    spec = spec_of(tx, job.id, row.spec)
    return JobRow(
        id=job.id,
        tenant=job.tenant,
        spec=spec,
        status=job.status,
        counts=job.counts(running.items),
        usage=job.usage,
        error=job.error,
        created_at=when(row.created_at),
        started_at=_when(job.started_at),
        finished_at=_when(job.finished_at),
        root_session=job.root,
        cancel_requested=job.cancel_requested,
        incomplete=job.incomplete,
        archive=job.archive,
        priority=row.priority,
        concurrency=_limit(job.concurrency, spec.loop.concurrency if spec.loop else None),
        deadline_at=_when(job.deadline_at),
        token_limit=_limit(row.token_limit, spec.budget.job_tokens),
        submitted_by=row.submitted_by,
    )


def _limit(changed: int | None, asked: int | None) -> int | None:
    """A limit that its owner may have changed since the job was submitted; 0 stands for none."""
    return asked if changed is None else changed or None


# --- sessions ------------------------------------------------------------------------------------------


def session_page(
    tx: Tx, job: int, statuses: Sequence[Status], after: str | None, limit: int
) -> tuple[list[SessionRow], str | None]:
    """Sessions of a job in item order, and the cursor of the next page."""
    paused = job_row(tx, job).status is Status.PAUSED
    least = "" if after is None else _path(after)[0] + _LEAST_DIGIT
    states = _states(statuses, paused) if statuses else None
    page = _walk if states is None or set(states) - _INDEXED.keys() else _pick
    rows, last = page(tx, job, states or (), least, limit)
    return [_session_row(row, paused) for row in rows], None if last is None else f"{last}:0"


def _walk(tx: Tx, job: int, states: Sequence[State], least: str, limit: int) -> tuple[Sequence[Row[Any]], str | None]:
    """Sessions of a job in some states (none: in any) from a path on; the last path, if there are more behind it."""
    table = tables.session
    query = _sessions().where(table.c.job == job, table.c.path >= least).order_by(table.c.path).limit(limit + 1)
    if states:
        query = query.where(table.c.state.in_(states))
    rows = tx.conn.execute(query).all()
    return rows[:limit], rows[limit - 1].path if len(rows) > limit else None


def _pick(tx: Tx, job: int, states: Sequence[State], least: str, limit: int) -> tuple[Sequence[Row[Any]], str | None]:
    """The same for states whose sessions have an index: nothing is read that is not given, save what runs."""
    table = tables.session
    asked = {"job": job, "least": least, "n": limit + 1}
    rows = [row for state in states for row in tx.rows(_INDEXED[state], state=state, **asked)]
    rows.sort(key=lambda row: row.path)
    here = [row.id for row in rows[:limit]]
    # Once more by their state: on PostgreSQL it may have changed between the two looks.
    query = _sessions().where(table.c.id.in_(here), table.c.state.in_(states)).order_by(table.c.path)
    return tx.conn.execute(query).all(), rows[limit - 1].path if len(rows) > limit else None


def session_detail(tx: Tx, session: int, tenant: str | None) -> SessionDetail:
    """One session with the tasks of its attempts and its artifacts.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
    """
    row = tx.conn.execute(_sessions().where(tables.session.c.id == session)).one_or_none()
    if row is None or (tenant is not None and row.tenant != tenant):
        raise NotFound(f"there is no session {session_id(session)}", session=session)
    detail, artifact = tables.session_detail, tables.artifact
    attempts = select(detail.c.tasks).where(detail.c.session == session).order_by(detail.c.fence)
    artifacts = select(artifact).where(artifact.c.job == row.job, artifact.c.session == session)
    spec = specs_of(tx, [row.job])[row.job]
    redactor = redactor_of(spec, item_of(row.item))
    known = _last_known(tx, session) if row.state == State.UNSURE else None
    return SessionDetail(
        row=_session_row(row, row.job_status == State.PAUSED),
        attempts=tuple(redactor.tasks(codec.load_tasks(tasks)) for tasks in tx.conn.scalars(attempts)),
        artifacts=tuple(
            artifact_row(file) for file in tx.conn.execute(artifacts.order_by(artifact.c.created_at, artifact.c.id))
        ),
        checkpoint=known and redactor.checkpoint(known),
    )


def _last_known(tx: Tx, session: int) -> Checkpoint | None:
    """Return what a session said last, the action that it was about to take included."""
    table = tables.session
    text = tx.conn.execute(select(table.c.checkpoint).where(table.c.id == session)).scalar_one()
    return None if text is None else codec.load_checkpoint(text)


def _sessions() -> Select[Any]:
    job, session, domain, learning = tables.job, tables.session, tables.domain, tables.learning
    columns = [column for column in session.c if column.name not in ("checkpoint", "loop_state")]
    return (
        select(*columns, job.c.tenant, job.c.status.label("job_status"), domain.c.host, learning.c.gated)
        .join_from(session, job, job.c.id == session.c.job)
        .join(domain, domain.c.id == session.c.domain)
        .outerjoin(learning, learning.c.loop == session.c.parent)
    )


def _states(statuses: Sequence[Status], paused: bool) -> list[State]:
    """The states that are shown as any of `statuses` in a job that is paused or not."""
    states: set[State] = {state for status in statuses for state in states_of(status) if state is not State.PAUSED}
    if paused:
        states -= set(QUEUED_STATES)
        if Status.PAUSED in statuses:
            states |= set(QUEUED_STATES)
    return sorted(states)


def _session_row(row: Row[Any], paused: bool) -> SessionRow:
    state = State(row.state)
    return SessionRow(
        id=row.id,
        job=row.job,
        parent=row.parent,
        depth=row.depth,
        index=row.idx,
        status=Status.PAUSED if paused and state in QUEUED_STATES else state.status,
        attempt=row.attempt,
        item=masked_item(item_of(row.item)),
        domain=row.host,
        ready_at=_when(row.ready_at) if state is State.DELAYED else None,
        lease_until=_when(row.lease_until),
        owner=row.owner,
        children=row.children,
        pending_children=row.pending_children,
        outcome=codec.load_outcome(row.outcome) if row.outcome else None,
        waiting_for=_waiting_for(state, paused, learning=bool(row.gated)),
    )


def _waiting_for(state: State, paused: bool, *, learning: bool) -> WaitingCause | None:
    if paused and state in QUEUED_STATES:
        return WaitingCause.PAUSED
    return {
        State.QUEUED: WaitingCause.SLOT,
        State.DELAYED: WaitingCause.RETRY_TIME,
        State.HELD: WaitingCause.LEARNING if learning else WaitingCause.CONCURRENCY,
        State.WAITING: WaitingCause.CHILDREN,
    }.get(state)


def put_off(tx: Tx, job: int) -> dict[int | None, datetime]:
    """See `Store.put_off`."""
    return {row.parent: when for row in tx.run("put_off", job=job) if (when := _when(row.at)) is not None}


def sessions_ahead(tx: Tx, session: SessionRow) -> int:
    """Return how many sessions of its job will be claimed before a queued one; exact up to 10,000."""
    return int(tx.run("sessions_ahead", job=session.job, id=session.id, parent=session.parent).scalar_one())


# --- results -------------------------------------------------------------------------------------------


def result_page(tx: Tx, job: int, after: str | None, limit: int) -> list[ResultRow]:
    """Result lines of a job, in item order, behind a cursor.

    Raises:
        BadInput: the cursor is none that a result line carried.
    """
    job_row(tx, job)
    place: ResultPlace | None = result_place(after)
    lines: list[ResultRow] = []
    while place is not None and len(lines) < limit:
        rows, place = result_step(tx, job, place, limit - len(lines))
        lines += rows
    return lines


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """The place that the reading of a job's results has reached, and the size of its next steps."""

    path: str = ""  # of the session that was read last
    given: int | None = 0  # lines of that session that were given; None: all
    step: int = 8  # sessions to read next


def result_place(after: str | None) -> ResultPlace:
    """The place behind a cursor.

    Raises:
        BadInput: it is none that a result line carried.
    """
    if after is None:
        return ResultPlace()
    path, number = _path(after)
    return ResultPlace(path, number + 1)


def result_step(
    tx: Tx, job: int, place: ResultPlace, most: int | None = None
) -> tuple[list[ResultRow], ResultPlace | None]:
    """Lines behind a place, at most so many, and the place to go on from when more are wanted (None: all were read).

    Sessions may have one record or thousands, so it is unknown how many hold a page. Steps grow as long as their
    outcomes are small: memory holds one step of them, and long results of small items still take few statements.
    """
    step = place.step if most is None else min(place.step, most)
    rows = result_sessions(tx, job, place.path, inclusive=place.given is not None, limit=step)
    lines: list[ResultRow] = []
    figures = figures_of(tx, (row.parent for row in rows))
    for row in rows:
        skip = place.given or 0 if row.path == place.path else 0
        lines += islice(
            result_lines(job, row, figures.get(row.parent)),
            skip,
            None if most is None else skip + most - len(lines),
        )
        if len(lines) == most:
            return lines, result_place(lines[-1].cursor)
    if len(rows) < step:
        return lines, None
    return lines, ResultPlace(rows[-1].path, None, _next_step([len(row.outcome or "") for row in rows]))


def _next_step(outcomes: Sequence[int]) -> int:
    """Return how many sessions to read behind some whose outcomes had these lengths."""
    fitting = _STEP_LENGTH * len(outcomes) // max(1, sum(outcomes))
    return max(1, min(2 * len(outcomes), fitting, _MOST_STEP))


def result_sessions(tx: Tx, job: int, path: str, *, inclusive: bool, limit: int) -> Sequence[Row[Any]]:
    """Final items of a job in item order, from a path on."""
    table = tables.session
    return tx.conn.execute(
        select(*(table.c[name] for name in _RESULT_COLUMNS))
        .where(
            table.c.job == job,
            table.c.path >= path if inclusive else table.c.path > path,
            table.c.state.in_(FINAL_STATES),
            # What fanned out is told by its items; where it has an answer, by a line of its own, too.
            or_(table.c.children == 0, table.c.outcome.like('%"answer":%')),
        )
        .order_by(table.c.path)
        .limit(limit)
    ).all()


def result_lines(job: int, row: Row[Any], figures: Mapping[str, int] | None = None) -> Iterator[ResultRow]:
    """One line per record of an item, then one per entry that is no valid one; or one line that says how it ended.

    Args:
        figures: of its loop; None where the loop does not learn.
    """
    state = State(row.state)
    outcome = codec.load_outcome(row.outcome) if row.outcome else Outcome(state.status)
    item = masked_item(item_of(row.item))
    lines = [*((record, outcome.error) for record in outcome.records), *((None, error) for error in outcome.rejected)]
    if row.children and not outcome.answer:
        return  # it is told by its items
    for number, (record, error) in enumerate(lines or [(None, outcome.error)]):
        # What was spent on the item, over all its attempts, is spread over its lines: sums over lines are true.
        usage = (outcome.usage_before + outcome.usage).share(number, max(1, len(lines)))
        line = _result_row(
            job, row, replace(outcome, status=state.status, error=error, usage=usage), item, number, record
        )
        replay = outcome.replay if record is not None and record.workflow else None
        yield replace(line, provisional=replay is not None and is_provisional(replay, figures or {}))


def _result_row(
    job: int, row: Row[Any], outcome: Outcome, item: LoopItem | None, number: int, record: Record | None
) -> ResultRow:
    return ResultRow(
        cursor=f"{row.path}:{number}",
        job=job,
        session=row.id,
        item=item,
        status=outcome.status,
        record=record,
        error=outcome.error,
        url=(record.url if record else "") or outcome.url,
        at=(record.at if record else "") or outcome.at,
        attempts=row.attempt,
        seconds=outcome.seconds,
        screenshot=outcome.screenshot,
        usage=outcome.usage,
        answer=outcome.answer if number == 0 else "",
        rests_on=outcome.rests_on if number == 0 else None,
    )


def _path(cursor: str) -> tuple[str, int]:
    parts = _CURSOR.fullmatch(cursor)
    if parts is None:
        raise BadInput(f"{cursor!r} is no cursor", errors=[{"place": "after", "reason": "is no cursor"}])
    return parts.group(1), int(parts.group(2))


# --- events and artifacts ------------------------------------------------------------------------------


def event_page(tx: Tx, after: int, job: int | None, tenant: str | None, limit: int) -> list[EventRow]:
    """Rows of the feed behind a number. Numbers are in order of commit (see `add_events`), so none is skipped.

    Those of deleted jobs are not given, though they may be there for a while.
    """
    table = tables.event
    is_there = table.c.job.not_in(select(tables.deleted.c.job))
    query = select(table).where(table.c.seq > after, is_there).order_by(table.c.seq).limit(limit)
    if job is not None:
        query = query.where(table.c.job == job)
    if tenant is not None:
        query = query.where(table.c.tenant == tenant)
    return list(map(event_row, tx.conn.execute(query)))


def latest_events(tx: Tx, job: int, before: int | None, limit: int) -> list[EventRow]:
    """The newest rows of a job's feed, before a number where one is given, the newest first."""
    table = tables.event
    is_there = table.c.job.not_in(select(tables.deleted.c.job))
    query = select(table).where(table.c.job == job, is_there).order_by(table.c.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(table.c.seq < before)
    return list(map(event_row, tx.conn.execute(query)))


def event_row(row: Row[Any]) -> EventRow:
    """An event from its columns."""
    return EventRow(row.seq, row.tenant, row.job, row.name, codec.load_json(row.data), when(row.at))


def one_artifact(tx: Tx, artifact: str, tenant: str | None) -> ArtifactRow:
    """One artifact's row.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
    """
    is_there = exists().where(tables.job.c.id == tables.artifact.c.job)
    row = tx.conn.execute(select(tables.artifact).where(tables.artifact.c.id == artifact, is_there)).one_or_none()
    if row is None or (tenant is not None and row.tenant != tenant):
        raise NotFound(f"there is no artifact {artifact}", artifact=artifact)
    return artifact_row(row)


def artifact_row(row: Row[Any]) -> ArtifactRow:
    """An artifact from its columns."""
    return ArtifactRow(
        id=row.id,
        tenant=row.tenant,
        job=row.job,
        session=row.session,
        kind=row.kind,
        key=row.key,
        content_type=row.content_type,
        bytes=row.bytes,
        created_at=when(row.created_at),
        name=row.name or "",
    )
