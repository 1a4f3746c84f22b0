"""Finished jobs whose time is over, or that are deleted: dropped here in slices, so that other transactions do not
wait."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from shoal.agent.status import FINAL
from shoal.services.errors import WrongState
from shoal.services.store.database import tables
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id
from shoal.services.store.jobs.rows import lock_job
from shoal.services.store.read.reading import artifact_row, job_row
from shoal.services.store.records import DropSlice, Owners

_DAY_S = 86_400.0
_ROWS = 2_000
"""Events or webhook messages that one transaction removes."""


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
    locked = lock_job(tx, job, None)
    if locked.status not in FINAL:
        raise WrongState(f"job {job_id(job)} is {locked.status}", job=job, status=locked.status.value)
    if locked.archive is not None:
        return False
    tx.run("mark_archived", id=job, archive=archive, now=tx.now)
    return True


def deleted_jobs(tx: Tx, limit: int) -> list[int]:
    """Jobs that their owners have deleted, and of which something is left."""
    return [row.job for row in tx.rows("deleted_jobs", limit=limit)]


def next_slice(tx: Tx, job: int, most: int) -> DropSlice:
    """The first `most` sessions of an archived or deleted job, and the artifacts that go with them."""
    deleted = tx.conn.execute(select(tables.deleted.c.tenant).where(tables.deleted.c.job == job)).first()
    if deleted is None:
        row = job_row(tx, job)
        _require_archived(job, row.archive)
    tenant: str | None = row.tenant if deleted is None else deleted.tenant
    sessions = [row.id for row in tx.rows("some_sessions", job=job, limit=most)]
    artifacts = tx.rows("artifacts_of_alone", job=job, ids=tx.many(sessions))
    return DropSlice(tuple(sessions), tuple(artifact_row(row) for row in artifacts), tenant, last=len(sessions) < most)


def owners(tx: Tx, keys: Sequence[str], jobs: Sequence[int]) -> Owners:
    """Which jobs refer to these keys of the artifact store, and which of these jobs there are."""
    jobs_of: dict[str, frozenset[int]] = {}
    for row in tx.rows("artifact_owners", keys=tx.many(keys)):
        jobs_of[row.key] = jobs_of.get(row.key, frozenset()) | {row.job}
    return Owners(jobs_of, frozenset(row.id for row in tx.rows("jobs_there", ids=tx.many(jobs))))


def drop_sessions(tx: Tx, job: int, sessions: Sequence[int]) -> bool:
    """Removes sessions of an archived or deleted job with what belongs to them; then its events. Whether any are left.

    They are named by the caller, who has removed their artifacts' bytes: "the first few" might be others by now, when
    another process drops the same job.
    """
    deleted = bool(tx.rows("lock_deleted", job=job))
    if not deleted:
        _require_archived(job, lock_job(tx, job, None).archive)
    ids = tx.many(sessions)
    tx.run("drop_artifacts", job=job, ids=ids)
    tx.run("drop_details", ids=ids)
    tx.run("drop_sessions", ids=ids)
    if tx.rows("some_sessions", job=job, limit=1):
        return True
    parts = ("drop_learned_records", "drop_events", *(("drop_deliveries",) if deleted else ()))
    for query in parts:
        if tx.run(query, job=job, n=_ROWS).rowcount == _ROWS:
            return True
    for table in (tables.staged, tables.job_pace, tables.learning, tables.kept_page):
        tx.conn.execute(table.delete().where(table.c.job == job))
    if deleted:
        tx.conn.execute(tables.sink.delete().where(tables.sink.c.job == job))
        tx.conn.execute(tables.deleted.delete().where(tables.deleted.c.job == job))
    else:
        tx.run("dropped", id=job)
    return False


def _require_archived(job: int, archive: str | None) -> None:
    if archive is None:
        raise WrongState(f"job {job_id(job)} is not archived", job=job)
