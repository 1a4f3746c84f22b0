"""Milliseconds of an action beside the bare Playwright call that it ends in, on the same page, in turns.

An action checks its arguments, finds the element by its id, acts with Playwright's own checks, follows what it began
(navigation, new tab) and says what it changed; the bare call only acts.

Then what an action's two looks at the page cost, by which it tells what appeared, what went and which other fields hold
something else: the same action with them and without them, on the pages that observations are measured on, in turns.

    python load-tests/bench/actions.py [--rounds 40] [--only-looks] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from _pages import BenchPage, bench_pages, served
from _report import Report, Target, arguments
from _site import demo_site, products
from observe import BUDGET, timed
from playwright.async_api import Page, async_playwright

from shoal.agent.browser import Context
from shoal.agent.chromium.acting import appearances
from shoal.agent.chromium.acting.appearances import Appearances
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.chromium.process.launch import launch
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action

MAY_SHARE = 0.2
MAY_MS = 5.0
"""An action may cost a fifth, or five milliseconds, more than the bare call."""

LOOKED_AT = ("product", "quote form", "controls", "table", "docs os", "docs genindex")
"""Pages on which the two looks are measured: small ones, one of 250 fields, and such as are too large for them."""

PAGE = """<!doctype html><title>Actions</title><style>body { font: 16px sans-serif } #tall { height: 3000px }</style>
<button id=press onclick="out.textContent = Math.random()">Press</button> <p id=out></p>
<input id=text aria-label=Text> <textarea id=area aria-label=Area></textarea>
<input id=box type=checkbox aria-label=Box>
<select id=one aria-label=One><option>red<option>green<option>blue</select>
<div id=from draggable=true tabindex=0>From</div> <div id=to tabindex=0 ondragover="event.preventDefault()">To</div>
<div id=tall></div>"""


@dataclass(frozen=True)
class Pair:
    """One action, and the bare call for the same; both get the number of the round."""

    ours: Callable[[int], Action]
    bare: Callable[[Page, int], Awaitable[Any]]


def pairs(ids: Mapping[str, str], addresses: Sequence[str]) -> dict[str, Pair]:
    """Return what is compared. What is filled, chosen and checked changes from round to round."""
    colours = ("green", "blue")

    def on(name: str, element: str, **args: Any) -> Action:
        return Action(name, {"bid": ids[element], **args})

    async def check(page: Page, i: int) -> None:
        await page.locator("#box").set_checked(i % 2 == 0)

    async def wheel(page: Page, i: int) -> None:
        await page.evaluate("dy => scrollBy(0, dy)", 300 if i % 2 == 0 else -300)

    return {
        "click": Pair(lambda i: on("click", "Press"), lambda page, i: page.locator("#press").click()),
        "hover": Pair(lambda i: on("hover", "Press"), lambda page, i: page.locator("#press").hover()),
        "focus": Pair(lambda i: on("focus", "Text"), lambda page, i: page.locator("#text").focus()),
        "fill": Pair(
            lambda i: on("fill", "Text", value=f"words {i}"), lambda page, i: page.locator("#text").fill(f"words {i}")
        ),
        "clear": Pair(lambda i: on("clear", "Area"), lambda page, i: page.locator("#area").clear()),
        "press": Pair(lambda i: on("press", "Area", key_comb="a"), lambda page, i: page.locator("#area").press("a")),
        "check": Pair(lambda i: on("check" if i % 2 == 0 else "uncheck", "Box"), check),
        "select_option": Pair(
            lambda i: on("select_option", "One", options=colours[i % 2]),
            lambda page, i: page.locator("#one").select_option(colours[i % 2]),
        ),
        "drag_and_drop": Pair(
            lambda i: Action("drag_and_drop", {"from_bid": ids["From"], "to_bid": ids["To"]}),
            lambda page, i: page.locator("#from").drag_to(page.locator("#to")),
        ),
        "mouse_click": Pair(
            lambda i: Action("mouse_click", {"x": 30, "y": 18}), lambda page, i: page.mouse.click(30, 18)
        ),
        "keyboard_type": Pair(
            lambda i: Action("keyboard_type", {"text": "some words"}),
            lambda page, i: page.keyboard.type("some words"),
        ),
        "scroll": Pair(lambda i: Action("scroll", {"dx": 0, "dy": 300 if i % 2 == 0 else -300}), wheel),
        "goto": Pair(
            lambda i: Action("goto", {"url": addresses[i % len(addresses)]}),
            lambda page, i: page.goto(addresses[i % len(addresses)], wait_until="domcontentloaded"),
        ),
    }


async def ids_by_name(context: Context) -> dict[str, str]:
    return {element.name: element.bid for element in clickable_elements((await context.observe()).elements)}


async def compare(name: str, pair: Pair, context: Context, floor: Page, rounds: int, report: Report) -> None:
    for number in range(rounds + 2):
        bare_ms, _ = await timed(lambda n=number: pair.bare(floor, n))
        ours_ms, result = await timed(lambda n=number: context.act(pair.ours(n)))
        if result.error is not None:
            raise RuntimeError(f"{name}: {result.error.message}")
        if number < 2:
            continue  # warms both sides
        report.add(f"{name}: Playwright, ms", bare_ms)
        report.add(f"{name}: Shoal, ms", ours_ms)
    bare, ours = report.median(f"{name}: Playwright, ms"), report.median(f"{name}: Shoal, ms")
    report.add(f"{name}: more than Playwright, ms", ours - bare)
    report.targets[f"{name}: more than Playwright, ms"] = Target(max(MAY_MS, MAY_SHARE * bare), at_least=False)


# --- the two looks ----------------------------------------------------------------------------------------------


@contextmanager
def without_looks() -> Iterator[None]:
    """Actions tell nothing of what appeared, went or holds something else now."""
    begin, read = appearances.begin, appearances.read_appearances

    async def no_begin(*of: Any) -> None:
        pass

    async def no_appearances(*of: Any) -> Appearances:
        return Appearances()

    appearances.begin, appearances.read_appearances = no_begin, no_appearances
    try:
        yield
    finally:
        appearances.begin, appearances.read_appearances = begin, read


async def compare_looks(page: BenchPage, context: Context, rounds: int, report: Report) -> None:
    """Scrolling, and filling a field where there is one, with the looks and without them."""
    await context.goto(page.url)
    await context.settle()
    seen = await context.observe(BUDGET)
    fields = [element.bid for element in clickable_elements(seen.elements) if element.role == "textbox"]
    actions: dict[str, Callable[[int], Action]] = {
        "scroll": lambda i: Action("scroll", {"dx": 0, "dy": 200 if i % 2 == 0 else -200})
    }
    if fields:
        actions["fill"] = lambda i: Action("fill", {"bid": fields[0], "value": f"words {i}"})
    for name, action in actions.items():
        row = f"{page.name}, {name}"
        for number in range(rounds + 2):
            with without_looks():
                bare_ms, _ = await timed(partial(context.act, action(2 * number)))
            ours_ms, result = await timed(partial(context.act, action(2 * number + 1)))
            if result.error is not None:
                raise RuntimeError(f"{row}: {result.error.message}")
            if number < 2:
                continue  # warms both
            report.add(f"{row}: without the looks, ms", bare_ms)
            report.add(f"{row}: with, ms", ours_ms)
            report.add(f"{row}: more, ms", ours_ms - bare_ms)


async def measure_looks(pages: Sequence[BenchPage], rounds: int, report: Report) -> None:
    browser = await launch()
    try:
        context = await browser.new_context()
        for page in pages:
            await compare_looks(page, context, rounds, report)
        await context.close()
    finally:
        await browser.close()


async def measure(addresses: Sequence[str], rounds: int, report: Report) -> None:
    browser = await launch()
    try:
        async with async_playwright() as playwright:
            plain = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            context, floor = await browser.new_context(), await plain.new_page(viewport={"width": 1280, "height": 800})
            for page in (context, floor):
                await page.goto(addresses[0])
            await context.read("html => { document.open(); document.write(html); document.close(); }", PAGE)
            await floor.set_content(PAGE)
            for name, pair in pairs(await ids_by_name(context), addresses).items():
                await compare(name, pair, context, floor, rounds, report)
            await context.close()
            await plain.close()
    finally:
        await browser.close()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only-looks", action="store_true")
    chosen = parser.parse_args()
    report = Report("actions")
    rounds = 10 if chosen.quick else chosen.rounds
    with demo_site() as site, served(quick=chosen.quick) as base:
        if not chosen.only_looks:
            asyncio.run(measure(products(site)[:5], rounds, report))
        pages = [page for page in bench_pages(site, base, quick=chosen.quick) if page.name in LOOKED_AT]
        asyncio.run(measure_looks(pages, rounds, report))
    report.show(as_json=chosen.json)


if __name__ == "__main__":
    main()
