"""The rows and files of jobs that are archived or deleted: removed in slices, of each the files first."""

from __future__ import annotations

import structlog

from services.artifacts.store import ArtifactStore
from services.errors import ArtifactStoreAway, NotFound, StoreAway
from services.events import LogEvent
from services.gateway.archive import archive_folder
from services.store import ids
from services.store.store import Store

log = structlog.get_logger(__name__)


async def drop_slice(store: Store, artifacts: ArtifactStore, job: int) -> bool:
    """Removes the next sessions of a job with their files; whether anything is left.

    Whoever dies behind the files, or finds the artifact store away, leaves the rows that say where the rest lies.

    Raises:
        NotFound: nothing is left of it.
        WrongState: it is neither archived nor deleted.
    """
    piece = await store.droppable(job)
    await artifacts.delete_many([artifact.key for artifact in piece.artifacts])
    return await store.drop(job, piece.sessions)


async def drop_deleted(store: Store, artifacts: ArtifactStore, job: int) -> None:
    """Removes all that is left of a deleted job, its archive included."""
    await artifacts.delete(archive_folder(job))
    while await drop_slice(store, artifacts, job):
        pass


async def drop_small(store: Store, artifacts: ArtifactStore, job: int) -> None:
    """Removes the archive and the first slice of a job that was just deleted: all of it, unless it is a long one.

    The rest, and what cannot be removed now, is left to retention (`services.gateway.retention`): for its owner the job
    is gone.
    """
    try:
        await artifacts.delete(archive_folder(job))
        await drop_slice(store, artifacts, job)
    except NotFound:  # retention was sooner
        pass
    except (ArtifactStoreAway, StoreAway) as error:
        log.warning(LogEvent.RETENTION_WAITS, job=ids.job_id(job), error=error.message)
