"""The dispatcher: claims ready sessions, hands them to workers, writes what became of them in groups.

Its loops run beside each other: the claimer, a puller per worker, the committer, the materializer (long loops), the
bulk runner (long loops that end early, are retried or get another concurrency), the learner (loops that learn), the
housekeeper (leases, deadlines,
size, snapshot) and the watcher (changes in the store). All that they hold in memory can be lost: the truth is in the
store, and reports stay with their worker until they are committed. Several dispatchers may work on one store: claims,
fences and domains are the store's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace

import structlog

from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import loop_time
from shoal.agent.worker_messages import JobLimits
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.browsers.pools.pool import Pool
from shoal.services.dispatch.commit.committer import Committer
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatch_state import DispatchState, Lease, take_over
from shoal.services.dispatch.learner import Learner
from shoal.services.dispatch.scheduling.claimer import Claimer
from shoal.services.dispatch.scheduling.model_bound import ModelBound
from shoal.services.dispatch.scheduling.partition_reader import PartitionReader
from shoal.services.dispatch.status.status_reporter import StatusReporter
from shoal.services.dispatch.workers.free_memory import free_bytes
from shoal.services.dispatch.workers.live_requests import live_requests
from shoal.services.dispatch.workers.sizing import Load, Size, SizingBounds, desired, share
from shoal.services.dispatch.workers.worker_manager import WorkerManager
from shoal.services.errors import StoreAway, StoreBroken
from shoal.services.events import LogEvent
from shoal.services.inference.watch import Admission
from shoal.services.live_messages import PREFIX as LIVE
from shoal.services.store.records import DRAIN, JobControl, Renewal
from shoal.services.store.restarts import SNAPSHOTS, Restarts
from shoal.services.store.store import Store

log = structlog.get_logger()


_HOUSEKEEPING_S = 2.0
"""Leases, deadlines and the size of the pool are looked at that often, and the snapshot is written."""
_SILENT_S = 30.0
"""A dispatcher whose snapshot is older than this has no demand for workers."""
_NEWS_S = 5.0
"""Longest wait for a change in the store; partitions are looked at that often in any case."""

_REFRESH_S = 0.2
"""The watcher looks that often at most: this dispatcher's own commits are changes too."""

_BREATH_S = 0.01
"""Pause between two slices of a command: on SQLite it lets other processes write, who ask again and again."""

_LEAST_WORKER_BYTES = 800 * 1024**2
"""A worker that has not worked yet holds little: so much holds one with one slot at work (docs/operations/size.md)."""

_AWAY_S = 0.5
"""Pause between two tries while the store is away."""


class Dispatcher:
    """Runs until it is stopped; `start` returns once workers can take sessions."""

    def __init__(
        self,
        store: Store,
        pool: Pool,
        config: DispatchConfig,
        *,
        admission: Admission | None = None,
        artifacts: ArtifactStore | None = None,
        restarts: Restarts = Restarts(),
        seed: int | None = None,
    ) -> None:
        self._store = store
        self._config = config
        self._restarts = restarts.data()
        self._state = DispatchState.of(config)
        self._admission = admission or (Admission(config.admission) if config.admission else None)
        model_bound = ModelBound(self._admission, store) if self._admission else None
        self._committer = Committer(store, self._state, seed)
        self._manager = WorkerManager(pool, self._state, self._committer.receive, self._expire_leases_of)
        self._reader = PartitionReader(store, self._state)
        self._claimer = Claimer(store, self._state, self._reader, self._manager, model_bound)
        self._learner = Learner(store, self._state, artifacts, config.name)
        self._reporter = StatusReporter(self._state, model_bound, self._admission)
        self._size: Size | None = None
        self._gone: set[str] = set()  # lost workers whose leases the store did not end yet
        self._tasks: list[asyncio.Task[None]] = []

    # --- life ----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Adopts or starts the workers, then begins to claim.

        Raises:
            WorkerLost: not even one worker could be started.
        """
        held = await self._manager.adopt()
        await self._patiently(lambda: take_over(self._store, self._state, held))
        await self._patiently(self._expire_predecessors)
        await self._manager.fill()
        loops = [
            self._claimer.run,
            self._committer.run,
            self._materialize,
            self._run_bulk_operations,
            self._learner.run,
            self._housekeeping,
            self._watch,
        ]
        if self._admission is not None:
            self._admission.changed = self._state.signals.model_has_room
            loops.append(self._admission.run)
        self._tasks = [asyncio.create_task(self._forever(loop), name=loop.__qualname__) for loop in loops]

    async def _patiently(self, call: Callable[[], Awaitable[None]]) -> None:
        """Calls until the store is there: one that drops a connection at the start must not end the dispatcher.

        Raises:
            StoreBroken: no waiting mends it.
        """
        while True:
            try:
                return await call()
            except StoreBroken:
                raise
            except StoreAway as error:
                self._state.note_store(away=True, error=str(error))
            await asyncio.sleep(_AWAY_S)

    async def _expire_predecessors(self) -> None:
        """Ends the leases of workers that an earlier dispatcher of this name had, and that are not there any more."""
        known = await self._store.states(self._name)
        for snapshot, _ in (known[self._name],) if self._name in known else ():
            for worker in snapshot.get("workers", ()):
                if worker["name"] not in self._manager.workers:
                    await self._expire_leases(worker["name"])

    @property
    def _name(self) -> str:
        return SNAPSHOTS + self._config.name

    async def stop(self) -> None:
        """Claims no more, lets running sessions end for `drain_s`, commits what they report, ends the workers."""
        self._state.signals.stop()
        await self._manager.drain()
        await self._committer.write_rest()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._manager.end()

    async def _forever(self, loop: Callable[[], Awaitable[None]]) -> None:
        """Keeps one loop running: an unexpected error is logged, and the loop goes on."""
        while True:
            try:
                await loop()
            except StoreAway as error:
                self._state.note_store(away=True, error=str(error))
            except Exception:  # the top of a loop
                log.exception(LogEvent.LOOP_FAILED, loop=loop.__qualname__)
            await asyncio.sleep(_AWAY_S)

    # --- loops ---------------------------------------------------------------------------------------

    async def _materialize(self) -> None:
        """Stores what long loops have left for later, piece by piece, between claims and commits."""
        while True:
            await self._state.signals.wait_for_children()
            while (piece := await self._store.materialize()).more:
                self._state.ready(piece.ready)

    async def _run_bulk_operations(self) -> None:
        """Does what is left of commands to long jobs, and ends late jobs and stopped loops, slice by slice."""
        while True:
            await self._state.signals.wait_for_bulk_operation()
            while (piece := await self._store.run_bulk_operations()).more:
                if piece.ready:
                    self._state.ready(piece.ready)
                await asyncio.sleep(_BREATH_S)

    async def _watch(self) -> None:
        """Tells the claimer when the store has changed."""
        seen: int | None = None
        while True:
            seen = await self._store.changed(_NEWS_S, since=seen)
            self._state.signals.store_changed()
            await asyncio.sleep(_REFRESH_S)

    async def _housekeeping(self) -> None:
        while True:
            await self._renew()
            await self._expire_gone()
            await self._expire_leases()
            await self._store.expire_deadlines()
            await self._wake_when_due()
            self._state.signals.children_pending()  # another dispatcher may have died in the middle of a loop
            self._state.signals.loop_learns()  # another dispatcher may have died before it decided
            self._state.signals.bulk_operation_left()  # a gateway may have canceled or retried a job with a long loop
            if self._state.domains.set_limits(await self._store.sites.limits()):
                self._state.signals.store_changed()
            limits = await self._store.tenants.limits()
            self._state.partitions.set_weights({**self._config.tenant_weights, **limits.weights})
            await self._resize_and_tell()
            await asyncio.sleep(_HOUSEKEEPING_S / 2)
            await self._renew()  # twice as often: this is what stops sessions that are not wanted any more
            await asyncio.sleep(_HOUSEKEEPING_S / 2)

    # --- housekeeping --------------------------------------------------------------------------------

    async def _renew(self) -> None:
        """Extends leases at a third of their time; stops sessions that are not ours or not wanted any more.

        The others are told what holds for their jobs now. Leases of a worker that is gone are left to run out,
        whatever became of the call that was to end them.
        """
        now = loop_time()
        known = self._state.leases_of(self._manager.workers, before=now - self._config.lease_s)
        third = self._config.lease_s / 3
        due = [Renewal(session, lease.work.fence) for session, lease in known.items() if now - lease.renewed >= third]
        kept = await self._store.renew(due, lease_s=self._config.lease_s) if due else frozenset()
        jobs = {lease.work.job for lease in known.values()}
        job_controls = await self._store.job_controls(jobs) if jobs else {}
        stopped = {job for job in jobs if job not in job_controls or not job_controls[job].wanted}
        lost = {(renewal.session, renewal.fence) for renewal in due if renewal.session not in kept}
        for extended in due:
            if extended.session in kept:
                known[extended.session].renewed = now
        # A lease that ended meanwhile says nothing of the session, which may run under a new one.
        still = [lease for session, lease in known.items() if self._state.leases.get(session) is lease]
        unwanted: dict[str, list[int]] = {}
        for lease in still if stopped or lost else ():
            if lease.work.job in stopped or (lease.work.session, lease.work.fence) in lost:
                unwanted.setdefault(lease.worker, []).append(lease.work.session)
        limits = _limit_changes(still, job_controls, self._manager.spending())
        shown = live_requests(await self._store.states(LIVE), self._state.leases) if known else {}
        for name in unwanted.keys() | limits.keys() | shown.keys():
            self._manager.tell(name, unwanted.get(name, []), limits.get(name, {}), shown.get(name, {}))

    async def _expire_leases(self, owner: str | None = None) -> None:
        self._state.leases_expired(await self._store.expire_leases(owner=owner, lease_s=self._config.lease_s))

    async def _expire_leases_of(self, owner: str) -> None:
        self._gone.add(owner)
        try:
            await self._expire_gone()
        except StoreAway as error:  # the housekeeper tries again
            self._state.note_store(away=True, error=str(error))

    async def _expire_gone(self) -> None:
        """Ends the leases of workers that are gone; those that the store did not answer for stay to be tried again."""
        for owner in tuple(self._gone):
            await self._expire_leases(owner)
            self._gone.discard(owner)

    async def _wake_when_due(self) -> None:
        """Reads the partitions anew when a session's pause ends before the next look."""
        due = await self._store.next_ready_in_s()
        if due is not None and due <= _HOUSEKEEPING_S:
            asyncio.get_running_loop().call_later(max(due, 0.0), self._state.signals.store_changed)

    async def _resize_and_tell(self) -> None:
        drained = await self._store.states(DRAIN)
        self._manager.replace(name.removeprefix(DRAIN) for name in drained)
        stats = await self._manager.stats()
        if self._config.most_workers > self._config.workers:
            others = await self._others()
            ready = await self._ready(sum(other.get("room", 0) for other in others))
            load = Load(
                ready=ready,
                running=self._state.in_slots,  # of the same moment: what was ready then must not count twice
                workers=len(self._manager.workers),
                slots=self._manager.slots,
                worker_bytes=max([_LEAST_WORKER_BYTES, *(stat.rss_bytes for stat in stats)]),
                free_bytes=free_bytes() if self._config.one_machine else None,
                model_places=None if self._admission is None else self._admission.limit,
                model_share=self._model_share(),
            )
            self._size = desired(load, SizingBounds(self._config.workers, self._config.most_workers))
            await self._manager.resize(
                self._size.workers, sum(other["size"]["workers"] for other in others if other.get("size"))
            )
        snapshot = self._reporter.snapshot(
            stats, self._manager.leaving, self._committer.uncommitted, self._size, self._room
        )
        ends = {"has_model": self._config.has_model, "restarts": self._restarts, "workers_lost": self._manager.losses}
        await self._store.put_state(self._name, {**snapshot, **ends})

    @property
    def _room(self) -> int:
        """Slots that may still be filled, those of workers that may still be started included."""
        most = max(self._config.workers, self._config.most_workers)
        return max(0, most * self._manager.slots - self._state.in_slots)

    async def _ready(self, elsewhere: int) -> int:
        """This dispatcher's part of the sessions that could start if there were slots, and their domains' places left.

        `elsewhere`: slots that others may still fill.
        """
        ready = await self._store.ready_count(self._config.most_workers * self._manager.slots + elsewhere)
        # A million sessions of one site are no reason for more workers, when it takes eight at once.
        if ready:
            await self._reader.read()
        places = self._state.domains.places((partition.domain for partition in self._state.partitions), loop_time())
        return share(min(ready, places), mine=self._room, elsewhere=elsewhere)

    def _model_share(self) -> float:
        """Part of the running sessions that ask the model; all, while none runs."""
        return self._state.asking / len(self._state.leases) if self._state.leases else 1.0

    async def _others(self) -> list[Json]:
        """Return what other dispatchers last said of themselves."""
        snapshots = await self._store.states(SNAPSHOTS)
        return [snapshot for name, (snapshot, age_s) in snapshots.items() if name != self._name and age_s < _SILENT_S]

    # --- looking -------------------------------------------------------------------------------------

    @property
    def workers(self) -> list[str]:
        """Names of the workers in use."""
        return list(self._manager.workers)


def _limit_changes(
    leases: Iterable[Lease], job_controls: Mapping[int, JobControl], spending: Mapping[int, int]
) -> dict[str, dict[int, JobLimits]]:
    """Return what running sessions are to be told of their jobs' limits,
    by worker and job.

    Jobs that have no limit, and had none when they were claimed, are left out.

    Args:
        leases: what workers run.
        job_controls: how their jobs stand.
        spending: model tokens of each job's running attempts, over all workers.
    """
    limited = {job for job, standing in job_controls.items() if standing.limits.any}
    changes: dict[str, dict[int, JobLimits]] = {}
    for lease in leases:
        work = lease.work
        if (work.job in limited or work.limited) and work.job in job_controls:
            now = job_controls[work.job].limits
            job_limits = changes.setdefault(lease.worker, {})
            if work.job not in job_limits:
                job_limits[work.job] = replace(now, spent=now.spent + spending.get(work.job, 0))
    return changes
