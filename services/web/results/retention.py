"""Retention: what is left of finished jobs when their time is over.

The results go to the artifact store as compressed JSON lines, the same lines that the API gives; then sessions, tasks,
events and evidence are dropped in slices. The job's row stays, with its counts. Whatever dies in the middle, the next
run begins a new archive, and a job is dropped only once the store has the name of a whole one. Of each slice the
bytes of its evidence go first: a process that dies after them, or finds the artifact store away, leaves the rows that
say where the rest lies, and the next run removes the same again. What is left of deleted jobs goes the same way.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable

import structlog
from pydantic_core import to_json

from shoal.services.artifacts.store import ArtifactStore
from shoal.services.errors import ArtifactStoreAway, NotFound, StoreAway, WrongState
from shoal.services.events import LogEvent
from shoal.services.store import ids
from shoal.services.store.records import JobRow
from shoal.services.store.store import Store
from shoal.services.web.api.views.results import result_line
from shoal.services.web.results.archive import Archive, ArchivePart, archive_folder, part_key
from shoal.services.web.results.dropping import drop_deleted, drop_slice

log = structlog.get_logger()

_SWEEP_S = 60.0
_AT_ONCE = 10
"""Jobs of one run."""
_REST_S = 3600.0
"""A job that could not be ended is tried again after so long: trying it first each minute would hold up all others."""


class Retention:
    """Runs until it is canceled. Several may run at once: they do the same work twice at worst.

    Args:
        default_days: for jobs that ask for nothing; None: these are kept for ever.
    """

    def __init__(
        self,
        store: Store,
        artifacts: ArtifactStore,
        default_days: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._artifacts = artifacts
        self._default_days = default_days
        self._clock = clock
        self._resting: dict[int, float] = {}  # jobs that could not be ended, and until when they are left alone

    async def run(self) -> None:
        """Looks every minute."""
        while True:
            try:
                while await self.run_once():
                    pass
            except (StoreAway, ArtifactStoreAway) as error:
                log.warning(LogEvent.RETENTION_WAITS, error=error.message)
            except Exception:  # the top of a loop
                log.exception(LogEvent.LOOP_FAILED, loop="retention")
            await asyncio.sleep(_SWEEP_S)

    async def run_once(self) -> int:
        """Drops jobs that were deleted, archives and drops those whose time is over; gives how many it looked at.

        A job that cannot be ended is logged and rests, and the others are ended nevertheless.

        Raises:
            StoreAway, ArtifactStoreAway: the next run goes on behind the job that met it.
        """
        deleted, expired = await self._awake()
        for job in (*deleted, *expired):
            try:
                if job in deleted:
                    await drop_deleted(self._store, self._artifacts, job)
                else:
                    await self._end(job)
            except (NotFound, WrongState):
                continue  # its owner retried or deleted it meanwhile, or another gateway was sooner
            except ArtifactStoreAway:
                self._rest(job)  # it may be away for this job's objects alone
                raise
            except StoreAway:
                raise
            except Exception:  # the top of a loop
                self._rest(job)
                log.exception(LogEvent.LOOP_FAILED, loop="retention", job=ids.job_id(job))
        return len(deleted) + len(expired)

    async def _awake(self) -> tuple[list[int], list[int]]:
        """Jobs that were deleted, and those to be archived, without those that rest; of each some."""
        now = self._clock()
        self._resting = {job: until for job, until in self._resting.items() if until > now}
        limit = _AT_ONCE + len(self._resting)
        due = await self._store.deleted(limit), await self._store.expired(self._default_days, limit)
        deleted, expired = ([job for job in jobs if job not in self._resting][:_AT_ONCE] for jobs in due)
        return deleted, expired

    def _rest(self, job: int) -> None:
        self._resting[job] = self._clock() + _REST_S

    async def _end(self, job: int) -> None:
        row = await self._store.job(job)
        if row.archive is None:
            await self._archive(row)
        while await drop_slice(self._store, self._artifacts, job):
            pass
        log.info(LogEvent.JOB_ARCHIVED, job=ids.job_id(job))

    async def _archive(self, row: JobRow) -> None:
        """Writes an archive of this attempt's own and has the store keep its name, unless another was sooner.

        Two gateways may do this at once, and the sooner one drops the rows that the later one is reading: an archive
        that was not taken may be cut short. It is removed; where the store gave no answer it may have been taken, and
        stays.
        """
        folder = f"{archive_folder(row.id)}/{secrets.token_hex(8)}"
        number = 0
        async for part in self._parts(row.id):
            await self._artifacts.put(part_key(folder, number), part, "application/gzip")
            number += 1
        try:
            if (await self._store.job(row.id)).finished_at != row.finished_at:
                raise WrongState(f"job {ids.job_id(row.id)} was retried while it was archived", job=row.id)
            taken = await self._store.archived(row.id, Archive(folder, number).name)
        except (NotFound, WrongState):
            await self._artifacts.delete(folder)
            raise
        if not taken:
            await self._artifacts.delete(folder)

    async def _parts(self, job: int) -> AsyncIterator[bytes]:
        """The result lines in compressed parts; at least one, so that an archive can be told from none."""
        part, first = ArchivePart(), True
        async for row in self._store.stream_results(job):
            await part.add(to_json(result_line(row), inf_nan_mode="null") + b"\n")
            if part.is_full:
                yield await part.packed()
                part, first = ArchivePart(), False
        if first or not part.is_empty:
            yield await part.packed()
