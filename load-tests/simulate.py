"""A whole cluster in one process: the real dispatcher, store, fair order, politeness and sizing; browsers and sites are
only waited for.

The clock jumps over idle waits, and runs on by the CPU time that the dispatcher and the store (and, with them, what
simulates the workers) take. So a thousand nodes fit on a laptop that has other work too, throughput is what this
dispatcher reaches on such a machine, and when it is the bottleneck the figures say so. What a database server of its
own (`--store`) and the disk take is not in it.

    python load-tests/simulate.py --nodes 1000 --slots 50 --items 200000 --tenants 200 --domains 5000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import selectors
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench._loops import fan_out

from shoal.agent.errors import ServerBusy
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import LoopItem, Outcome, Usage
from shoal.agent.worker_messages import Answer, JobLimits, Report, Work
from shoal.services.browsers.pools.pool import WorkerHandle, WorkerStats
from shoal.services.browsers.reports.outbox import Outbox
from shoal.services.browsers.reports.report_batch import ReportBatch
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.interpreter import tune
from shoal.services.logs import set_up
from shoal.services.store.records import ClaimRequest, NewJob
from shoal.services.store.store import Store, open_store
from shoal.services.store.waiting_causes import WaitingCause

ENOUGH = 20
"""Items per tenant after which their shares are compared: fewer would show chance rather than fairness."""
FULL = 0.9
"""Slots that must be busy for shares to be compared: otherwise tenants wait for domains, not for each other."""
BUSY = 0.8
"""The dispatcher's part of the time from which on it is what slots wait for: the rest are its turns with the store."""
LOOK_S = 2.0
"""Virtual seconds between two looks at the cluster."""
TELL_S = 20.0
"""Real seconds between two reports of progress to a person who waits."""


# --- time --------------------------------------------------------------------------------------------


class JumpingSelector(selectors.DefaultSelector):
    """Waits for real things only; where there are none, the clock jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0.0  # seconds in which no call was at work
        self.at_work = 0  # calls in threads: what they take is real

    def select(self, timeout: float | None = None) -> Any:
        if self.at_work or timeout is None:
            return super().select(timeout)
        ready = super().select(0)
        if not ready:
            self.skipped += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose time jumps while nothing happens."""

    def __init__(self) -> None:
        self.clock = JumpingSelector()
        super().__init__(self.clock)

    def time(self) -> float:
        return time.process_time() + self.clock.skipped

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> Any:
        self.clock.at_work += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._done)
        return future

    def _done(self, _: Any) -> None:
        self.clock.at_work -= 1


# --- sites and browsers --------------------------------------------------------------------------------


@dataclass
class Site:
    """One domain: how long its pages take, how much it stands, what its robots.txt asks for."""

    seconds: float
    stands: int  # sessions at once; beyond that it answers 429
    crawl_delay_s: float | None
    now: int = 0
    most: int = 0
    refused: int = 0


@dataclass
class World:
    """Everything that is simulated, with what was seen."""

    sites: list[Site]
    dice: random.Random
    start_s: float  # until a new worker can take sessions: a node may have to be fetched
    served: Counter[str] = field(default_factory=Counter)  # items by tenant
    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))  # seconds of slots by tenant
    busy_slots: int = 0
    attempts: int = 0


class SimulatedWorker:
    """A `WorkerHandle` whose sessions only wait."""

    def __init__(self, name: str, slots: int, world: World) -> None:
        self._name = name
        self._slots = slots
        self._world = world
        self._queue: list[Work] = []
        self._running: dict[int, Work] = {}
        self._outbox = Outbox(needs_work=lambda: len(self._running) + len(self._queue) <= self._slots)

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        return self._slots

    async def submit(self, works: Sequence[Work]) -> None:
        self._queue += works
        self._fill()

    def _fill(self) -> None:
        world = self._world
        while self._queue and len(self._running) < self._slots:
            work = self._queue.pop(0)
            self._running[work.session] = work
            world.busy_slots += 1
            site = self._site(work)
            if site is not None:
                site.now += 1
                site.most = max(site.most, site.now)
            seconds = 0.01 if site is None else site.seconds * world.dice.lognormvariate(0, 0.4)
            refused = site is not None and site.now > site.stands
            asyncio.get_running_loop().call_later(0.2 if refused else seconds, self._end, work, seconds, refused)

    def _site(self, work: Work) -> Site | None:
        if work.item is None:
            return None
        return self._world.sites[int(work.item.value.split("/")[2].split(".")[0].removeprefix("h"))]

    def _end(self, work: Work, seconds: float, refused: bool) -> None:
        world = self._world
        del self._running[work.session]
        world.busy_slots -= 1
        world.attempts += 1
        site = self._site(work)
        outcome = Outcome(Status.COMPLETED, seconds=seconds)
        if site is not None:
            site.now -= 1
            outcome = Outcome(Status.COMPLETED, seconds=seconds, usage=Usage(pages=1), crawl_delay_s=site.crawl_delay_s)
        if site is not None and refused:
            site.refused += 1
            error = ServerBusy("429").info()
            outcome = Outcome(Status.FAILED, error=error, retry_after_s=10.0, seconds=0.2, usage=Usage(pages=1))
        elif site is not None:
            world.served[work.tenant] += 1
        world.spent[work.tenant] += outcome.seconds
        self._outbox.put(Report(work.session, work.fence, outcome=outcome))
        self._fill()

    async def pull(self, seen: int, committed: int, most_bytes: int) -> ReportBatch:
        self._outbox.confirm(committed, frozenset())
        return await self._outbox.pull(seen, 20.0, most_bytes)

    async def confirm(self, committed: int, refused: frozenset[int], answers: Mapping[int, Answer]) -> None:
        self._outbox.confirm(committed, refused, answers)

    async def cancel(self, sessions: Sequence[int]) -> None:
        """The simulation cancels no job."""

    async def limit(self, limits: Mapping[int, JobLimits]) -> None:
        """No job has a deadline or a budget here."""

    async def stats(self) -> WorkerStats:
        held = {work.session: work.fence for work in (*self._queue, *self._running.values())}
        return WorkerStats(self._name, self._slots, len(self._running), len(self._queue), 1, 0, held)

    async def drain(self, drain_s: float) -> None:
        self._queue.clear()

    async def end(self) -> None:
        self._queue.clear()


class SimulatedPool:
    """A `Pool` that has as many machines as are asked for, after a while."""

    def __init__(self, world: World, slots: int) -> None:
        self._world = world
        self._slots = slots
        self.started = 0
        self.expected = 0

    async def adopt(self) -> list[WorkerHandle]:
        return []

    async def start(self) -> WorkerHandle:
        self.started += 1
        name = f"node-{self.started}"
        await asyncio.sleep(self._world.dice.uniform(0.5, 1.5) * self._world.start_s)
        return SimulatedWorker(name, self._slots, self._world)

    async def expect(self, workers: int) -> None:
        self.expected = workers

    async def close(self) -> None:
        """Nothing is left."""


# --- the load --------------------------------------------------------------------------------------------


def sites_of(n: int, session_s: float, dice: random.Random) -> list[Site]:
    """A few sites are slow, stand little, or ask for a crawl-delay."""
    return [
        Site(
            seconds=session_s * dice.lognormvariate(0, 0.5),
            stands=dice.choice([2, 4, 100, 100, 100, 100, 100, 100, 100, 100]),
            crawl_delay_s=dice.choice([1.0] + [None] * 49),
        )
        for _ in range(n)
    ]


async def submit(store: Store, options: argparse.Namespace, dice: random.Random) -> list[int]:
    """Jobs of very different sizes for each tenant, each over some domains; all of them fan out here."""
    weights = [1 / (1 + rank) ** 0.5 for rank in range(options.tenants)]
    sizes: dict[int, int] = {}  # items, by job
    for tenant, weight in enumerate(weights):
        total = max(2, round(options.items * weight / sum(weights)))
        share = max(1, total // options.jobs_per_tenant)
        spec = JobSpec.model_validate({"url": "https://start.example/", "goal": "read", "max_attempts": 10})
        new = [NewJob(f"t{tenant}", spec, f"start-{tenant}.example")] * options.jobs_per_tenant
        sizes.update((done.job, share) for done in await store.submit(new))
    for partition in await store.partitions():
        (root,) = (
            await store.claim(["setup"], [ClaimRequest(partition.job, partition.domain, 0, 1)], lease_s=1e6)
        ).sessions
        await fan_out(store, root.work, some_links(sizes[partition.job], options.domains, dice))
    while (await store.materialize()).more:
        pass
    return list(sizes)


def some_links(n: int, domains: int, dice: random.Random) -> Iterator[LoopItem]:
    """The items of one loop, over a hundred domains at most."""
    mine = [dice.randrange(domains) for _ in range(min(domains, max(1, n // 4), 100))]
    return (LoopItem(i, f"https://h{mine[i % len(mine)]}.example/{i}", is_link=True) for i in range(n))


# --- looking ---------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """The figures that the looks saw."""

    waiting: Counter[str] = field(default_factory=Counter)  # partition-looks by cause
    fairness: list[float] = field(default_factory=list)  # Jain's index over tenants that wait for slots
    utilisation: list[float] = field(default_factory=list)
    served: list[int] = field(default_factory=list)  # items, at each look
    workers: list[int] = field(default_factory=list)
    causes_of_size: Counter[str] = field(default_factory=Counter)


def jain(values: Sequence[float]) -> float:
    """1: all alike; 1/n: one has everything."""
    squares = sum(value * value for value in values)
    return 1.0 if not squares else sum(values) ** 2 / (len(values) * squares)


async def look(dispatcher: Dispatcher, world: World, slots: int, seen: Seen, store: Store) -> None:
    """Looks until it is canceled."""
    served, spent = Counter[str](), dict[str, float]()  # at the last comparison
    waiting_tenants: set[str] = set()  # tenants that have waited for slots since then
    tell_at = time.monotonic()
    while True:
        await asyncio.sleep(LOOK_S)
        workers = len(dispatcher.workers)
        seen.workers.append(workers)
        seen.utilisation.append(world.busy_slots / max(1, workers * slots))
        seen.served.append(sum(world.served.values()))
        if time.monotonic() >= tell_at:
            tell_at = time.monotonic() + TELL_S
            print(f"{seen.served[-1]:10,} items, {workers} workers, {seen.utilisation[-1]:.0%} busy", file=sys.stderr)
        (snapshot, _) = (await store.states("dispatcher/")).get("dispatcher/main", ({}, 0))
        seen.waiting.update(snapshot.get("lanes_waiting", {}))
        if snapshot.get("size"):
            seen.causes_of_size[snapshot["size"]["why"]] += 1
        waiting_tenants &= set(snapshot.get("tenants", {}))
        ended = sum(world.served[name] - served[name] for name in waiting_tenants)
        full = seen.utilisation[-1] >= FULL
        if not waiting_tenants or not full or ended >= ENOUGH * len(waiting_tenants):
            if len(waiting_tenants) > 1 and full:
                seen.fairness.append(jain([world.spent[name] - spent.get(name, 0.0) for name in waiting_tenants]))
            served, spent = Counter(world.served), dict(world.spent)
            waiting_tenants = set(snapshot.get("tenants", {}))


def figures(options: argparse.Namespace, world: World, seen: Seen, virtual_s: float, work_s: float) -> dict[str, Any]:
    total = sum(world.served.values())
    waits = sum(seen.waiting.values()) or 1
    half = [busy for busy, served in zip(seen.utilisation, seen.served, strict=True) if served < total / 2] or [0.0]
    return {
        "nodes": options.nodes,
        "slots": options.nodes * options.slots,
        "items": total,
        "tenants": options.tenants,
        "domains": options.domains,
        "virtual_s": round(virtual_s, 1),
        "cpu_s": round(work_s, 1),
        "items_per_s": round(total / virtual_s, 1),
        "attempts_per_item": round(world.attempts / max(1, total), 3),
        "slots_busy_in_the_first_half": round(sum(half) / len(half), 3),
        "dispatcher_at_work": round(min(1.0, work_s / virtual_s), 3),
        "workers_most": max(seen.workers, default=0),
        "waiting_by_cause": {why: round(n / waits, 3) for why, n in seen.waiting.most_common()},
        "size_bounded_by": dict(seen.causes_of_size),
        "fairness_jain": round(sum(seen.fairness) / len(seen.fairness), 3) if seen.fairness else None,
        "fairness_looks": len(seen.fairness),
        "sites_over_their_limit": sum(site.most > options.per_domain for site in world.sites),
        "refused_by_sites": sum(site.refused for site in world.sites),
    }


def bottleneck(found: dict[str, Any]) -> str:
    """Return what bounds this run first."""
    if found["slots_busy_in_the_first_half"] > FULL:
        return "browser slots"
    if found["dispatcher_at_work"] > BUSY:
        return "the dispatcher and its store on this machine"
    causes = {why: share for why, share in found["waiting_by_cause"].items() if why != WaitingCause.SLOT}
    return max(causes, key=lambda why: causes[why]) if causes else "the number of items"


async def over(store: Store, jobs: Sequence[int]) -> None:
    """Returns when all jobs have ended."""
    seen = await store.changed(0)
    for job in jobs:
        while (await store.job(job)).finished_at is None:
            seen = await store.changed(5.0, since=seen)


async def simulate(options: argparse.Namespace, url: str) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, JumpingLoop)
    dice = random.Random(options.seed)
    epoch = time.time() - loop.time()
    store = await open_store(url, clock=lambda: epoch + loop.time())
    world = World(sites_of(options.domains, options.session_s, dice), dice, options.start_s)
    tune()
    jobs = await submit(store, options, dice)
    config = DispatchConfig(
        workers=max(1, options.nodes // 20),
        most_workers=options.nodes,
        per_domain=options.per_domain,
        lease_s=300,
        drain_s=1,
    )
    dispatcher = Dispatcher(store, SimulatedPool(world, options.slots), config, seed=options.seed)
    seen = Seen()
    began, work = loop.time(), time.process_time()
    await dispatcher.start()
    looking = asyncio.create_task(look(dispatcher, world, options.slots, seen, store))
    ended = asyncio.create_task(over(store, jobs))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.cancel)
    with suppress(TimeoutError, asyncio.CancelledError):
        await asyncio.wait_for(ended, options.limit_s)
    virtual_s, work_s = loop.time() - began, time.process_time() - work
    looking.cancel()
    await dispatcher.stop()
    await store.close()
    found = figures(options, world, seen, virtual_s, work_s)
    return {**found, "bottleneck": bottleneck(found)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000, help="workers, at most")
    parser.add_argument("--slots", type=int, default=50, help="of one worker")
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--tenants", type=int, default=200)
    parser.add_argument("--jobs-per-tenant", type=int, default=5)
    parser.add_argument("--domains", type=int, default=5000)
    parser.add_argument("--per-domain", type=int, default=8, help="sessions on one domain at once")
    parser.add_argument("--session-s", type=float, default=10.0, help="what a session takes, about")
    parser.add_argument("--start-s", type=float, default=20.0, help="what a new worker takes to start, about")
    parser.add_argument(
        "--limit-s",
        type=float,
        default=math.inf,
        help="virtual seconds after which it ends; SIGINT ends it too, with its figures",
    )
    parser.add_argument("--store", default="", help="URL of an empty database; default: SQLite in a temporary folder")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    set_up("error", "json")
    with TemporaryDirectory(prefix="shoal-simulate-") as folder, asyncio.Runner(loop_factory=JumpingLoop) as runner:
        url = options.store or f"sqlite:///{Path(folder) / 'shoal.db'}"
        print(json.dumps(runner.run(simulate(options, url)), indent=2))


if __name__ == "__main__":
    main()
