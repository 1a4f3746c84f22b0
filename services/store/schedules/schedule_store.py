"""The store's side of schedules. Each method is one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.store.database.database import Database
from shoal.services.store.database.transaction import Operation
from shoal.services.store.records import ApiKey, NewJob
from shoal.services.store.schedules import firing, keeping, keys, runs
from shoal.services.store.schedules.keys import NewScheduleKey
from shoal.services.store.schedules.records import (
    DueSchedule,
    Fired,
    Firing,
    Judged,
    QueuedRun,
    QueuedStart,
    RunOfJob,
    RunRow,
    ScheduleRow,
)


class ScheduleStore:
    """Schedules by tenant and name. Unknown names raise `NotFound`; a lost database raises `StoreAway`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def put(self, tenant: str, spec: ScheduleSpec, by: str | None = None) -> tuple[ScheduleRow, bool]:
        """Stores a schedule, or changes the one of its name; the second value says whether it is new."""
        return await self._db.write(lambda tx: keeping.put(tx, tenant, spec, by))

    async def get(self, tenant: str, name: str) -> ScheduleRow:
        """One schedule."""
        return await self._db.read(lambda tx: keeping.get(tx, tenant, name))

    async def by_number(self, number: int) -> ScheduleRow:
        """The schedule of a run."""
        return await self._db.read(lambda tx: keeping.by_number(tx, number))

    async def listed(self, tenant: str, *, after: str | None = None, limit: int = 100) -> list[ScheduleRow]:
        """Schedules in the order of their names, those behind `after`."""
        return await self._db.read(lambda tx: keeping.listed(tx, tenant, after, limit))

    async def pause(self, tenant: str, name: str, paused: bool) -> ScheduleRow:
        """Lets it fire no more, or again from its next time on."""
        return await self._db.write(lambda tx: keeping.pause(tx, tenant, name, paused))

    async def fire_now(self, tenant: str, name: str) -> ScheduleRow:
        """Makes it due at this moment.

        Raises:
            WrongState: it is paused.
        """
        return await self._db.write(lambda tx: keeping.fire_now(tx, tenant, name))

    async def accept(self, tenant: str, name: str) -> ScheduleRow:
        """Takes its newest run as the measure of later ones, and its mark away; what was held back of it is written.

        Raises:
            WrongState: no run has completed.
        """
        return await self._db.write(lambda tx: keeping.accept(tx, tenant, name))

    async def drop(self, tenant: str, name: str) -> None:
        """Removes it with what is known of its runs; their jobs stay."""
        await self._db.write(lambda tx: keeping.drop(tx, tenant, name))

    # --- keys ------------------------------------------------------------------------------------------

    async def number_of(self, tenant: str, name: str) -> int | None:
        """The number by which runs and keys know it; None: there is none."""
        return await self._db.read(lambda tx: keys.number_of(tx, tenant, name))

    async def create_key(self, tenant: str, name: str, asked: NewScheduleKey) -> ApiKey:
        """A new key that reads its newest results.

        Raises:
            WrongState: it has as many as it may.
            BadInput: the key would outlast the one that makes it.
            Unauthenticated: the one that makes it was revoked.
        """
        return await self._db.write(lambda tx: keys.create(tx, tenant, name, asked))

    async def keys(self, tenant: str, name: str) -> list[ApiKey]:
        """Its keys that were not revoked, the oldest first."""
        return await self._db.read(lambda tx: keys.listed(tx, tenant, name))

    async def revoke_key(self, tenant: str, name: str, key: int) -> ApiKey:
        """Makes a key of it useless."""
        return await self._db.write(lambda tx: keys.revoke(tx, tenant, name, key))

    # --- runs ------------------------------------------------------------------------------------------

    async def runs(self, tenant: str, name: str, *, before: float | None = None, limit: int = 30) -> list[RunRow]:
        """Its last runs, those before a moment, the newest first."""
        return await self._db.read(lambda tx: runs.newest(tx, tenant, name, before, limit))

    async def newest_completed(self, tenant: str, name: str, only: int | None = None) -> RunRow:
        """Its newest run that completed and is not degraded; with a number, of the schedule that has it alone.

        Raises:
            NotFound: there is none.
        """
        return await self._db.read(lambda tx: runs.newest_completed(tx, tenant, name, only))

    async def run_of_job(self, job: int) -> RunOfJob | None:
        """The run that a job is; None: it is no schedule's."""
        return await self._db.read(lambda tx: runs.of_job(tx, job))

    async def to_judge(self, limit: int = 10) -> list[RunRow]:
        """Runs that are over, and of which it is not known yet what they gave."""
        return await self._db.read(lambda tx: runs.to_judge(tx, limit))

    async def history(self, run: RunRow) -> list[RunRow]:
        """The good runs that a run is held against, the newest first."""
        return await self._db.read(lambda tx: runs.history(tx, run))

    async def judged(self, done: Judged) -> bool:
        """Writes what a run gave, and tells of one that is degraded; False where another process has done so."""
        return await self._db.write(lambda tx: runs.judged(tx, done))

    # --- firing, by any gateway ------------------------------------------------------------------------

    async def due(self, limit: int = 100) -> tuple[float, list[DueSchedule]]:
        """This moment by the store's clock, and schedules whose time has come."""
        now, (schedules, unreadable) = await self._db.read(lambda tx: (tx.now, firing.due(tx, limit)))
        if unreadable:
            await self._db.write(lambda tx: firing.set_aside(tx, limit))
        return now, schedules

    async def next_due_in_s(self) -> float | None:
        """Seconds until the next firing; None where none comes."""
        return await self._db.read(firing.next_due_in_s)

    async def startable(self, limit: int = 100) -> list[QueuedRun]:
        """Queued runs whose turn has come."""
        return await self._db.read(lambda tx: firing.startable(tx, limit))

    async def fire(self, firings: Sequence[Firing]) -> list[Fired]:
        """Writes what became of schedules' times, with the jobs of those that run, each once."""
        jobs = [each.job for each in firings if each.job is not None]
        return await self._write_jobs(lambda tx: firing.fire(tx, firings), jobs) if firings else []

    async def start_queued(self, starts: Sequence[QueuedStart]) -> list[Fired]:
        """Submits runs whose turn has come, each once."""
        jobs = [each.job for each in starts if each.job is not None]
        return await self._write_jobs(lambda tx: firing.start_queued(tx, starts), jobs) if starts else []

    async def _write_jobs(self, work: Operation[list[Fired]], jobs: Sequence[NewJob]) -> list[Fired]:
        ids = {"job": len(jobs), "session": len(jobs)}
        return await self._db.write(work, ids=ids, hosts={job.domain for job in jobs})
