"""Sinks of jobs that have ended: made with the job's end, given out to be written, and shown to their owners.

One place is written by one writer at a time (the index `sink_leased`), so that what lies there can be read and then
written. A lease that is not renewed ends, and the next writer goes on from the cursor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from shoal.services.errors import NotFound, WrongState
from shoal.services.events import JobEvent
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id
from shoal.services.store.jobs.rows import counts_json
from shoal.services.store.jobs.sink_records import SinkEnd, SinkRow, SinkState
from shoal.services.store.jobs.webhook_messages import WebhookMessage, announce
from shoal.services.store.read.reading import job_row, when

_LOOKED_AT = 200
"""Rows that are due, of which a claim chooses."""


# --- written ---------------------------------------------------------------------------------------------


def claim(tx: Tx, n: int, *, lease_s: float, each: int, under_way: Mapping[str, int]) -> list[SinkRow]:
    """Up to `n` sinks that are due, at most `each` of one tenant with those `under_way`; of one place the oldest job's.

    A lease that is not renewed within `lease_s` counts as lost.
    """
    tx.run("free_sinks", now=tx.now)
    held, places, claimed = Counter(under_way), set[tuple[str, str]](), list[SinkRow]()
    for due in tx.rows("due_sinks", now=tx.now, n=_LOOKED_AT):
        if len(claimed) == n:
            break
        if held[due.tenant] >= each or (due.tenant, due.place) in places:
            continue
        places.add((due.tenant, due.place))
        for row in tx.rows("claim_sink", job=due.job, nth=due.nth, now=tx.now, until=tx.now + lease_s):
            held[row.tenant] += 1
            newer = tx.run("newer_in_sink", tenant=row.tenant, place=row.place, job=row.job).scalar_one()
            claimed.append(_row(row, overtaken=bool(newer)))
    return claimed


def advance(tx: Tx, row: SinkRow, cursor: str, written: int, *, lease_s: float) -> bool:
    """Keeps how far an attempt came, and renews its lease; False: the lease is lost, and another may be writing."""
    until = tx.now + lease_s
    return tx.run("advance_sink", **_lease(row), cursor=cursor, written=written, until=until).rowcount == 1


def end(tx: Tx, row: SinkRow, how: SinkEnd) -> bool:
    """Writes how an attempt ended; its job's owner hears of the first that failed, and of giving up.

    False: the lease was lost, and nothing is changed.
    """
    ended_at = None if how.state is SinkState.WAITING else tx.now
    first = failures(tx, row) == 0
    changed = tx.run(
        "end_sink",
        **_lease(row),
        state=how.state.value,
        due_at=tx.now + how.again_in_s,
        ended_at=ended_at,
        error=how.error,
        failed=int(bool(how.error)),
    ).rowcount
    given_up = how.state is SinkState.FAILED
    if changed and (given_up or (how.state is SinkState.WAITING and how.error and first)):
        _tell(tx, row, how.error, given_up=given_up)
    return bool(changed)


def failures(tx: Tx, row: SinkRow) -> int:
    """Return how many attempts have failed since the sink last came on, as it stands now."""
    return next((now.failures for now in sinks_of(tx, row.job) if now.nth == row.nth), 0)


def next_in_s(tx: Tx) -> float | None:
    """Seconds until the next sink is due; None when none waits."""
    due_at = tx.run("next_sink").scalar_one()
    return None if due_at is None else max(0.0, due_at - tx.now)


def _lease(row: SinkRow) -> dict[str, int]:
    return {"job": row.job, "nth": row.nth, "attempts": row.attempts}


def _tell(tx: Tx, row: SinkRow, error: str, *, given_up: bool) -> None:
    job = job_row(tx, row.job)
    data = {"sink": row.nth, "place": row.place, "error": error, "given_up": given_up}
    tx.event(job.id, job.tenant, JobEvent.SINK_FAILED, {**data, "counts": counts_json(job.counts)})
    announce(tx, [WebhookMessage(job.id, job.tenant, job.spec, JobEvent.SINK_FAILED.value, data)])


# --- looked at by their owners ---------------------------------------------------------------------------


def sinks_of(tx: Tx, job: int) -> list[SinkRow]:
    """The sinks of a job that has ended, in the order of its spec."""
    return [_row(row) for row in tx.rows("sinks_of", job=job)]


def again(tx: Tx, job: int, nth: int, tenant: str | None) -> SinkRow:
    """Makes a sink due now: one that was given up goes on where it stopped, any other begins anew.

    Raises:
        NotFound: the job does not exist, belongs to another tenant, or has no such sink.
        WrongState: it waits already, for an attempt or for its run's verdict.
    """
    job_row(tx, job, tenant)
    row = next((row for row in sinks_of(tx, job) if row.nth == nth), None)
    if row is None:
        raise NotFound(f"job {job_id(job)} has no sink {nth} that could be written: see `sinks` of the job")
    if row.state is SinkState.WAITING:
        raise WrongState(f"sink {nth} of job {job_id(job)} waits to be written already")
    if row.state is SinkState.UNJUDGED:
        raise WrongState(f"sink {nth} of job {job_id(job)} waits until the run is held against those before it")
    tx.run("sink_again", job=job, nth=nth, now=tx.now, anew=row.state is not SinkState.FAILED)
    return next(row for row in sinks_of(tx, job) if row.nth == nth)


def count(tx: Tx, tenant: str | None) -> dict[SinkState, int]:
    """Sinks that wait and that were given up."""
    return {SinkState(row.state): int(row.n) for row in tx.rows("count_sinks", tenant=tenant)}


def _row(row: Row[Any], *, overtaken: bool = False) -> SinkRow:
    return SinkRow(
        job=row.job,
        nth=row.nth,
        tenant=row.tenant,
        place=row.place,
        state=SinkState(row.state),
        attempts=row.attempts,
        failures=row.failures,
        leased=bool(row.leased),
        cursor=row.cursor,
        written=row.written,
        due_at=when(row.due_at),
        created_at=when(row.created_at),
        ended_at=None if row.ended_at is None else when(row.ended_at),
        error=row.error,
        overtaken=overtaken,
    )
