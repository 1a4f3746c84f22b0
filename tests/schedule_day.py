"""A day of 500 schedules in simulated time, whose gateways and dispatchers are killed at random."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.schedules.firing import RunState
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.store.records import JobFilter, JobRow
from shoal.services.store.schedules.records import RunRow
from shoal.services.store.store import Store
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.schedules.scheduler import scheduler_of
from tests.gateway_world import FixedNames
from tests.store_world import DONE, World, world

ZONES = ("Europe/Berlin", "America/New_York")
BEGIN = datetime.fromisoformat("2026-10-24T22:00:00+00:00").timestamp()
"""Midnight in Berlin, where this day has 25 hours."""
HOURS = 25
STEP_S = 60.0
MOST_KILLED = 3
"""Gateways in a row that are killed while they look."""
BOUND_S = (MOST_KILLED + 1) * STEP_S
OVERLAPS = ("skip", "queue", "cancel")


def specs() -> list[ScheduleSpec]:
    """440 daily schedules, 40 that come every six hours, 20 hourly ones, over both zones and all overlaps."""
    made = []
    for n in range(500):
        zone, overlap = ZONES[n % 2], OVERLAPS[n % 3]
        hour = str(n % 24) if n < 440 else "*/6" if n < 480 else "*"
        job = {"url": f"https://shop.example/{n}", "goal": "read it"}
        fields = {"name": f"s{n:03}", "job": job, "cron": f"{n * 7 % 60} {hour} * * *", "time_zone": zone}
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


async def play(url: str, seed: int) -> None:
    """Plays the day, and holds what the store has then against the truth."""
    dice = random.Random(seed)
    async with world(url) as w:
        w.clock.now = BEGIN
        stores = [w.store, await w.another()]
        made = specs()
        for spec in made:
            await w.store.schedules.put("acme", spec)
        killed = 0
        while w.clock.now < BEGIN + HOURS * 3600 - STEP_S:
            w.clock.now += STEP_S
            kill = killed < MOST_KILLED and dice.random() < 0.4
            killed = killed + 1 if kill else 0
            await look(dice.choice(stores), dice, kill=kill)
            await work(w, dice)
        await look(w.store, dice, kill=False)
        jobs = {job.id: job for job in await w.store.jobs(JobFilter(limit=10_000))}
        for spec in made:
            runs = (await w.store.schedules.runs("acme", spec.name, limit=1_000))[::-1]
            check(spec, runs, jobs)
        keys = [job.spec.idempotency_key for job in jobs.values()]
        assert len(keys) == len(set(keys))


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


async def work(w: World, dice: random.Random) -> None:
    """Dispatchers end some jobs after a while; a killed one leaves what it holds until its lease runs out."""
    if dice.random() < 0.5:
        return
    await w.store.expire_leases()
    held = await w.claim(8, lease_s=20 * STEP_S)
    if held and dice.random() < 0.8:
        await w.finish(*((each, DONE) for each in held if dice.random() < 0.9))


def check(spec: ScheduleSpec, runs: list[RunRow], jobs: dict[int, JobRow]) -> None:
    """Each time stands in one run, none is late, and runs keep out of each other's way as the schedule asks."""
    assert [run.at.timestamp() for run in runs] == list(truth(spec)), spec.name
    assert {run.times for run in runs} <= {1}
    started = [run for run in runs if run.state is RunState.STARTED]
    assert all(run.late_s <= BOUND_S for run in runs if run.state is not RunState.STARTED or spec.overlap != "queue")
    assert len({run.job for run in started}) == len(started)
    for run, following in pairwise(started):
        job = jobs[run.job or 0]
        if spec.overlap == "cancel":
            assert job.cancel_requested or (job.finished_at is not None and job.finished_at <= following.fired_at)
        else:
            assert job.finished_at is not None and job.finished_at <= following.fired_at, "they do not overlap"
    states = {run.state for run in runs}
    assert (
        states
        <= {
            "skip": {RunState.STARTED, RunState.SKIPPED},
            "queue": {RunState.STARTED, RunState.QUEUED},
            "cancel": {RunState.STARTED},
        }[spec.overlap]
    )
    for run in runs:
        if run.state is RunState.SKIPPED:
            before = [jobs[each.job or 0] for each in started if each.fired_at <= run.fired_at]
            assert any(job.finished_at is None or job.finished_at > run.fired_at for job in before)
