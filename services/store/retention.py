"""Finished jobs whose time is over: archived by others, dropped here in slices that keep nobody waiting."""

from __future__ import annotations

from agent.status import FINAL
from services.errors import WrongState
from services.store import tables
from services.store.ids import job_id
from services.store.jobs import lock_job
from services.store.reading import artifact_row
from services.store.records import Dropped
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


def drop_slice(tx: Tx, job: int, most: int) -> Dropped:
    """Removes up to `most` sessions of an archived job with what belongs to them; with the last, its events."""
    found = lock_job(tx, job, None)
    if found.archive is None:
        raise WrongState(f"job {job_id(job)} is not archived", job=job)
    sessions = [row.id for row in tx.rows("some_sessions", job=job, limit=most)]
    if sessions:
        ids = tx.many(sessions)
        orphans = [artifact_row(row) for row in tx.rows("drop_artifacts", job=job, ids=ids)]
        keys = tx.many([one.key for one in orphans])
        shared = {row.key for row in tx.rows("shared_keys", keys=keys)} if orphans else set()
        tx.run("drop_details", ids=ids)
        tx.run("drop_sessions", ids=ids)
        return Dropped(len(sessions), tuple(one for one in orphans if one.key not in shared), more=True)
    for table in (tables.event, tables.staged, tables.job_pace):
        tx.conn.execute(table.delete().where(table.c.job == job))
    tx.run("dropped", id=job)
    return Dropped(0, (), more=False)
