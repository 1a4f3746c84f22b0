"""One loop of many items: time until the first child can be claimed and until the last is stored, and memory.

From the moment that a worker begins to hand items on; what finding them takes is not in it.
"""

from __future__ import annotations

import gc
import time

import psutil
from _empty import databases, items, root_of, store_at
from _loops import fan_out, in_a_process_of_its_own, tell_of_one
from _report import Report, Target, arguments

from shoal.services.store.records import ClaimRequest

TARGETS = {100_000: {"first": 0.3, "all": 3.0}, 1_000_000: {"all": 30.0}}


async def one_loop(url: str, n: int) -> dict[str, float]:
    """Seconds and MiB of one loop of `n` items."""
    async with store_at(url) as store:
        some = list(items(n))  # kept to the end: memory is counted beyond them
        job, root = await root_of(store, "t")
        gc.collect()
        process = psutil.Process()
        before = most = process.memory_info().rss
        began = time.perf_counter()
        await fan_out(store, root, some)
        partitions = [partition for partition in await store.partitions() if partition.job == job]
        claims = await store.claim(
            "first", [ClaimRequest(job, partitions[0].domain, partitions[0].cursor, 1)], lease_s=600
        )
        first = time.perf_counter() - began
        assert len(claims.sessions) == 1
        while (await store.materialize()).more:
            most = max(most, process.memory_info().rss)
        everything = time.perf_counter() - began
        assert (await store.job(job)).counts.expected == n
        assert await store.ready_count(n + 1) == len(some) - 1
    return {"first": first, "all": everything, "memory": (most - before) / 2**20}


def main() -> None:
    if tell_of_one(one_loop):
        return
    parser = arguments(__doc__ or "")
    parser.add_argument("--sizes", default="", help="items, comma separated; default: 10000,100000")
    parser.add_argument("--rounds", type=int, default=0, help="default: 3, with --quick 1")
    parser.add_argument("--databases", default="sqlite,postgresql")
    options = parser.parse_args()
    sizes = [int(size) for size in (options.sizes or "10000,100000").split(",")]
    report = Report("fanout")
    for kind in options.databases.split(","):
        with databases(kind) as new:
            for _ in range(options.rounds or (1 if options.quick else 3)):
                for n in sizes:
                    found = in_a_process_of_its_own(__file__, new(), n)
                    for part, unit in (("first", "s"), ("all", "s"), ("memory", "MiB")):
                        name = f"{kind}, {n} items, {part}, {unit}"
                        report.add(name, found[part])
                        if part in TARGETS.get(n, {}):
                            report.targets[name] = Target(TARGETS[n][part], at_least=False)
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
