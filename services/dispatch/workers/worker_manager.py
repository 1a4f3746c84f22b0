"""Tracks the workers of one dispatcher: registers them, polls their reports, replaces lost ones, sizes the pool."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress

import structlog

from shoal.agent.support.moments import loop_time
from shoal.agent.worker_messages import JobLimits, LiveRequest, Report, Work
from shoal.services.browsers.pools.pool import Pool, WorkerHandle, WorkerLost, WorkerStats
from shoal.services.browsers.reports.report_batch import REPORT_BATCH_BYTES
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.dispatch.workers.worker_state import WorkerState
from shoal.services.events import LogEvent
from shoal.services.store.restarts import Restarts

log = structlog.get_logger()

_LAST_REPORTS_S = 5.0
"""Seconds that the last reports of a drained worker may take to arrive."""

_STATS_S = 5.0
"""Patience with a worker that is asked how it is: the housekeeper, who renews all leases, waits for the answer."""

_END_S = 90.0
"""Patience with a worker that is ended: longer than with any other call, in which its browsers' end is waited for."""

_AGAIN_S = 0.5
"""Pause between two tries to start a worker, or to hear from one."""

_PULLS = 5
"""So many pulls in a row that fail, for whatever reason, are a worker's end."""

_MARGIN_S = 15.0
"""Seconds of its node's last time that a worker keeps for its reports and its own end."""
_LONGEST_WAY_S = 600.0
"""Seconds that sessions get to end on a node whose end has no date."""


class WorkerManager:
    """All workers of one dispatcher.

    Args:
        take_in: gets what a worker reports, and the bytes of each report.
        expire_leases: ends the leases of a worker that is gone.
    """

    def __init__(
        self,
        pool: Pool,
        state: DispatchState,
        receive: Callable[[WorkerState, Sequence[Report], Sequence[int]], None],
        expire_leases: Callable[[str], Awaitable[None]],
    ) -> None:
        self._pool = pool
        self._state = state
        self._take_in = receive
        self._expire_leases = expire_leases
        self.workers: dict[str, WorkerState] = {}
        self._lost = Restarts()  # workers that have ended by themselves
        self.losses = self._lost.data()  # the same, for the snapshot
        self._starting: set[asyncio.Task[None]] = set()
        self._submitting: set[asyncio.Task[None]] = set()
        self._evacuating: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._expecting: asyncio.Task[None] | None = None

    @property
    def slots(self) -> int:
        """Of one worker."""
        return next((worker.handle.slots for worker in self.workers.values()), 1)

    @property
    def all_slots(self) -> int:
        """Of all workers that are given sessions."""
        return sum(worker.handle.slots for worker in self.workers.values() if not worker.leaving)

    async def adopt(self) -> dict[int, int]:
        """Takes over the workers that an earlier dispatcher left running; gives what they hold, session by fence."""
        held: dict[int, int] = {}
        for handle in await self._pool.adopt():
            with suppress(WorkerLost):  # at this moment: its leases are ended as those of other predecessors are
                held |= await self.welcome(handle)
        return held

    async def fill(self) -> None:
        """Begins to start what is missing; returns once there is one worker: the others' nodes may never come.

        Raises:
            WorkerLost: there is none, and one could not be started.
        """
        missing = self._state.config.workers - len(self.workers)
        needed = not self.workers
        for _ in range(missing - needed):
            self._start_soon()
        if needed:
            await self.welcome(await self._pool.start())

    async def welcome(self, handle: WorkerHandle) -> Mapping[int, int]:
        """Begins to use a worker; gives what it holds, session by fence."""
        worker = WorkerState(handle, self._state.config)
        held = (await handle.stats()).held
        worker.hold(*held)
        self.workers[handle.name] = worker
        worker.puller = asyncio.create_task(self._pull_loop(worker), name=f"pull-{handle.name}")
        log.info(LogEvent.WORKER_STARTED, worker=handle.name, slots=handle.slots, adopted=len(held))
        self._state.signals.worker_has_room()
        return held

    async def _pull_loop(self, worker: WorkerState) -> None:
        """Brings reports in until the worker is gone, or is of no use."""
        failures = 0
        while True:
            await self._state.signals.wait_to_pull()
            try:
                batch = await worker.handle.pull(worker.seen, worker.committed, self._pull_bytes)
                reports = batch.reports()
            except WorkerLost as error:
                if not self._state.signals.stopping and not worker.leaving:
                    await self.deregister(worker, str(error))
                return
            except Exception as error:  # the top of a loop
                # What was on its way is still with the worker: nothing is confirmed before it is committed.
                log.exception(LogEvent.LOOP_FAILED, loop="pull", worker=worker.name)
                failures += 1
                if failures >= _PULLS:
                    await self._give_up(worker, f"{failures} pulls failed: {error}")
                    return
                await asyncio.sleep(_AGAIN_S)
                continue
            failures = 0
            if reports:
                worker.seen = reports[-1].serial
                self._note(worker, reports, batch.sizes)

    @property
    def _pull_bytes(self) -> int:
        """Return what one pull may bring:
        pulls of all workers may be under way when it becomes too much, and come in yet.
        """
        return min(REPORT_BATCH_BYTES, self._state.config.held_bytes // max(1, len(self.workers)))

    def _note(self, worker: WorkerState, reports: list[Report], sizes: Sequence[int]) -> None:
        for report in reports:
            if report.outcome is not None:
                worker.worked = True
                worker.release(report.session, report.outcome.seconds)
        self._take_in(worker, reports, sizes)
        self._state.signals.worker_has_room()

    def has(self, worker: WorkerState) -> bool:
        """Return whether it is still one of these workers."""
        return self.workers.get(worker.name) is worker

    def hand_over(self, worker: WorkerState, works: list[Work]) -> None:
        """Begins to give claimed sessions to their worker: one that does not answer keeps no other waiting."""
        _begin(self._submit(worker, works), self._submitting, f"submit-{worker.name}")

    async def _submit(self, worker: WorkerState, works: list[Work]) -> None:
        try:
            if not self.has(worker):
                raise WorkerLost(f"{worker.name} was lost while sessions were claimed for it")
            await worker.handle.submit(works)
        except WorkerLost as error:  # its puller would see the same, but only when its long poll ends
            if worker.puller is not None:
                worker.puller.cancel()
            await self.deregister(worker, str(error))
        except Exception as error:  # the top of a loop: it would be lost otherwise
            log.exception(LogEvent.LOOP_FAILED, loop="submit", worker=worker.name)
            if worker.puller is not None:
                worker.puller.cancel()
            await self._give_up(worker, f"it takes no sessions: {error}")

    async def _give_up(self, worker: WorkerState, why: str) -> None:
        """A worker that lives, but cannot be worked with, is ended: it would go on with what others do by now."""
        await self.deregister(worker, why)
        await _end(worker)

    def tell(
        self,
        name: str,
        stop: Sequence[int],
        limits: Mapping[int, JobLimits],
        shown: Mapping[int, Sequence[LiveRequest]],
    ) -> None:
        """Begins to tell a worker which sessions to stop, what holds for the jobs of the others, and which of them
        people look at.

        It is said again with the next look, so a worker that has not answered yet is left alone.
        """
        worker = self.workers.get(name)
        if worker is not None and (worker.notifying is None or worker.notifying.done()):
            worker.notifying = asyncio.create_task(self._tell(worker, stop, limits, shown), name=f"tell-{name}")

    async def _tell(
        self,
        worker: WorkerState,
        stop: Sequence[int],
        limits: Mapping[int, JobLimits],
        shown: Mapping[int, Sequence[LiveRequest]],
    ) -> None:
        try:
            if stop:
                await worker.handle.cancel(stop)
            if limits:
                await worker.handle.limit(limits)
            if shown:
                await worker.handle.show(shown)
        except WorkerLost:
            return  # its puller deregisters it
        except Exception:  # the top of a loop
            log.exception(LogEvent.LOOP_FAILED, loop="tell", worker=worker.name)

    def spending(self) -> Counter[int]:
        """Model tokens that running attempts have spent, by job, as the workers last said.

        What has ended since is left out: the store counts it among what is over.
        """
        total = Counter[int]()
        for worker in self.workers.values():
            for (session, fence), spent in worker.spending.items():
                lease = self._state.leases.get(session)
                if lease is not None and lease.work.fence == fence:
                    total[lease.work.job] += spent
        return total

    async def deregister(self, worker: WorkerState, why: str) -> None:
        """A worker is gone: its leases end at once, and another takes its place."""
        if not self.has(worker):
            # Perhaps its leases were expired before, or while, the last ones were claimed for it.
            await self._expire_leases(worker.name)
            self._state.signals.store_changed()
            return
        del self.workers[worker.name]
        sessions = len(worker.held) + len(worker.in_runs)
        self._lost = self._lost.ended(why, loop_time() - worker.began, worked=worker.worked)
        self.losses, pause_s = self._lost.data(), self._lost.pause_s
        log.warning(LogEvent.WORKER_LOST, worker=worker.name, sessions=sessions, why=why, again_in_s=pause_s)
        self._state.metrics.forget(worker.name)
        self._state.metrics.delta.add("shoal_workers_lost")
        # Before anything is awaited: a second deregistration may cancel this call, and relies on this start.
        # Counted among those that start: `resize` must not start another for the same place.
        self._start_soon(pause_s)
        await self._expire_leases(worker.name)

    async def _start_one(self, pause_s: float) -> None:
        tries = Restarts()
        await asyncio.sleep(pause_s)
        while not self._state.signals.stopping:
            try:
                await self.welcome(await self._pool.start())
                return
            except WorkerLost as error:
                tries = tries.ended(str(error), 0.0)
                log.warning(LogEvent.WORKER_LOST, worker="", why=str(error), again_in_s=tries.pause_s)
            except Exception as error:  # the top of a loop: else the place would stay empty, and no log would say why
                tries = tries.ended(str(error), 0.0)
                log.exception(LogEvent.LOOP_FAILED, loop="start-worker")
            await asyncio.sleep(tries.pause_s)

    # --- more or fewer -------------------------------------------------------------------------------

    async def resize(self, size: int, elsewhere: int) -> None:
        """Begins to start workers that are missing, and lets those go that have held nothing for `idle_worker_s`.

        Nothing is waited for: the housekeeper, who asks for this, renews all leases.

        `elsewhere`: workers that other dispatchers on the same machines want.
        """
        if self._expecting is None or self._expecting.done():  # else it is asked with the next look
            self._expecting = asyncio.create_task(self._expect(size + elsewhere), name="expect-workers")
        staying = sum(not worker.leaving for worker in self.workers.values())
        for _ in range(size - staying - len(self._starting)):
            self._start_soon()
        now = loop_time()
        after = self._state.config.idle_worker_s
        idle = [
            candidate for candidate in self.workers.values() if not candidate.leaving and candidate.idle_s(now) >= after
        ]
        for worker in idle[: max(0, staying - size)]:
            worker.leaving = True
            _begin(self._let_go(worker), self._ending, f"end-{worker.name}")

    async def _expect(self, workers: int) -> None:
        try:
            await self._pool.expect(workers)
        except Exception:  # the top of a loop: it is said again with the next look
            log.exception(LogEvent.LOOP_FAILED, loop="expect-workers")

    def _start_soon(self, pause_s: float = 0.0) -> None:
        _begin(self._start_one(pause_s), self._starting, "start-worker")

    async def _let_go(self, worker: WorkerState) -> None:
        """Ends a worker that holds nothing, unless a claim that was under way has given it something."""
        await worker.settled.wait()
        if worker.holds or not self.has(worker):
            worker.leaving = False
            return
        del self.workers[worker.name]
        self._state.metrics.forget(worker.name)
        log.info(LogEvent.WORKER_STOPPED, worker=worker.name)
        await self._dismiss(worker)

    async def _dismiss(self, worker: WorkerState) -> None:
        """Ends a worker that is not one of these any more."""
        await _end(worker)
        if worker.puller is not None:
            worker.puller.cancel()

    def _make_way(self, stats: list[WorkerStats]) -> None:
        """Begins to replace workers whose node is about to end."""
        for stat in stats:
            worker = self.workers.get(stat.name)
            if stat.ends_in_s is not None and worker is not None:
                self._leave(worker, stat.ends_in_s)

    def replace(self, names: Iterable[str]) -> None:
        """Begins to replace these workers, where they are here: an operator wants it."""
        for name in names:
            if (worker := self.workers.get(name)) is not None:
                self._leave(worker, _LONGEST_WAY_S)

    def _leave(self, worker: WorkerState, within_s: float) -> None:
        """Begins to replace a worker: it is given nothing more, and what it runs ends within that time or goes on
        elsewhere."""
        if worker.leaving or self._state.signals.stopping:
            return
        worker.leaving = True
        log.info(LogEvent.WORKER_STOPPED, worker=worker.name, leaves_within_s=min(within_s, _LONGEST_WAY_S))
        self._start_soon()
        _begin(self._evacuate(worker, within_s), self._evacuating, f"evacuate-{worker.name}")

    @property
    def leaving(self) -> frozenset[str]:
        """Names of workers that are given nothing more."""
        return frozenset(worker.name for worker in self.workers.values() if worker.leaving)

    async def _evacuate(self, worker: WorkerState, within_s: float) -> None:
        """Lets what a worker runs end, and the worker too; what does not end in time goes on elsewhere."""
        await self._drain(worker, min(max(within_s - _MARGIN_S, 0.0), _LONGEST_WAY_S))
        self.workers.pop(worker.name, None)
        self._state.metrics.forget(worker.name)
        if worker.holds:  # it died, or did not say in time how they ended
            await self._expire_leases(worker.name)
        await self._dismiss(worker)

    # --- the end -------------------------------------------------------------------------------------

    async def drain(self) -> None:
        """Lets every worker finish; the pullers bring in what is left to say."""
        for task in (*self._starting, *self._evacuating):
            task.cancel()
        drain_s = self._state.config.drain_s
        await asyncio.gather(*(self._drain(worker, drain_s) for worker in self.workers.values()))

    async def _drain(self, worker: WorkerState, drain_s: float) -> None:
        try:
            await worker.handle.drain(drain_s)
            async with asyncio.timeout(_LAST_REPORTS_S):
                await worker.settled.wait()  # what it is still handed comes back at once
                await worker.empty.wait()
        except (WorkerLost, TimeoutError):
            return  # its leases run out

    async def end(self) -> None:
        """Ends the workers."""
        workers = list(self.workers.values())
        calls = [*self._submitting, *(task for worker in workers for task in (worker.puller, worker.notifying) if task)]
        calls += [self._expecting] if self._expecting else []
        for task in calls:
            task.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.gather(*self._ending, *(_end(worker) for worker in workers), return_exceptions=True)
        await self._pool.close()

    async def stats(self) -> list[WorkerStats]:
        """Return how those stand that answer."""

        async def one(worker: WorkerState) -> WorkerStats | None:
            try:
                async with asyncio.timeout(_STATS_S):
                    return await worker.handle.stats()
            except (WorkerLost, TimeoutError):
                return None

        answers = await asyncio.gather(*(one(worker) for worker in list(self.workers.values())))
        # The figures of a worker that was deregistered meanwhile are counted already.
        seen = [stats for stats in answers if stats is not None and stats.name in self.workers]
        self._state.metrics.workers(seen)
        for stats in seen:
            self.workers[stats.name].spending = stats.spending
        self._make_way(seen)
        return seen


async def _end(worker: WorkerState) -> None:
    """Ends a worker, whatever it answers."""
    try:
        async with asyncio.timeout(_END_S):
            await worker.handle.end()
    except WorkerLost:
        pass  # it is gone already
    except Exception:  # the top of a loop, and the end of its own time
        log.exception(LogEvent.LOOP_FAILED, loop="end-worker", worker=worker.name)


def _begin(what: Coroutine[None, None, None], tasks: set[asyncio.Task[None]], name: str) -> None:
    """Begins a task in the background; it is one of `tasks` until it is over."""
    task = asyncio.create_task(what, name=name)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
