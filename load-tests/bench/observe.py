"""Milliseconds, characters, recall and false positives of an observation, beside two others on the same page.

(a) A plain DOM walk by page.evaluate, which lists what selectors and the cursor tell, and no text, with Playwright's
screenshot; (b) Playwright's own aria snapshot, which a model would read in its place. Shoal's observation has text,
listeners, closed shadow roots, frames, the cover test and the screenshot. Targets are held where (a) shows the same
page. What a page reacts to is told by the page's own world (_truth.js). With --browser-use also the characters that
browser-use gives of the same window (_browser_use.py says how it is installed).

    python load-tests/bench/observe.py [--rounds 7] [--only NAME] [--browser-use PYTHON] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from _pages import PLANTED, START_MINIWOB, BenchPage, bench_pages, served
from _report import Report, Target, arguments
from _site import demo_site
from _truth import SCRIPT, false, listed_boxes, missed, read_targets
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, async_playwright

from shoal.agent.browser import Browser, Context, ObserveOptions
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.chromium.process.launch import launch
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Observation

BUDGET = ObserveOptions(screenshot=True, max_elements=200, max_chars=12_000)
WHOLE = ObserveOptions(screenshot=True)
WINDOW = ObserveOptions(viewport_only=True)
PEER = Path(__file__).with_name("_browser_use_side.py")
BIG_ROUNDS = 3
SNAPSHOT_MS = 60_000
"""Playwright needs this long for the largest snapshots; longer is not waited for."""

PLAIN_WALK = """() => {
  const found = [];
  const kinds = 'a[href],button,input,select,textarea,summary,[role],[onclick],[tabindex],[contenteditable]';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT);
  for (let element; element = walker.nextNode();) {
    const style = getComputedStyle(element);
    if (!element.matches(kinds) && style.cursor !== 'pointer') continue;
    if (style.visibility === 'hidden' || style.display === 'none') continue;
    const box = element.getBoundingClientRect();
    if (box.width < 1 || box.height < 1) continue;
    found.push({ tag: element.tagName, text: (element.innerText || element.value || '').slice(0, 80),
      x: box.x, y: box.y, width: box.width, height: box.height });
  }
  return found;
}"""

IN_PAGE = "source => { const s = document.createElement('script'); s.textContent = source; document.head.append(s); }"


async def timed(call: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    started = time.perf_counter()
    value = await call()
    return (time.perf_counter() - started) * 1000, value


async def open_both(context: Context, floor: Page, page: BenchPage) -> None:
    """The page, as it is when it stands still, on both sides."""
    await context.goto(page.url)
    await floor.goto(page.url)
    if page.script == START_MINIWOB:
        await context.read(IN_PAGE, page.script)
        await floor.evaluate(page.script)
    await context.settle()
    await floor.wait_for_load_state("load")


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


async def measure_page(page: BenchPage, context: Context, floor: Page, rounds: int, report: Report) -> None:
    """Interleaved rounds of floor, whole and budgeted observation on a page that both have open."""
    name, budget_times, whole_times = page.name, list[float](), list[float]()

    async def plain() -> None:
        await floor.evaluate(PLAIN_WALK)
        await floor.screenshot(type="jpeg")

    for number in range(rounds + 1):
        floor_ms, _ = await timed(plain)
        whole_ms, seen = await timed(lambda: context.observe(WHOLE))
        budget_ms, part = await timed(lambda: context.observe(BUDGET))
        if number == 0:
            continue  # the first round warms caches on both sides
        whole_times.append(whole_ms)
        budget_times.append(budget_ms)
        report.add(f"{name}: (a) plain walk, ms", floor_ms)
        report.add(f"{name}: whole, ms", whole_ms)
        report.add(f"{name}: in a budget, ms", budget_ms)
        report.add(f"{name}: whole / (a)", whole_ms / floor_ms)
    report.targets[f"{name}: whole / (a)"] = Target(1.0, at_least=False)
    report.targets[f"{name}: in a budget, ms"] = Target(120, at_least=False)
    report.add(f"{name}: whole, p95 ms", p95(whole_times))
    report.add(f"{name}: in a budget, p95 ms", p95(budget_times))
    await measure_snapshot(name, floor, 1 if page.big else rounds, report)
    report.add(f"{name}: characters", len(compact(seen.elements)))
    report.add(f"{name}: characters in a budget", len(compact(part.elements)))
    window = await context.observe(WINDOW)
    report.add(f"{name}: characters of the window", len(compact(window.elements)))
    report.add(f"{name}: elements of the window", len(clickable_elements(window.elements)))
    await check(page, seen, floor, report)


async def measure_snapshot(name: str, floor: Page, rounds: int, report: Report) -> None:
    """Playwright's aria snapshot of the same page."""
    for _ in range(rounds):
        try:
            taken_ms, text = await timed(lambda: floor.locator("body").aria_snapshot(mode="ai", timeout=SNAPSHOT_MS))
        except PlaywrightError as error:
            report.notes.append(f"{name}: no aria snapshot: {error.message.splitlines()[0]}")
            return
        report.add(f"{name}: (b) aria snapshot, ms", taken_ms)
    report.add(f"{name}: (b) characters", len(text))


async def check(page: BenchPage, seen: Observation, floor: Page, report: Report) -> None:
    """Recall and false positives of the whole observation."""
    name, listed, truth = page.name, listed_boxes(seen), await read_targets(floor)
    # What lies in the window and is said to be out of sight is under a bar: it cannot be hit before the page scrolls.
    open_now, (width, height) = set(listed_boxes(seen, in_view=True)), seen.viewport
    hit = [box for box in listed if box in open_now or box[0] >= width or box[1] >= height or box[1] + box[3] <= 0]
    lost, wrong = missed(listed, truth), false(hit, truth)
    targets = len(truth.must) + len(truth.holders)
    report.add(f"{name}: elements", len(listed))
    report.add(f"{name}: recall", 1 - len(lost) / targets if targets else 1.0)
    report.add(f"{name}: false positives", len(wrong))
    report.targets[f"{name}: recall"] = Target(0.99)
    if lost or wrong:
        report.notes.append(f"{name}: missed {lost[:5]}, false {wrong[:5]} (left, top, width, height)")
    if name == "controls":
        names = [element.name for element in clickable_elements(seen.elements)]
        traps = sum(one.startswith("Trap") for one in names)
        report.add("controls: planted, share listed", (len(names) - traps) / PLANTED)
        report.add("controls: traps listed", traps)
        report.targets["controls: planted, share listed"] = Target(0.99)
        report.targets["controls: traps listed"] = Target(0, at_least=False)


async def beside_browser_use(python: str, pages: list[BenchPage], report: Report) -> None:
    """Measure what browser-use takes for the same windows, by a Python that has it."""
    asked = {
        "chromium": str(find_chromium()),
        "pages": [{"name": page.name, "url": page.url, "script": page.script} for page in pages],
    }
    pipe = asyncio.subprocess.PIPE
    side = await asyncio.create_subprocess_exec(python, str(PEER), stdin=pipe, stdout=pipe)
    said, _ = await side.communicate(json.dumps(asked).encode())
    if side.returncode:
        raise RuntimeError(f"browser-use ended with {side.returncode}")
    for name, told in json.loads(said.splitlines()[-1]).items():
        report.add(f"{name}: browser-use, characters of the window", told["window"])
        report.add(f"{name}: browser-use, characters as by default", told["default"])
        report.add(f"{name}: browser-use, elements of the window", told["listed"])
        share = f"{name}: characters of the window / browser-use"
        report.add(share, report.median(f"{name}: characters of the window") / told["window"])
        report.targets[share] = Target(0.6, at_least=False)


async def measure(pages: list[BenchPage], rounds: int, report: Report) -> None:
    browser = await launch()
    try:
        async with async_playwright() as playwright:
            plain = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            for page in pages:
                await on_fresh_pages(page, browser, plain, min(rounds, BIG_ROUNDS) if page.big else rounds, report)
            await plain.close()
    finally:
        await browser.close()


async def on_fresh_pages(page: BenchPage, browser: Browser, plain: Any, rounds: int, report: Report) -> None:
    context = await browser.new_context()
    floor = await plain.new_page(viewport={"width": 1280, "height": 800})
    await floor.add_init_script(SCRIPT)
    try:
        await open_both(context, floor, page)
        await measure_page(page, context, floor, rounds, report)
    finally:
        await context.close()
        await floor.close()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="pages whose name begins so; several by commas")
    parser.add_argument("--browser-use", default="", help="a Python that has the package browser-use")
    chosen = parser.parse_args()
    only = tuple(chosen.only.split(","))
    report = Report("observe")
    with demo_site() as shop, served(quick=chosen.quick) as made:
        pages = [page for page in bench_pages(shop, made, quick=chosen.quick) if page.name.startswith(only)]
        asyncio.run(measure(pages, 3 if chosen.quick else chosen.rounds, report))
        if chosen.browser_use:
            asyncio.run(beside_browser_use(chosen.browser_use, pages, report))
    report.show(as_json=chosen.json)


if __name__ == "__main__":
    main()
