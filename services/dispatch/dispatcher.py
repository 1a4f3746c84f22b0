"""The dispatcher: claims ready sessions, hands them to workers, writes what became of them in groups.

Five loops run beside each other: the claimer, a puller per worker, the committer, the housekeeper (leases, deadlines,
snapshot) and the watcher (news in the store). Whatever they hold in memory can be lost: the truth is in the store, and
reports stay with their worker until they are committed.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from agent.errors import ServerBusy, Unexpected
from agent.status import FINAL, Status
from agent.types import Outcome
from agent.work import Report, Work
from services.browsers.pool import Pool, WorkerHandle, WorkerLost, WorkerStats
from services.dispatch.config import DispatchConfig
from services.dispatch.domains import Domains
from services.dispatch.lanes import Lanes, Scarce
from services.dispatch.model_bound import ModelBound
from services.dispatch.retry import decide
from services.errors import StoreAway
from services.events import LogEvent
from services.inference.watch import Admission
from services.store.records import Claimed, Finish, Lane, Renewal, Written
from services.store.store import Store

log = structlog.get_logger()

_HOUSEKEEPING_S = 2.0
_NEWS_S = 5.0
"""Longest wait for news; lanes are looked at that often in any case."""

_REFRESH_S = 0.2
"""News in the store are looked at that often at most: this dispatcher's own commits are news too."""

_LAST_REPORTS_S = 5.0
"""How long the last reports of a drained worker may take to arrive."""

_SMOOTHING = 0.1
"""Share of the newest session in what one takes."""

_AWAY_S = 0.5
"""Pause between two tries while the store is away."""


@dataclass(slots=True)
class _Worker:
    handle: WorkerHandle
    config: DispatchConfig
    held: set[int] = field(default_factory=set)
    empty: asyncio.Event = field(default_factory=asyncio.Event)  # it holds nothing
    committed: int = 0  # serial number up to which the store has everything and refused nothing
    seen: int = 0  # serial number of the last report pulled
    puller: asyncio.Task[None] | None = None
    session_s: float = 1.0  # what a session takes, smoothed

    @property
    def capacity(self) -> int:
        """Sessions that it may hold: long ones are not taken ahead of time, when another worker may be free sooner."""
        slots = self.handle.slots
        ahead = self.config.ahead_s / max(self.session_s, 0.001)
        return slots + math.ceil(slots * min(self.config.prefetch, ahead))

    @property
    def credit(self) -> int:
        return max(0, self.capacity - len(self.held))

    @property
    def free(self) -> int:
        """Slots that would run dry without a claim."""
        return max(0, self.handle.slots - len(self.held))

    @property
    def wants_more(self) -> bool:
        """Whether a claim is worth its price: in quarters of what the worker may hold, before its slots run dry."""
        return self.credit > 0 and (self.credit >= self.capacity // 4 or len(self.held) <= self.handle.slots)

    def hold(self, *sessions: int) -> None:
        self.held.update(sessions)
        self._note()

    def release(self, session: int) -> None:
        self.held.discard(session)
        self._note()

    def _note(self) -> None:
        if self.held:
            self.empty.clear()
        else:
            self.empty.set()


@dataclass(frozen=True, slots=True)
class _Lease:
    work: Work
    domain: int
    worker: str


@dataclass(slots=True)
class _Rate:
    """Sessions that ended, for the snapshot's rate."""

    ended: int = 0
    failed: int = 0


class Dispatcher:
    """Runs until it is stopped; `start` returns once workers can take sessions."""

    def __init__(
        self,
        store: Store,
        pool: Pool,
        config: DispatchConfig,
        *,
        admission: Admission | None = None,
        seed: int | None = None,
    ) -> None:
        self._store = store
        self._pool = pool
        self._config = config
        self._dice = random.Random(seed)
        self._lanes = Lanes()
        self._domains = Domains(config.per_domain)
        self._admission = admission or (Admission(config.admission) if config.admission else None)
        self._model_bound = ModelBound(self._admission, store) if self._admission else None
        self._workers: dict[str, _Worker] = {}
        self._leases: dict[int, _Lease] = {}
        self._reports: list[tuple[_Worker, Report]] = []
        self._wake = asyncio.Event()  # there may be something to claim, and room for it
        self._news = asyncio.Event()  # reports to commit
        self._unborn = asyncio.Event()  # long loops have children to be stored
        self._unborn.set()  # an earlier dispatcher may have left some
        self._room = asyncio.Event()  # the committer is not too far behind
        self._room.set()
        self._stale = True  # the lanes must be read anew
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self._store_away = False
        self._rate = _Rate()

    # --- life ----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Adopts or starts the workers, then begins to claim.

        Raises:
            WorkerLost: not even one worker could be started.
        """
        for handle in await self._pool.adopt():
            await self._welcome(handle)
        await self._bury_predecessors()
        missing = self._config.workers - len(self._workers)
        for handle in await asyncio.gather(*(self._pool.start() for _ in range(missing))):
            await self._welcome(handle)
        loops = [
            self._claim_loop,
            self._commit_loop,
            self._unfold_loop,
            self._housekeeping_loop,
            self._watch_loop,
        ]
        if self._admission is not None:
            self._admission.changed = self._wake.set
            loops.append(self._admission_loop)
        self._tasks = [asyncio.create_task(self._forever(loop), name=loop.__name__) for loop in loops]

    async def _bury_predecessors(self) -> None:
        """Ends the leases of workers that an earlier dispatcher of this name had, and that are not there any more."""
        known = await self._store.states(f"dispatcher/{self._config.name}")
        for snapshot, _ in known.values():
            for worker in snapshot.get("workers", ()):
                if worker["name"] not in self._workers:
                    await self._reap(owner=worker["name"])

    async def stop(self) -> None:
        """Claims no more, lets running sessions end for `drain_s`, commits what they report, ends the workers."""
        self._stopping = True
        self._wake.set()
        workers = list(self._workers.values())
        await asyncio.gather(*(self._drain(worker) for worker in workers))
        await self._commit_rest()
        everything = [*self._tasks, *(worker.puller for worker in workers if worker.puller)]
        for task in everything:
            task.cancel()
        await asyncio.gather(*everything, return_exceptions=True)
        await asyncio.gather(*(worker.handle.end() for worker in workers), return_exceptions=True)
        await self._pool.close()

    async def _drain(self, worker: _Worker) -> None:
        """Lets one worker finish; its puller brings in what it has left to say."""
        try:
            await worker.handle.drain(self._config.drain_s)
            async with asyncio.timeout(_LAST_REPORTS_S):
                await worker.empty.wait()
        except (WorkerLost, TimeoutError):
            return  # its leases run out

    async def _commit_rest(self) -> None:
        try:
            async with asyncio.timeout(5):
                while self._reports:
                    await self._commit(self._take_reports())
        except (TimeoutError, StoreAway):
            log.warning(LogEvent.STORE_AWAY, lost_reports=len(self._reports))

    async def _forever(self, loop: Any) -> None:
        """Keeps one loop running: what nobody foresaw is logged, and the loop goes on."""
        while True:
            try:
                await loop()
            except StoreAway as error:
                self._note_store(away=True, error=str(error))
            except Exception:  # the top of a loop
                log.exception(LogEvent.LOOP_FAILED, loop=loop.__name__)
            await asyncio.sleep(_AWAY_S)

    def _note_store(self, *, away: bool, error: str = "") -> None:
        if away and not self._store_away:
            log.warning(LogEvent.STORE_AWAY, error=error)
        elif self._store_away and not away:
            log.info(LogEvent.STORE_BACK)
        self._store_away = away

    # --- workers -------------------------------------------------------------------------------------

    async def _welcome(self, handle: WorkerHandle) -> None:
        """Begins to use a worker; one that an earlier dispatcher left running goes on with what it holds."""
        worker = _Worker(handle, self._config)
        worker.hold(*(await handle.stats()).held)
        self._workers[handle.name] = worker
        worker.puller = asyncio.create_task(self._pull_loop(worker), name=f"pull-{handle.name}")
        log.info(LogEvent.WORKER_STARTED, worker=handle.name, slots=handle.slots, adopted=len(worker.held))
        self._wake.set()

    async def _pull_loop(self, worker: _Worker) -> None:
        """Brings reports in until the worker is gone."""
        while True:
            await self._room.wait()
            try:
                reports = await worker.handle.pull(worker.seen, worker.committed)
            except WorkerLost as error:
                if not self._stopping:
                    await self._bury(worker, str(error))
                return
            if reports:
                worker.seen = reports[-1].serial
                self._take_in(worker, reports)

    def _take_in(self, worker: _Worker, reports: list[Report]) -> None:
        for report in reports:
            if report.outcome is not None:
                worker.release(report.session)
                worker.session_s += (report.outcome.seconds - worker.session_s) * _SMOOTHING
            self._reports.append((worker, report))
        self._news.set()
        self._wake.set()
        if len(self._reports) >= self._config.held_reports:
            self._room.clear()

    async def _bury(self, worker: _Worker, why: str) -> None:
        """A worker is gone: its leases end at once, and another takes its place."""
        if self._workers.pop(worker.handle.name, None) is None:
            return  # somebody else did
        log.warning(LogEvent.WORKER_LOST, worker=worker.handle.name, sessions=len(worker.held), why=why)
        await self._until_store_answers(self._reap(owner=worker.handle.name))
        while not self._stopping:
            try:
                await self._welcome(await self._pool.start())
                return
            except WorkerLost as error:
                log.warning(LogEvent.WORKER_LOST, worker="", why=str(error))
                await asyncio.sleep(_AWAY_S)

    async def _until_store_answers(self, call: Coroutine[Any, Any, None]) -> None:
        try:
            await call
        except StoreAway as error:  # the housekeeper reaps the leases when they run out
            self._note_store(away=True, error=str(error))

    # --- claiming ------------------------------------------------------------------------------------

    async def _claim_loop(self) -> None:
        while not self._stopping:
            await self._wait_for_work()
            if not any(worker.wants_more for worker in self._workers.values()):
                continue  # nobody could take what the lanes have; whoever can, wakes this loop
            if self._stale:
                self._stale = False
                self._lanes.replace(await self._store.lanes())
                self._note_store(away=False)
            while not self._stopping and await self._claim_once():
                pass

    async def _wait_for_work(self) -> None:
        """Until something may have changed, or a domain's pause is over."""
        pause = self._domains.next_change(time.monotonic()) if len(self._lanes) else None
        try:
            async with asyncio.timeout(pause):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def _claim_once(self) -> bool:
        """One claim for the worker with the most room; False when there was nothing to do."""
        worker = max((w for w in self._workers.values() if w.wants_more), key=lambda w: w.credit, default=None)
        if worker is None or not self._room.is_set():
            return False
        others_starve = any(other.free for other in self._workers.values() if other is not worker)
        # Work ahead of time waits until nobody's slots are empty: a domain with few places would lose them to a queue.
        wanted = worker.free if others_starve and worker.free else worker.credit
        scarce = await self._scarce()
        now = time.monotonic()
        takes = self._lanes.choose(wanted, lambda lane: self._room_in(lane, now), scarce)
        if not takes:
            return False
        claimed = await self._store.claim(worker.handle.name, takes, lease_s=self._config.lease_s)
        got: dict[tuple[int, int], int] = {}
        for one in claimed:
            self._lease(worker, one, now)
            key = (one.work.job, one.domain)
            got[key] = got.get(key, 0) + 1
            self._lanes.advance(*key, one.work.session)
        for take in takes:
            if got.get((take.job, take.domain), 0) < take.n:
                self._lanes.drop(take.job, take.domain)
        if claimed:
            await self._hand_over(worker, [one.work for one in claimed])
        return True

    async def _scarce(self) -> Scarce | None:
        """The places at the model server that are left; None where nobody has to wait for one."""
        if self._model_bound is None:
            return None
        running = Counter(lease.work.job for lease in self._leases.values())
        return await self._model_bound.scarce(self._lanes, running)

    def _room_in(self, lane: Lane, now: float) -> int:
        return self._domains.room(lane.domain, lane.job, lane.politeness, now)

    def _lease(self, worker: _Worker, one: Claimed, now: float) -> None:
        self._leases[one.work.session] = _Lease(one.work, one.domain, worker.handle.name)
        worker.hold(one.work.session)
        self._domains.started(one.domain, one.work.job, one.work.spec.politeness.delay_s, now)

    async def _hand_over(self, worker: _Worker, works: list[Work]) -> None:
        try:
            await worker.handle.submit(works)
        except WorkerLost as error:  # its puller would see the same, but only when its long poll ends
            if worker.puller is not None:
                worker.puller.cancel()
            await self._bury(worker, str(error))

    # --- committing ----------------------------------------------------------------------------------

    async def _commit_loop(self) -> None:
        while True:
            await self._news.wait()
            if len(self._reports) < self._config.group:
                await asyncio.sleep(self._config.group_s)
            batch = self._take_reports()
            try:
                await self._commit(batch)
            except StoreAway:
                self._reports[:0] = batch
                raise
            self._note_store(away=False)
            if len(self._reports) < self._config.held_reports:
                self._room.set()

    def _take_reports(self) -> list[tuple[_Worker, Report]]:
        batch = self._reports[: self._config.group]
        del self._reports[: self._config.group]
        if not self._reports:
            self._news.clear()
        return batch

    async def _commit(self, batch: list[tuple[_Worker, Report]]) -> None:
        """Writes a batch, then tells each worker what the store has."""
        refused: set[tuple[str, int]] = set()
        for worker, report in batch:
            if report.checkpoint is not None:
                kept = await self._store.checkpoint(report.session, report.fence, report.checkpoint)
                if not kept:
                    refused.add((worker.handle.name, report.serial))
        finishes = [self._decide(report) for _, report in batch if report.outcome is not None]
        if finishes:
            await self._finish(finishes)
        await self._confirm(batch, refused)

    def _decide(self, report: Report) -> Finish:
        assert report.outcome is not None
        lease = self._leases.get(report.session)
        if lease is None or lease.work.fence != report.fence:
            # Claimed by an earlier dispatcher: its Work is not here, and no retry is decided without it.
            return Finish(report.session, report.fence, report.outcome)
        return decide(lease.work, report.outcome, max_attempts=self._config.max_attempts, dice=self._dice)

    async def _finish(self, group: list[Finish]) -> None:
        try:
            written = await self._store.finish(group)
        except StoreAway:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the others' outcomes must not wait behind it
            written = await self._finish_singly(group, error)
        self._settle(group, written)

    async def _finish_singly(self, group: list[Finish], error: Exception) -> Written:
        """One outcome that cannot be stored must not keep the others back: each is written by itself."""
        log.exception(LogEvent.LOOP_FAILED, loop="finish", group=len(group))
        if len(group) == 1:
            told = Unexpected(f"the outcome could not be stored: {type(error).__name__}: {error}")
            bare = Outcome(Status.FAILED, error=told.info(), reason=told.message)
            return await self._store.finish([replace(group[0], outcome=bare)])
        parts = []
        for one in group:
            try:
                parts.append(await self._store.finish([one]))
            except StoreAway:
                raise
            except Exception as single:  # noqa: BLE001  this is the one
                parts.append(await self._finish_singly([one], single))
        return Written(
            accepted=frozenset().union(*(part.accepted for part in parts)),
            late=frozenset().union(*(part.late for part in parts)),
            ready=tuple(lane for part in parts for lane in part.ready),
            finished_jobs=tuple(job for part in parts for job in part.finished_jobs),
        )

    def _settle(self, group: list[Finish], written: Written) -> None:
        """Brings the dispatcher's own bookkeeping up to what was written."""
        now = time.monotonic()
        for one in group:
            if one.session in written.late:
                log.info(LogEvent.REPORT_LATE, session=one.session)
            self._end_lease(one, now)
        self._lanes.add(written.ready)
        self._wake.set()
        if written.unborn:
            self._unborn.set()

    def _end_lease(self, one: Finish, now: float) -> None:
        lease = self._leases.get(one.session)
        if lease is None or lease.work.fence != one.fence:
            return
        del self._leases[one.session]
        outcome = one.outcome
        busy = outcome.error is not None and outcome.error.code == ServerBusy.code
        wish = (outcome.retry_after_s or 0.0) if busy else None
        self._domains.ended(lease.domain, lease.work.job, busy_s=wish, asked=outcome.usage.pages > 0, now=now)
        if outcome.status in FINAL:
            self._rate.ended += 1
            self._rate.failed += outcome.status is not Status.COMPLETED

    async def _confirm(self, batch: list[tuple[_Worker, Report]], refused: set[tuple[str, int]]) -> None:
        """Tells workers what was committed: at once where a session waits for it, else with the next pull."""
        committed: dict[str, tuple[_Worker, int]] = {}
        waited_for: set[str] = set()
        for worker, report in batch:
            committed[worker.handle.name] = (worker, report.serial)
            if report.wants_ack:
                waited_for.add(worker.handle.name)
        for name, (worker, serial) in committed.items():
            late = frozenset(number for owner, number in refused if owner == name)
            worker.committed = serial
            if name not in waited_for:
                continue
            try:
                await worker.handle.confirm(serial, late)
            except WorkerLost:
                continue  # its puller buries it

    # --- long loops ----------------------------------------------------------------------------------

    async def _unfold_loop(self) -> None:
        """Stores what long loops have left for later, piece by piece, between claims and commits."""
        while True:
            await self._unborn.wait()
            self._unborn.clear()
            while (piece := await self._store.unfold()).more:
                self._lanes.add(piece.ready)
                self._wake.set()

    # --- housekeeping --------------------------------------------------------------------------------

    async def _housekeeping_loop(self) -> None:
        while True:
            await self._renew()
            await self._reap()
            await self._store.expire_deadlines()
            await self._wake_when_due()
            self._unborn.set()  # another dispatcher may have died in the middle of a loop
            await self._snapshot()
            await asyncio.sleep(_HOUSEKEEPING_S / 2)
            await self._renew()  # twice as often: this is what stops sessions that are not wanted any more
            await asyncio.sleep(_HOUSEKEEPING_S / 2)

    async def _renew(self) -> None:
        """Extends our leases; sessions that are not ours or not wanted any more are stopped where they run."""
        leases = [Renewal(session, lease.work.fence) for session, lease in self._leases.items()]
        if not leases:
            return
        kept = await self._store.renew(leases, lease_s=self._config.lease_s)
        unwanted: dict[str, list[int]] = {}
        for renewal in leases:
            lease = self._leases.get(renewal.session)
            if lease is not None and lease.work.fence == renewal.fence and renewal.session not in kept:
                unwanted.setdefault(lease.worker, []).append(renewal.session)
        for name, sessions in unwanted.items():
            if (worker := self._workers.get(name)) is not None:
                try:
                    await worker.handle.cancel(sessions)
                except WorkerLost:
                    continue  # its puller buries it

    async def _reap(self, owner: str | None = None) -> None:
        freed = await self._store.reap(owner=owner)
        now = time.monotonic()
        for one in freed:
            log.warning(LogEvent.LEASE_REAPED, session=one.session, job=one.job, status=one.status)
            if (lease := self._leases.pop(one.session, None)) is not None:
                self._domains.ended(lease.domain, lease.work.job, busy_s=None, asked=False, now=now)
        if freed:
            self._look_again()

    async def _wake_when_due(self) -> None:
        """Reads the lanes anew when a session's pause ends before the next look."""
        due = await self._store.next_ready_in_s()
        if due is not None and due <= _HOUSEKEEPING_S:
            asyncio.get_running_loop().call_later(max(due, 0.0), self._look_again)

    def _look_again(self) -> None:
        self._stale = True
        self._wake.set()

    async def _watch_loop(self) -> None:
        seen: int | None = None
        while True:
            seen = await self._store.changed(_NEWS_S, since=seen)
            self._look_again()
            await asyncio.sleep(_REFRESH_S)

    def waiting(self) -> dict[str, int]:
        """Lanes with ready sessions, by what they wait for."""
        now = time.monotonic()
        waiting: dict[str, int] = {}
        for lane in self._lanes:
            why = self._domains.why(lane.domain, now) or self._why_model(lane) or "a free slot"
            waiting[why] = waiting.get(why, 0) + 1
        return waiting

    def _why_model(self, lane: Lane) -> str | None:
        return self._model_bound.why(lane) if self._model_bound else None

    async def _admission_loop(self) -> None:
        assert self._admission is not None
        await self._admission.run()

    # --- telling -------------------------------------------------------------------------------------

    async def _snapshot(self) -> None:
        """What `/v1/status`, the metrics and the dashboard show of this dispatcher."""
        stats = [s for s in await asyncio.gather(*map(self._stats_of, list(self._workers.values()))) if s]
        snapshot = {
            "workers": [
                {
                    "name": s.name,
                    "slots": s.slots,
                    "busy": s.busy,
                    "waiting": s.waiting,
                    "browsers": s.browsers,
                    "browser_restarts": s.browser_restarts,
                    "rss_bytes": s.rss_bytes,
                }
                for s in stats
            ],
            "slots": sum(s.slots for s in stats),
            "busy": sum(s.busy for s in stats),
            "leases": len(self._leases),
            "uncommitted": len(self._reports),
            "lanes_waiting": self.waiting(),
            "model": self._admission.snapshot() if self._admission else None,
            "ended": self._rate.ended,
            "failed": self._rate.failed,
        }
        await self._store.put_state(f"dispatcher/{self._config.name}", snapshot)

    async def _stats_of(self, worker: _Worker) -> WorkerStats | None:
        try:
            return await worker.handle.stats()
        except WorkerLost:
            return None

    @property
    def workers(self) -> list[str]:
        """Names of the workers in use."""
        return list(self._workers)
