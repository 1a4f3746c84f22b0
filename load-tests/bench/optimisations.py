"""What each optimisation of the product saves, with it and without it in turns. Ends with 1 where one saves too little.

Docs/architecture.md names them ("Faster than simple"). One that is below its bound here goes, or has its bound
explained anew. Costs are CPU seconds of all processes where it is about CPU: they bear a busy machine.

    python load-tests/bench/optimisations.py [--rounds 5] [--only NAME] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import psutil
import psycopg
from _empty import databases, items, root_of, store_at, unfold_all
from _loops import fan_out
from _processes import cpu_s
from _report import Report, Target, arguments
from _site import demo_site, products
from pages import READ

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.chromium.process.launch import launch
from shoal.agent.sessions.loops.compressed_items import compress_items
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services import interpreter
from shoal.services.store.database import codec, database
from shoal.services.store.records import ClaimRequest, Finish
from shoal.services.store.store import Store

PAGES = 30
SESSIONS = 6_000
IDS = 2_000
ITEMS = 20_000


@dataclass(frozen=True)
class Optimisation:
    """One thing that is done for speed alone."""

    what: str
    least: float  # so many times the cost without it
    cost: Callable[[bool], Awaitable[float]]  # with it, or without it


# --- pages ------------------------------------------------------------------------------------------------


def _taken(besides: Collection[psutil.Process]) -> float:
    """CPU seconds so far of this process and those that it has started, but for the site's."""
    me = psutil.Process()
    return cpu_s([me, *(one for one in me.children(recursive=True) if one not in besides)])


async def _pages(
    browser: Browser, urls: list[str], options: ContextOptions, besides: Collection[psutil.Process]
) -> float:
    """CPU seconds of this process, the driver and Chromium for opening and reading some pages."""
    before = _taken(besides)
    for url in urls:
        page = await browser.new_context(options)
        try:
            await page.goto(url)
            await page.read(READ)
        finally:
            await page.close()
    return _taken(besides) - before


# --- the store --------------------------------------------------------------------------------------------


async def _ends(store: Store, *, each: int = 200) -> None:
    """Claims and ends everything that is ready, as a dispatcher does."""
    while partitions := await store.partitions():
        takes = [ClaimRequest(one.job, one.domain, one.cursor, 1) for one in partitions[:each]]
        claims = await store.claim("bench", takes, lease_s=600)
        if not claims.sessions:
            return
        done = [Finish(one.work.session, one.work.fence, Outcome(Status.COMPLETED)) for one in claims.sessions]
        await store.finish(done)


async def _filled(store: Store, n: int) -> None:
    _, root = await root_of(store, "t")
    await fan_out(store, root, items(n))
    await unfold_all(store)


async def _child(n: int) -> None:
    """Prints the CPU seconds that this process takes to claim and end `n` sessions."""
    with databases("sqlite") as new:
        async with store_at(new()) as store:
            await _filled(store, n)
            before = time.process_time()
            await _ends(store)
            print(json.dumps(time.process_time() - before))


def _interpreter(n: int) -> Callable[[bool], Awaitable[float]]:
    async def cost(tuned: bool) -> float:
        command = [sys.executable, __file__, "--child", "tuned" if tuned else "plain", str(n)]
        done = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, text=True, check=True)
        return float(done.stdout.splitlines()[-1])

    return cost


def _arrays(server: str, n: int) -> Callable[[bool], Awaitable[float]]:
    numbers = list(range(n))

    async def cost(as_text: bool) -> float:
        with psycopg.connect(server, autocommit=True) as conn:
            before = time.process_time()
            for _ in range(50):
                given = codec.dump_array(numbers) if as_text else numbers
                conn.execute("select cardinality(%s::bigint[])", (given,))
            return time.process_time() - before

    return cost


@contextmanager
def _planning(*, ours: bool) -> Iterator[None]:
    kept = database._PLANNING
    database._PLANNING = kept if ours else kept[:1]
    try:
        yield
    finally:
        database._PLANNING = kept


def _planner(new: Callable[[], str], n: int) -> Callable[[bool], Awaitable[float]]:
    async def cost(ours: bool) -> float:
        with _planning(ours=ours):
            async with store_at(new()) as store:
                await _filled(store, n)
                began = time.perf_counter()
                await _ends(store)
                return time.perf_counter() - began

    return cost


async def _compressed(compressed: bool) -> float:
    """Bytes of a loop's items on their way to the store and in it."""
    found = list(items(ITEMS))
    if compressed:
        return float(sum(len(part.data) for part in compress_items(found)))
    return float(len(json.dumps([asdict(item) for item in found])))


# --- the comparison ---------------------------------------------------------------------------------------


async def measure(optimisation: Optimisation, rounds: int, report: Report) -> None:
    """Adds how many times as much it costs without: the median of rounds, each with both sides."""
    report.targets[optimisation.what] = Target(optimisation.least)
    for number in range(rounds):
        sides = (True, False) if number % 2 == 0 else (False, True)
        costs = {side: await optimisation.cost(side) for side in sides}
        report.add(optimisation.what, costs[False] / costs[True])


async def measure_all(rounds: int, only: str, quick: bool, report: Report) -> None:
    """Adds the figures of all optimisations whose name holds `only`."""
    with demo_site() as site, databases("postgresql") as new:
        urls = products(site)[: PAGES // 3 if quick else PAGES]
        besides = psutil.Process().children(recursive=True)
        browser = await launch()
        try:

            async def read(past_playwright: bool) -> float:
                options = ContextOptions(reading=past_playwright, reuse="loop")
                return await _pages(browser, urls, options, besides)

            async def reset(reused: bool) -> float:
                return await _pages(browser, urls, ContextOptions(reuse="loop" if reused else None), besides)

            await read(True), await read(False)  # warm

            for one in (
                Optimisation("pages read past Playwright (agent/chromium/devtools)", 1.15, read),
                Optimisation("contexts emptied and used again (context_reset)", 1.15, reset),
                Optimisation("collector and thread switches (interpreter.tune)", 1.1, _interpreter(SESSIONS)),
                Optimisation("arrays as text for PostgreSQL (codec.dump_array)", 2.0, _arrays(new(), IDS)),
                Optimisation("PostgreSQL's planner settings (database._PLANNING)", 1.1, _planner(new, SESSIONS)),
                Optimisation("a loop's items compressed (compressed_items)", 5.0, _compressed),
            ):
                if only in one.what:
                    await measure(one, rounds, report)
        finally:
            await browser.close()


def main() -> None:
    """Measures and prints."""
    if sys.argv[1:2] == ["--child"]:
        if sys.argv[2] == "tuned":
            interpreter.tune()
        asyncio.run(_child(int(sys.argv[3])))
        return
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="WORD", help="those whose name holds this word")
    options = parser.parse_args()
    report = Report("optimisations")
    asyncio.run(measure_all(1 if options.quick else options.rounds, options.only, options.quick, report))
    report.show(as_json=options.json)
    gone = [name for name, target in report.targets.items() if not target.met(report.median(name))]
    sys.exit(f"they save too little: {', '.join(gone)}" if gone else 0)


if __name__ == "__main__":
    main()
