"""Savings of each optimisation of the product, with it and without it in turns. Ends with 1 where one saves too little.

Docs/architecture.md names them ("Faster than simple"). One that is below its bound here goes, or has its bound
explained anew. Costs are CPU seconds of all processes where it is about CPU: they bear a busy machine.

    python load-tests/bench/optimisations.py [--rounds 5] [--only NAME] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import asdict, dataclass

import psutil
import psycopg
from _empty import databases, items, root_of, store_at, unfold_all
from _loops import fan_out
from _processes import cpu_s
from _report import Report, Target, arguments
from _site import demo_site, products
from _tier_site import static_page
from pages import SCHEMA

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.chromium.process.launch import launch
from shoal.agent.compressed_items import compress_items
from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.policies.extraction import extract_records
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.read.by_place.elements.elements import Node
from shoal.agent.read.by_place.elements.places import PlaceData, Places
from shoal.agent.spec import FieldPlace, JobSpec
from shoal.agent.workflows.reading.page_view import view_parameters
from shoal.services import interpreter
from shoal.services.store.database import codec
from shoal.services.store.store import Store

PAGES = 30
RECORDS = 300_000
READS = 300
IDS = 2_000
ITEMS = 20_000
DOCUMENTS = 200


@dataclass(frozen=True)
class Optimisation:
    """One thing that is done for speed alone."""

    what: str
    least: float  # so many times the cost without it
    cost: Callable[[bool], Awaitable[float]]  # with it, or without it


# --- pages ------------------------------------------------------------------------------------------------


def _used_cpu_s(besides: Collection[psutil.Process]) -> float:
    """CPU seconds so far of this process and those that it has started, but for the site's."""
    me = psutil.Process()
    return cpu_s([me, *(one for one in me.children(recursive=True) if one not in besides)])


async def _pages(
    browser: Browser, urls: list[str], options: ContextOptions, besides: Collection[psutil.Process]
) -> float:
    """CPU seconds of this process, the driver and Chromium for opening some pages and extracting their records."""
    before = _used_cpu_s(besides)
    for url in urls:
        page = await browser.new_context(options)
        try:
            await page.goto(url)
            spec = JobSpec.model_validate({"url": url, "extract": {"schema": SCHEMA}})
            extraction = await extract_records(RulesPolicy(), SessionState(spec, None, None, page))
            assert len(extraction.records) == 1, url
        finally:
            await page.close()
    return _used_cpu_s(besides) - before


# --- the store --------------------------------------------------------------------------------------------


async def _filled(store: Store, n: int) -> None:
    _, root = await root_of(store, "t")
    await fan_out(store, root, items(n))
    await unfold_all(store)


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


DOCUMENT = RawDocument(
    "http://shop.example/static/1", 200, {"content-type": "text/html; charset=utf-8"}, static_page(1)
)
_WAYS = ("h1", 'h1[itemprop="name"]', "main > h1", ".price", '[itemprop="price"]', "main > div > span")


async def _elements(once: bool) -> float:
    """CPU seconds of reading a document at two elements that three selectors each lead to."""
    asked = view_parameters([FieldPlace(select=way) for way in _WAYS])

    def anew(self: Places, el: Node, how: str, attribute: str | None = None) -> PlaceData:
        self._made.clear()
        return place(self, el, how, attribute)

    place, began = Places.place, time.process_time()
    try:
        Places.place = place if once else anew  # type: ignore[method-assign]
        for _ in range(DOCUMENTS):
            HtmlDocument(DOCUMENT).read(asked)
    finally:
        Places.place = place  # type: ignore[method-assign]
    return time.process_time() - began


async def _compressed(compressed: bool) -> float:
    """Bytes of a loop's items on their way to the store and in it."""
    found = list(items(ITEMS))
    if compressed:
        return float(sum(len(part.data) for part in compress_items(found)))
    return float(len(json.dumps([asdict(item) for item in found])))


# --- Python itself ----------------------------------------------------------------------------------------


def _collector() -> float:
    """Seconds in passes of the collector of cycles while items are made and kept, as those that wait for a commit."""
    spent, began = 0.0, 0.0

    def note(phase: str, _: object) -> None:
        nonlocal spent, began
        if phase == "start":
            began = time.perf_counter()
        else:
            spent += time.perf_counter() - began

    gc.callbacks.append(note)
    kept = list(items(RECORDS))
    gc.callbacks.remove(note)
    assert len(kept) == RECORDS
    return spent


async def _reads() -> float:
    """Seconds of short reads of a store while the event loop computes, 10 ms at a time."""
    with databases("sqlite") as new:
        async with store_at(new()) as store:
            await _filled(store, 1_000)
            computing = asyncio.create_task(_compute())
            before = time.perf_counter()
            for _ in range(READS):
                await store.partitions()
            computing.cancel()
            return time.perf_counter() - before


async def _compute() -> None:
    while True:
        until = time.perf_counter() + 0.01
        while time.perf_counter() < until:
            pass
        await asyncio.sleep(0)


def _interpreter(what: str) -> Callable[[bool], Awaitable[float]]:
    """One of the two above in a process of its own, as Python sets it or as `tune` does."""

    async def cost(tuned: bool) -> float:
        command = [sys.executable, __file__, "--child", what, "tuned" if tuned else "plain"]
        child = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, text=True, check=True)
        return float(child.stdout.splitlines()[-1])

    return cost


def _child(what: str, how: str) -> None:
    if how == "tuned":
        interpreter.tune()
    print(_collector() if what == "collector" else asyncio.run(_reads()))


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
                """In contexts that are emptied and used again, and in new ones."""
                kinds = (ContextOptions(reading=past_playwright, reuse=key) for key in ("loop", None))
                return sum([await _pages(browser, urls, options, besides) for options in kinds])

            async def reset(reused: bool) -> float:
                return await _pages(browser, urls, ContextOptions(reuse="loop" if reused else None), besides)

            await read(True), await read(False)  # warm

            for optimisation in (
                Optimisation("pages read past Playwright (agent/chromium/devtools)", 1.03, read),
                Optimisation("contexts emptied and used again (context_reset)", 1.15, reset),
                Optimisation("the collector's passes (interpreter.tune)", 2.0, _interpreter("collector")),
                Optimisation("turns of threads (interpreter.tune)", 1.5, _interpreter("reads")),
                Optimisation("arrays as text for PostgreSQL (codec.dump_array)", 2.0, _arrays(new(), IDS)),
                Optimisation("an element read once for all ways to it (Places.place)", 1.05, _elements),
                Optimisation("a loop's items compressed (compressed_items)", 5.0, _compressed),
            ):
                if only in optimisation.what:
                    await measure(optimisation, rounds, report)
        finally:
            await browser.close()


def main() -> None:
    """Measures and prints."""
    if sys.argv[1:2] == ["--child"]:
        _child(*sys.argv[2:4])
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
