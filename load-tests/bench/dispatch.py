"""Empty sessions per second through store, dispatcher and Ray, with leases, fairness and politeness on.

Beside it: Ray's bare actor calls, and a bare loop of INSERT and UPDATE, one commit each, on the same database.
"""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import psycopg
import ray
from _empty import (
    DOMAINS,
    PER_DOMAIN,
    EmptyPool,
    EmptyWorker,
    databases,
    items,
    quiet_ray,
    root_of,
    store_at,
    unfold_all,
)
from _loops import fan_out
from _report import Report, Target, arguments

from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status
from shoal.services import interpreter
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.store.records import JobFilter, NewJob
from shoal.services.store.store import Store

TENANTS = 10
WORKERS = 2
SLOTS = 512
FLOOR_S = 2.0
JOB_TENANTS = 200
AT_ONCE = 1_000
"""Jobs that are submitted together."""
OPEN = tuple(status for status in Status if status not in FINAL)


async def fill(store: Store, n: int) -> list[int]:
    """`n` ready sessions: a loop for each tenant."""
    jobs = []
    for tenant in range(TENANTS):
        job, root = await root_of(store, f"t{tenant}")
        await fan_out(store, root, items(n // TENANTS))
        jobs.append(job)
    await unfold_all(store)
    return jobs


async def sessions_per_s(url: str, n: int) -> float:
    """From the moment that the workers are there until every session is durable and its job is over."""
    config = DispatchConfig(workers=WORKERS, per_domain=PER_DOMAIN, drain_s=1)
    async with store_at(url) as store:
        jobs = await fill(store, n)
        dispatcher = Dispatcher(store, EmptyPool(SLOTS), config)
        await dispatcher.start()
        began = time.perf_counter()  # nothing is claimed before this task waits for something
        for job in jobs:
            seen = await store.changed(0)
            while (await store.job(job)).counts.final < n // TENANTS:
                seen = await store.changed(5.0, since=seen)
        took = time.perf_counter() - began
        await dispatcher.stop()
    return n / took


async def jobs_per_s(url: str, n: int) -> float:
    """The same for `n` jobs of one session each, of many tenants and on all domains."""
    spec = JobSpec.model_validate({"url": "https://start.example/", "goal": "nothing"})
    config = DispatchConfig(workers=WORKERS, per_domain=PER_DOMAIN, drain_s=1)
    async with store_at(url) as store:
        jobs = [NewJob(f"t{i % JOB_TENANTS}", spec, f"h{i % DOMAINS}.example") for i in range(n)]
        for start in range(0, n, AT_ONCE):
            await store.submit(jobs[start : start + AT_ONCE])
        dispatcher = Dispatcher(store, EmptyPool(SLOTS), config)
        await dispatcher.start()
        began = time.perf_counter()
        seen = await store.changed(0)
        while await store.jobs(JobFilter(statuses=OPEN, limit=1)):
            seen = await store.changed(5.0, since=seen)
        took = time.perf_counter() - began
        await dispatcher.stop()
    return n / took


def bare_sqlite(url: str) -> float:
    """Rows per second that are inserted and then updated, each in a transaction of its own."""
    conn = sqlite3.connect(url.removeprefix("sqlite:///") + ".bare", isolation_level=None)
    for line in (
        "pragma journal_mode=WAL",
        "pragma synchronous=FULL",
        "create table s (id integer primary key, x int)",
    ):
        conn.execute(line)
    return _rows_per_s(lambda sql, values: conn.execute(sql.replace("%s", "?"), values), conn.close)


def bare_postgresql(url: str) -> float:
    """The same on PostgreSQL."""
    conn = psycopg.connect(url, autocommit=True)
    conn.execute("create table bare (id bigint primary key, x int)")
    return _rows_per_s(
        lambda sql, values: conn.execute(
            sql.replace("into s ", "into bare ").replace("update s", "update bare"), values
        ),
        conn.close,
    )


def _rows_per_s(execute: Callable[[str, tuple[Any, ...]], Any], close: Callable[[], None]) -> float:
    began, n = time.perf_counter(), 0
    while time.perf_counter() - began < FLOOR_S:
        execute("insert into s (id, x) values (%s, %s)", (n, 0))
        execute("update s set x = 1 where id = %s", (n,))
        n += 1
    close()
    return n / (time.perf_counter() - began)


async def ray_calls_per_s() -> float:
    """Calls of an empty method of an asyncio actor, a hundred under way at any time."""
    actor: Any = ray.remote(EmptyWorker)
    worker = actor.options(num_cpus=0, max_concurrency=1000).remote("floor", 1)
    await worker.nothing.remote()
    began = time.perf_counter()
    done = 0

    async def call() -> None:
        nonlocal done
        while time.perf_counter() - began < FLOOR_S:
            await worker.nothing.remote()
            done += 1

    await asyncio.gather(*(call() for _ in range(100)))
    took = time.perf_counter() - began
    ray.kill(worker)
    return done / took


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sizes", default="", help="sessions, comma separated; default: 10000,100000")
    parser.add_argument("--jobs", type=int, default=0, help="also so many jobs of one session each")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--databases", default="sqlite,postgresql")
    options = parser.parse_args()
    sizes = [int(size) for size in (options.sizes or ("10000" if options.quick else "10000,100000")).split(",")]
    report = Report("dispatch")
    interpreter.tune()  # as the dispatcher's own process does
    bare = {"sqlite": bare_sqlite, "postgresql": bare_postgresql}
    with quiet_ray():
        for _ in range(options.rounds):
            report.add("Ray, bare actor calls/s", asyncio.run(ray_calls_per_s()))
            for kind in options.databases.split(","):
                with databases(kind) as new:
                    report.add(f"{kind}, bare INSERT+UPDATE/s", bare[kind](new()))
                    for size in sizes:
                        rate = asyncio.run(sessions_per_s(new(), size))
                        name = f"{kind}, {size} sessions/s"
                        report.targets[name] = Target(8000)
                        report.add(name, rate)
                    if options.jobs:
                        report.add(f"{kind}, {options.jobs} jobs/s", asyncio.run(jobs_per_s(new(), options.jobs)))
                    if len(sizes) > 1:
                        first, last = (
                            report.samples[f"{kind}, {size} sessions/s"][-1] for size in (sizes[0], sizes[-1])
                        )
                        name = f"{kind}, cost of one of {sizes[-1]} to one of {sizes[0]}"
                        report.targets[name] = Target(1.2, at_least=False)
                        report.add(name, first / last)
    report.add("dispatcher, peak MiB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
