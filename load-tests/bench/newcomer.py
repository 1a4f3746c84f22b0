"""Seconds from handing a job in until it is claimed, while many partitions (a job on a domain) of others wait.

Those keep a pause of an hour between their sessions, so each is parked after its first. What is left is how soon a
dispatcher learns of what a gateway stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from _empty import EmptyPool, databases, quiet_ray, store_at, unfold_all
from _loops import fan_out
from _report import Report, Target, arguments

from shoal.agent.spec import JobSpec
from shoal.agent.types import LoopItem
from shoal.services import interpreter
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.store.records import ClaimRequest, JobRow, NewJob
from shoal.services.store.store import Store

JOBS = 10
EACH = 2
"""Items of a partition: the one that is let out, and one that waits."""
SLOTS = 512
START = "https://start.example/"
GENTLE = JobSpec.model_validate({"url": START, "goal": "nothing", "politeness": {"delay_s": 3600}})
PLAIN = JobSpec.model_validate({"url": START, "goal": "nothing"})


def items(partitions: int) -> Iterator[LoopItem]:
    """Two items for each of so many domains."""
    return (LoopItem(i, f"https://h{i % partitions}.example/{i}", is_link=True) for i in range(EACH * partitions))


async def fill(store: Store, partitions: int) -> list[int]:
    """So many partitions, a tenth of them of each job; gives the jobs."""
    jobs = [done.job for done in await store.submit([NewJob("big", GENTLE, f"start{n}.example") for n in range(JOBS)])]
    takes = [ClaimRequest(partition.job, partition.domain, 0, 1) for partition in await store.partitions()]
    for root in (await store.claim("bench", takes, lease_s=600)).sessions:
        await fan_out(store, root.work, items(partitions // JOBS))
    await unfold_all(store)
    return jobs


async def completed(store: Store, job: int, least: int) -> JobRow:
    """The job, once so many of its sessions are completed."""
    seen = await store.changed(0)
    while (row := await store.job(job)).counts.completed < least:
        seen = await store.changed(5.0, since=seen)
    return row


async def waits(url: str, partitions: int, newcomers: int) -> list[float]:
    """Return what each newcomer waited."""
    found = []
    async with store_at(url) as store, store_at(url) as gateway:
        jobs = await fill(store, partitions)
        dispatcher = Dispatcher(store, EmptyPool(SLOTS), DispatchConfig(per_domain=JOBS, drain_s=1))
        await dispatcher.start()
        for job in jobs:
            await completed(store, job, partitions // JOBS)
        for n in range(newcomers):
            (done,) = await gateway.submit([NewJob("small", PLAIN, f"new{n}.example")])
            row = await completed(gateway, done.job, 1)
            assert row.started_at is not None
            found.append((row.started_at - row.created_at).total_seconds())
        await dispatcher.stop()
    return found


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--partitions", default="", help="comma separated; default: 10000,100000")
    parser.add_argument("--rounds", type=int, default=20, help="newcomers, one after the other")
    parser.add_argument("--databases", default="sqlite,postgresql")
    options = parser.parse_args()
    report = Report("newcomer")
    interpreter.tune()  # as the dispatcher's own process does
    with quiet_ray():
        for kind in options.databases.split(","):
            with databases(kind) as new:
                for partitions in map(
                    int, (options.partitions or ("10000" if options.quick else "10000,100000")).split(",")
                ):
                    name = f"{kind}, {partitions} partitions, s"
                    report.targets[name] = Target(1.0, at_least=False)
                    for wait in asyncio.run(waits(new(), partitions, options.rounds)):
                        report.add(name, wait)
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
