"""Finished jobs whose time is over: archived by others, dropped here in slices that keep nobody waiting."""

from __future__ import annotations

from collections.abc import Sequence

from agent.status import FINAL
from services.errors import WrongState
from services.store import tables
from services.store.ids import job_id
from services.store.jobs import lock_job
from services.store.reading import artifact_row, job_row
from services.store.records import DropSlice
from services.store.tx import Tx

_DAY_S = 86_400.0


def expired_jobs(tx: Tx, default_days: float | None, limit: int) -> list[int]:
    """Final jobs that are to be archived and dropped, or whose dropping was begun."""
    before = None if default_days is None else tx.now - default_days * _DAY_S
    rows = tx.rows("expired_jobs", now=tx.now, limit=limit)
    if before is not None and len(rows) < limit:
        rows = [*rows, *tx.rows("old_jobs", before=before, limit=limit - len(rows))]
    return [row.id for row in rows]


def mark_archived(tx: Tx, job: int, archive: str) -> bool:
    """The results of a job lie in the artifact store; from now on its rows are dropped. False: it had an archive.

    Raises:
        WrongState: it is not final: its owner retried it meanwhile.
    """
    found = lock_job(tx, job, None)
    if found.status not in FINAL:
        raise WrongState(f"job {job_id(job)} is {found.status}", job=job, status=found.status.value)
    if found.archive is not None:
        return False
    tx.run("mark_archived", id=job, archive=archive, now=tx.now)
    return True


def next_slice(tx: Tx, job: int, most: int) -> DropSlice:
    """The first `most` sessions of an archived job, and the artifacts that go with them."""
    _require_archived(job, job_row(tx, job).archive)
    sessions = [row.id for row in tx.rows("some_sessions", job=job, limit=most)]
    artifacts = tx.rows("artifacts_of_alone", job=job, ids=tx.many(sessions))
    return DropSlice(tuple(sessions), tuple(artifact_row(row) for row in artifacts))


def drop_sessions(tx: Tx, job: int, sessions: Sequence[int]) -> bool:
    """Removes sessions of an archived job with what belongs to them; with the last, its events. Whether any are left.

    They are named by the caller, who has removed their artifacts' bytes: "the first few" might be others by now, when
    another process drops the same job.
    """
    _require_archived(job, lock_job(tx, job, None).archive)
    ids = tx.many(sessions)
    tx.run("drop_artifacts", job=job, ids=ids)
    tx.run("drop_details", ids=ids)
    tx.run("drop_sessions", ids=ids)
    if tx.rows("some_sessions", job=job, limit=1):
        return True
    for table in (tables.event, tables.staged, tables.job_pace):
        tx.conn.execute(table.delete().where(table.c.job == job))
    tx.run("dropped", id=job)
    return False


def _require_archived(job: int, archive: str | None) -> None:
    if archive is None:
        raise WrongState(f"job {job_id(job)} is not archived", job=job)
