"""CPU of taking a page as one tree, beside the scripts that read pages until now, each on a page that was just loaded.

A tab that was measured before flatters scripts: their code is compiled, styles and boxes are known. So each sample is
taken once, in a new tab, and the ways take turns. CPU is that of all processes of the browser and of this one together,
with the lxml tree made; Python's own share, which an event loop waits for, is told beside it.

    python load-tests/bench/page_tree.py [--rounds 7] [--only NAME] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from _pages import START_MINIWOB, BenchPage, bench_pages, served
from _report import Report, Target, arguments
from _site import demo_site
from playwright.async_api import Browser, CDPSession, async_playwright

from shoal.agent.chromium.devtools.isolated_reader import IsolatedReader
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.observe.tree import WALKER
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.recorded import page_of_answer

BIG_ROUNDS = 3
WALK = (
    '{"maxElements": null, "maxChars": null, "viewportOnly": false, "words": [], "part": 0, "top": true, "clip": null}'
)
TRIAL_MS = 20.0
"""A way may be so much slower than another on a small page, where a start counts more than the work."""


async def tree(session: CDPSession) -> int:
    return await _elements(session, boxes=False)


async def tree_with_boxes(session: CDPSession) -> int:
    return await _elements(session, boxes=True)


async def _elements(session: CDPSession, *, boxes: bool) -> int:
    """Return how many elements the page has that a session reads."""
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    return len(page_of_answer(await IsolatedReader(session, frame).read(SCRIPT, {"boxes": boxes})).elements)


async def walker(session: CDPSession) -> int:
    script = f"function () {{ {WALKER}; return shoalWalker.walk({WALK}); }}"
    return len(str(await _in_world(session, script, [])))


async def _in_world(session: CDPSession, script: str, values: list[dict[str, Any]]) -> object:
    """Return what a script returns in a new world of the main frame."""
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "bench"})
    asked = {"functionDeclaration": script, "executionContextId": world["executionContextId"], "arguments": values}
    answer = await session.send("Runtime.callFunctionOn", {**asked, "returnByValue": True})
    if "exceptionDetails" in answer:
        raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
    return answer["result"].get("value")


WAYS: Mapping[str, Callable[[CDPSession], Awaitable[int]]] = {
    "tree": tree,
    "tree with boxes": tree_with_boxes,
    "walker.js": walker,
}


def browser_cpu_ms() -> float:
    """CPU of all processes that this one started, to the microsecond; psutil tells hundredths of a second."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(FileNotFoundError, ProcessLookupError):
            for task in Path(f"/proc/{process.pid}/task").iterdir():
                total += int((task / "schedstat").read_text().split()[0])
    return total / 1e6


async def sample(browser: Browser, page: BenchPage, way: str, report: Report) -> None:
    """One page, loaded in a tab of its own and read once."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        tab = await context.new_page()
        await tab.goto(page.url)
        if page.script == START_MINIWOB:
            await tab.evaluate(page.script)
        session = await context.new_cdp_session(tab)
        before, own, started = browser_cpu_ms(), time.process_time(), time.perf_counter()
        size = await WAYS[way](session)
        wall, own_ms = time.perf_counter() - started, (time.process_time() - own) * 1000
        report.add(f"{page.name}: {way}, CPU ms", browser_cpu_ms() - before + own_ms)
        report.add(f"{page.name}: {way}, of which Python, ms", own_ms)
        report.add(f"{page.name}: {way}, ms", wall * 1000)
        if way == "tree":
            report.add(f"{page.name}: elements", size)
    finally:
        await context.close()


async def measure(pages: list[BenchPage], rounds: int, report: Report) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        for page in pages:
            for _ in range(min(rounds, BIG_ROUNDS) if page.big else rounds):
                for way in WAYS:
                    await sample(browser, page, way, report)
            slowest = report.median(f"{page.name}: walker.js, CPU ms")
            report.targets[f"{page.name}: tree, CPU ms"] = Target(max(slowest, TRIAL_MS), at_least=False)
        await browser.close()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="pages whose name begins so; several by commas")
    chosen = parser.parse_args()
    report = Report("page_tree")
    with demo_site() as shop, served(quick=chosen.quick) as made:
        pages = bench_pages(shop, made, quick=chosen.quick)
        wanted = [page for page in pages if page.name.startswith(tuple(chosen.only.split(",")))]
        asyncio.run(measure(wanted, 3 if chosen.quick else chosen.rounds, report))
    report.show(as_json=chosen.json)


if __name__ == "__main__":
    main()
