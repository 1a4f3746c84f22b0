"""Which elements really react: Shoal's list and Chromium's accessibility tree, beside a probe by brute force.

The probe moves the mouse over every point of a grid on the page as it opens, and clicks one to three points of every
element that some point hits. A point is live when anything happens: a listener of an element is called, a link or form
starts, focus, value, dialog, change of the document. Recall: live elements that are listed (or whose label's field is).
Precision: listed elements, disabled ones left out, with a live point.

    python load-tests/bench/interactive.py [--step 8] [--only NAME] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from _pages import MINIWOB, START_MINIWOB, BenchPage, miniwob_folder, served, shop_pages
from _report import Report, Target, arguments
from _site import demo_site
from _truth import SCRIPT, Box, listed_boxes, offset
from observe import open_both
from playwright.async_api import CDPSession, Page, async_playwright
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import Browser, Context
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.chromium.process.launch import launch
from shoal.agent.observe.tree import clickable_elements

AX_ROLES = frozenset(
    (
        *("button", "link", "checkbox", "radio", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "switch"),
        *("combobox", "textbox", "option", "slider", "searchbox", "spinbutton", "treeitem", "listbox"),
        *("ComboBoxMenulist", "MenuListPopup", "DisclosureTriangle", "ColorWell", "Date", "DateTime", "InputTime"),
        *("PopUpButton", "ToggleButton"),
    )
)
RESTLESS_S = 1.5
"""Seconds for which a page is watched for changes that it makes by itself."""
DRAWN = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 10)))"


@dataclass(frozen=True)
class Point:
    """One point that was tried."""

    x: float
    y: float
    control: Box | None  # the field whose label it lies on
    live: bool


async def notes(page: Page, ignored: frozenset[str] = frozenset()) -> set[str]:
    """Return what happened in any frame since the last call."""
    said: list[str] = []
    for frame in page.frames:
        try:
            said += await frame.evaluate("benchTruth.take()")
        except PlaywrightError:
            said.append("navigation")  # the document that was asked is gone
    return set(said) - ignored


async def grid(page: Page, step: int) -> list[tuple[float, float, Box | None]]:
    """Return where to point, over all frames."""
    found: list[tuple[float, float, Box | None]] = []
    for frame in page.frames:
        at = await offset(frame)
        if at is None:
            continue
        for x, y, box in await frame.evaluate(f"benchTruth.points({step})"):
            control = (box[0] + at[0], box[1] + at[1], box[2], box[3]) if box else None
            if x + at[0] < 1280 and y + at[1] < 800:
                found.append((x + at[0], y + at[1], control))
    return found


async def reacts(page: Page, x: float, y: float, ignored: frozenset[str]) -> bool:
    """Return whether anything happens when the mouse comes to this point and clicks."""
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.up()
    await page.evaluate(DRAWN)
    return bool(await notes(page, ignored))


async def probe(page: Page, spot: BenchPage, boxes: Sequence[Box], step: int) -> list[Point]:
    """Every point tried on the page as it opens; a page that reacted is opened again. Middles of `boxes` as well."""
    tried: list[Point] = []
    await asyncio.sleep(RESTLESS_S)
    ignored = frozenset(await notes(page))  # what happens by itself, such as a clock, tells nothing about a click
    points = await grid(page, step)
    points += [(x + w / 2, y + h / 2, None) for x, y, w, h in boxes if 0 <= x + w / 2 < 1280 and 0 <= y + h / 2 < 800]
    for x, y, control in points:
        live = await reacts(page, x, y, ignored)
        tried.append(Point(x, y, control, live))
        if live:
            await reopen(page, spot)
        else:
            await page.mouse.move(1, 1)
            await notes(page)
    return tried


async def reopen(page: Page, spot: BenchPage) -> None:
    await page.mouse.move(1, 1)
    await page.context.clear_cookies()
    for frame in page.frames:
        if frame.url.startswith("http"):
            await frame.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
    await page.goto("about:blank")
    await page.goto(spot.url)
    if spot.script == START_MINIWOB:
        await page.evaluate(spot.script)
    await page.evaluate(DRAWN)
    await notes(page)


def holds(box: Box, x: float, y: float) -> bool:
    return box[0] - 1 <= x <= box[0] + box[2] + 1 and box[1] - 1 <= y <= box[1] + box[3] + 1


def judge(listed: Sequence[Box], ignored: Sequence[Box], tried: Sequence[Point]) -> tuple[list[Point], list[Box]]:
    """Live points that no listed box holds, and listed boxes without a live point; `ignored` are not held to it."""
    lost = [
        point
        for point in tried
        if point.live
        and not any(holds(box, point.x, point.y) for box in listed)
        and not (point.control and any(same(box, point.control) for box in listed))
    ]
    idle = [
        box
        for box in listed
        if box not in ignored
        and not any(p.live and (holds(box, p.x, p.y) or (p.control and same(box, p.control))) for p in tried)
    ]
    return lost, idle


def same(a: Box, b: Box) -> bool:
    return all(abs(x - y) <= 3 for x, y in zip(a, b, strict=True))


async def ax_boxes(page: Page) -> list[Box]:
    """Return what Chromium's accessibility tree of the main frame calls a control or focusable,
    where it can be seen.
    """
    session = await page.context.new_cdp_session(page)
    tree = await session.send("Accessibility.getFullAXTree")
    found = []
    for node in tree["nodes"]:
        focusable = any(p["name"] == "focusable" and p["value"].get("value") for p in node.get("properties", ()))
        role = node.get("role", {}).get("value", "")
        if node.get("ignored") or role == "RootWebArea" or not (role in AX_ROLES or focusable):
            continue
        box = await box_of(session, node.get("backendDOMNodeId"))
        if box and box[2] >= 2 and box[3] >= 2 and box[0] < 1280 and box[1] < 800 and box[1] + box[3] > 0:
            found.append(box)
    await session.detach()
    return found


async def box_of(session: CDPSession, node: int | None) -> Box | None:
    if node is None:
        return None
    try:
        quad = (await session.send("DOM.getBoxModel", {"backendNodeId": node}))["model"]["border"]
    except PlaywrightError:
        return None  # it has no box
    return min(quad[::2]), min(quad[1::2]), max(quad[::2]) - min(quad[::2]), max(quad[1::2]) - min(quad[1::2])


async def on_page(spot: BenchPage, context: Context, page: Page, step: int, report: Report) -> None:
    await open_both(context, page, spot)
    await page.evaluate(DRAWN)
    await notes(page)
    seen = await context.observe()
    listed = listed_boxes(seen, in_view=True)
    disabled = [
        (e.box.x, e.box.y, e.box.width, e.box.height)
        for e in clickable_elements(seen.elements)
        if e.box is not None and "disabled" in e.states
    ]
    by_tree = await ax_boxes(page)
    tried = await probe(page, spot, listed, step)
    live = sum(point.live for point in tried)
    report.add(f"{spot.name}: points tried", len(tried))
    for who, boxes in (("Shoal", listed), ("accessibility tree", by_tree)):
        lost, idle = judge(boxes, disabled, tried)
        held = len([box for box in boxes if box not in disabled])
        report.add(f"{spot.name}: {who}, listed", len(boxes))
        report.add(f"{spot.name}: {who}, recall", 1 - len(lost) / live if live else 1.0)
        report.add(f"{spot.name}: {who}, precision", 1 - len(idle) / held if held else 1.0)
        if who == "Shoal" and (lost or idle):
            at = [(round(point.x), round(point.y)) for point in lost[:6]]
            report.notes.append(f"{spot.name}: lost at {at}, idle {idle[:6]}")
    report.targets[f"{spot.name}: Shoal, recall"] = Target(0.99)


def spots(shop: str, made: str, *, quick: bool) -> list[BenchPage]:
    """The test sites, the shop, frames and roots, and tasks whose targets are no native controls."""
    pages = [
        BenchPage("wanted", f"{made}/sites/wanted.html"),
        BenchPage("acts", f"{made}/sites/acts.html"),
        *shop_pages(shop),
        BenchPage("nested", f"{made}/nested"),
    ]
    if miniwob_folder() is not None:
        tasks = MINIWOB[4:6] if quick else MINIWOB
        pages += [BenchPage(f"wob {task}", f"{made}/miniwob/miniwob/{task}.html", START_MINIWOB) for task in tasks]
    return pages


async def measure(pages: Sequence[BenchPage], step: int, report: Report) -> None:
    browser: Browser = await launch()
    try:
        async with async_playwright() as playwright:
            plain: Any = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            for spot in pages:
                context = await browser.new_context()
                page = await plain.new_page(viewport={"width": 1280, "height": 800})
                await page.add_init_script(SCRIPT)
                await on_page(spot, context, page, step, report)
                await context.close()
                await page.close()
            await plain.close()
    finally:
        await browser.close()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--step", type=int, default=8, help="CSS pixels between the points of the grid")
    parser.add_argument("--rounds", type=int, help="not used: one probe of a page says all there is to say")
    parser.add_argument("--only", default="", help="pages whose name begins so; several by commas")
    chosen = parser.parse_args()
    only = tuple(chosen.only.split(","))
    report = Report("interactive")
    with demo_site() as shop, served(quick=True) as made:
        pages = [page for page in spots(shop, made, quick=chosen.quick) if page.name.startswith(only)]
        asyncio.run(measure(pages, chosen.step, report))
    report.show(as_json=chosen.json)


if __name__ == "__main__":
    main()
