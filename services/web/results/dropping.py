"""The rows and files of jobs that are archived or deleted: removed in slices, of each the files first."""

from __future__ import annotations

import structlog

from shoal.services.artifacts.keys import is_key, is_key_part
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.errors import ArtifactStoreAway, NotFound, StoreAway
from shoal.services.events import LogEvent
from shoal.services.store import ids
from shoal.services.store.store import Store
from shoal.services.web.results.archive import archive_folder

log = structlog.get_logger(__name__)

_KEYS = 1_000
"""Looked at together."""


async def drop_slice(store: Store, artifacts: ArtifactStore, job: int) -> bool:
    """Removes the next sessions of a job with their files; whether anything is left.

    A process that dies after the files, or finds the artifact store away, leaves the rows that say where the rest lies.

    Raises:
        NotFound: nothing is left of it.
        WrongState: it is neither archived nor deleted.
    """
    piece = await store.droppable(job)
    await artifacts.delete_many([artifact.key for artifact in piece.artifacts])
    if piece.last and piece.tenant is not None:
        await _clear_folder(store, artifacts, piece.tenant, job)
    return await store.drop(job, piece.sessions)


async def _clear_folder(store: Store, artifacts: ArtifactStore, tenant: str, job: int) -> None:
    """Removes what attempts that died or came late have left of a job. What other jobs refer to stays."""
    if not is_key_part(tenant):  # nothing can lie under such a name
        return
    folder, after = f"{tenant}/{job}", ""
    while True:
        stored = await artifacts.page(folder, after, _KEYS)
        keys = [artifact.key for artifact in stored if is_key(artifact.key)]
        if keys:
            jobs_of = (await store.owners(keys, ())).jobs_of
            await artifacts.delete_many([key for key in keys if not jobs_of.get(key, frozenset()) - {job}])
        if len(stored) < _KEYS:
            return
        after = stored[-1].key


async def drop_deleted(store: Store, artifacts: ArtifactStore, job: int) -> None:
    """Removes all that is left of a deleted job, its archive included."""
    await artifacts.delete(archive_folder(job))
    while await drop_slice(store, artifacts, job):
        pass


async def drop_small(store: Store, artifacts: ArtifactStore, job: int) -> None:
    """Removes the archive and the first slice of a job that was just deleted: all of it, unless it is a long one.

    The rest, and what cannot be removed now, is left to retention (`retention`): for its owner the job
    is gone.
    """
    try:
        await artifacts.delete(archive_folder(job))
        await drop_slice(store, artifacts, job)
    except NotFound:  # retention was sooner
        pass
    except (ArtifactStoreAway, StoreAway) as error:
        log.warning(LogEvent.RETENTION_WAITS, job=ids.job_id(job), error=error.message)
