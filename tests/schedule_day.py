"""A day of schedules in simulated time, whose gateways and dispatcher are killed at random."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.schedules.firing import RunState
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.store.records import JobFilter, JobRow
from shoal.services.store.schedules import keeping, runs
from shoal.services.store.schedules.records import RunRow
from shoal.services.store.store import Store
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.schedules.scheduler import scheduler_of
from tests.doubles import FakeBrowser, FakePage
from tests.gateway_world import FixedNames
from tests.store_world import world
from tests.worker_world import EXTRACT, FakeParts

ZONES = ("Europe/Berlin", "America/New_York")
BEGIN = datetime.fromisoformat("2026-10-24T22:00:00+00:00").timestamp()
"""Midnight in Berlin, where this day has 25 hours."""
HOURS = 25
STEP_S = 60.0
SLOT_S = 5 * STEP_S
"""No time of these schedules lies between: a gateway that looks then has nothing to fire."""
MOST_KILLED = 3
"""Gateways in a row that are killed while they look, one a minute."""
BOUND_S = (MOST_KILLED + 1) * STEP_S
OVERLAPS = ("skip", "queue", "cancel")


def specs(daily: int, hourly: int) -> list[ScheduleSpec]:
    """Daily schedules, twice as many as hourly ones that come every six hours, over both zones and all overlaps."""
    made = []
    for n in range(daily + 3 * hourly):
        zone, overlap = ZONES[n % 2], OVERLAPS[n % 3]
        hour = str(n % 24) if n < daily else "*/6" if n < daily + 2 * hourly else "*"
        job = {"url": f"https://shop.example/{n}", "goal": "read it", "extract": EXTRACT}
        fields = {"name": f"s{n:03}", "job": job, "cron": f"{n * 35 % 60} {hour} * * *", "time_zone": zone}
        made.append(ScheduleSpec.model_validate(fields | {"overlap": overlap}))
    return made


def truth(spec: ScheduleSpec) -> Iterator[float]:
    """When a schedule comes, by a clock on the wall of its zone, looked at each minute."""
    assert spec.cron is not None
    minute, hour, *_ = spec.cron.split()
    zone, seen = ZoneInfo(spec.time_zone), set[str]()
    for n in range(1, HOURS * 60):
        moment = datetime.fromtimestamp(BEGIN + n * 60, zone)
        hours = range(24) if hour == "*" else range(0, 24, 6) if hour == "*/6" else [int(hour)]
        if moment.minute != int(minute) or moment.hour not in hours:
            continue
        wall = moment.strftime("%d %H:%M")
        if hour != "*" and wall in seen:  # an hour that is there twice
            continue
        seen.add(wall)
        yield moment.timestamp()


class MortalDispatcher:
    """A dispatcher with a worker, which dies without a word; after a while another takes its place."""

    def __init__(self, store: Store) -> None:
        self._store = store
        pages = {f"https://shop.example/{n}": FakePage(read={"n": n}) for n in range(500)}
        config = WorkerConfig(slots=4, artifacts_url="memory:")

        async def make(name: str) -> Worker:
            return Worker(name, config, FakeParts([], lambda: FakeBrowser(pages), config))

        self._pool = LocalPool(make, config.slots)
        self._dispatcher: Dispatcher | None = None
        self.killed = 0

    async def start(self) -> None:
        """Lets another take over: what the one before had leased, its worker may still hold."""
        if self._dispatcher is None:
            config = DispatchConfig(lease_s=2 * 3600.0, per_domain=50, drain_s=1.0)
            self._dispatcher = Dispatcher(self._store, self._pool, config, seed=1)
            await self._dispatcher.start()

    async def kill(self) -> None:
        """Ends it wherever it is."""
        if self._dispatcher is not None:
            manager = self._dispatcher._manager
            pulls = [worker.puller for worker in manager.workers.values() if worker.puller]
            manager.workers.clear()
            tasks = [*self._dispatcher._tasks, *pulls]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._dispatcher = None
            self.killed += 1

    async def stop(self) -> None:
        await self.start()
        assert self._dispatcher is not None
        await self._dispatcher.stop()


async def play(url: str, seed: int, *, daily: int, hourly: int) -> None:
    """Plays the day with so many schedules, and holds what the store has then against the truth."""
    dice = random.Random(seed)
    async with world(url) as w:
        w.clock.now = BEGIN
        stores = [w.store, await w.another()]
        made = specs(daily, hourly)
        await w.store._db.write(lambda tx: [keeping.put(tx, "acme", spec, None) for spec in made])
        dispatcher, away_until = MortalDispatcher(w.store), BEGIN
        killed = 0
        try:
            for slot in range(1, int(HOURS * 3600 / SLOT_S)):
                w.clock.now = BEGIN + slot * SLOT_S
                if w.clock.now >= away_until:
                    await dispatcher.start()
                for _ in range(dice.choice((0, 0, 1, 1, 2, MOST_KILLED))):
                    await look(dice.choice(stores), dice, kill=True)
                    w.clock.now += STEP_S
                    killed += 1
                if dice.random() < 0.06:
                    await dispatcher.kill()
                    away_until = w.clock.now + dice.randrange(2 * 3600)
                await look(dice.choice(stores), dice, kill=False)
        finally:
            await dispatcher.stop()
        assert killed > 100 and dispatcher.killed > 5
        jobs = {job.id: job for job in await w.store.jobs(JobFilter(limit=10_000))}
        runs_of = await w.store._db.read(lambda tx: [runs.newest(tx, "acme", spec.name, None, 1_000) for spec in made])
        for spec, told in zip(made, runs_of, strict=True):
            check(spec, told[::-1], jobs)
        states = Counter(run.state for told in runs_of for run in told)
        assert states[RunState.STARTED] > len(made) and states[RunState.SKIPPED], states
        keys = [job.spec.idempotency_key for job in jobs.values()]
        assert len(keys) == len(set(keys))
        assert any(job.cancel_requested for job in jobs.values()) and any(job.finished_at for job in jobs.values())


async def look(store: Store, dice: random.Random, *, kill: bool) -> None:
    """A gateway that has just started looks once; a killed one gets as far as it comes, and so do its transactions."""
    deps = GatewayDeps(store, MemoryArtifacts(), names=FixedNames())
    looking = asyncio.create_task(scheduler_of(deps).run_once())
    if kill:
        for _ in range(dice.randrange(40)):
            await asyncio.sleep(0)
        looking.cancel()
        await asyncio.wait([looking])
    else:
        await looking


def check(spec: ScheduleSpec, told: list[RunRow], jobs: dict[int, JobRow]) -> None:
    """Each time stands in one run, none is late, and runs keep out of each other's way as the schedule asks."""
    assert [run.at.timestamp() for run in told] == list(truth(spec)), spec.name
    assert {run.times for run in told} <= {1}
    started = [run for run in told if run.state is RunState.STARTED]
    assert all(run.late_s <= BOUND_S for run in told), spec.name
    assert len({run.job for run in started}) == len(started)
    for run, following in pairwise(started):
        job, began = jobs[run.job or 0], jobs[following.job or 0].created_at
        if spec.overlap == "cancel":
            assert job.cancel_requested or (job.finished_at is not None and job.finished_at <= began)
        else:
            assert job.finished_at is not None and job.finished_at <= began, "they do not overlap"
    states = {run.state for run in told}
    assert (
        states
        <= {
            "skip": {RunState.STARTED, RunState.SKIPPED},
            "queue": {RunState.STARTED, RunState.QUEUED},
            "cancel": {RunState.STARTED},
        }[spec.overlap]
    )
    for run in told:
        if run.state is RunState.SKIPPED:
            before = [jobs[each.job or 0] for each in started if each.fired_at <= run.fired_at]
            assert any(job.finished_at is None or job.finished_at >= run.fired_at for job in before)
