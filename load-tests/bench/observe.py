"""Milliseconds and characters of an observation, beside a plain DOM walk with Playwright's screenshot on the same page.

The floor lists what selectors and the cursor tell, and no text; Shoal's observation has text, listeners, closed shadow
roots, frames and the cover test as well. Both take a JPEG of the viewport.

    python load-tests/bench/observe.py [--rounds 7] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from _report import Report, Target, arguments
from _site import demo_site
from playwright.async_api import Page, async_playwright

from agent.browser import Context, ObserveOptions
from agent.chromium import find_chromium, launch
from agent.observe.renderings import compact
from agent.observe.tree import clickable_elements

BUDGET = ObserveOptions(screenshot=True, max_elements=200, max_chars=12_000)
WHOLE = ObserveOptions(screenshot=True)

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


def table_page(rows: int) -> str:
    cells = "".join(
        f"<tr><td>{i}<td><a href=/r/{i}>Row {i}</a><td>text {i}<td><button>Edit {i}</button></tr>" for i in range(rows)
    )
    return f"<!doctype html><title>Table</title><table>{cells}</table>"


def index_page(entries: int) -> str:
    items = "".join(f"<li>word {i}<ul><li><a href='lib.html#{i}'>entry {i}</a></ul>" for i in range(entries))
    return f"<!doctype html><title>Index</title><ul>{items}</ul>"


def controls_page() -> tuple[str, int]:
    """A thousand planted controls, 150 of them divs that only listen; and how many there are."""
    parts = []
    for i in range(1000):
        if i % 20 in (3, 7, 11):
            parts.append(f"<div class=listens>Div {i}</div>")
        elif i % 4 == 0:
            parts.append(f"<label for=f{i}>Field {i}</label><input id=f{i}>")
        else:
            parts.append(f"<button>Button {i}</button>" if i % 4 == 1 else f"<a href=#{i}>Link {i}</a>")
    traps = "".join(
        f"<button style='{style}'>Trap {i}</button>" for i in range(55) for style in ("display:none", "opacity:0")
    )
    script = (
        "<script>document.querySelectorAll('.listens').forEach(d => d.addEventListener('click', () => {}))</script>"
    )
    style = "<style>button, a, .listens { display: inline-block; margin: 4px }</style>"
    return f"<!doctype html><title>Controls</title>{style}{''.join(parts)}{traps}{script}", len(parts)


async def timed(call: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    started = time.perf_counter()
    value = await call()
    return (time.perf_counter() - started) * 1000, value


async def measure_page(name: str, context: Context, floor: Page, rounds: int, report: Report) -> None:
    """Interleaved rounds of floor, whole and budgeted observation on a page that both have open."""

    async def plain() -> None:
        await floor.evaluate(PLAIN_WALK)
        await floor.screenshot(type="jpeg")

    for number in range(rounds + 1):
        floor_ms, _ = await timed(plain)
        whole_ms, seen = await timed(lambda: context.observe(WHOLE))
        budget_ms, part = await timed(lambda: context.observe(BUDGET))
        if number == 0:
            continue  # the first round warms caches on both sides
        report.add(f"{name}: plain walk, ms", floor_ms)
        report.add(f"{name}: whole, ms", whole_ms)
        report.add(f"{name}: in a budget, ms", budget_ms)
        report.add(f"{name}: whole / plain walk", whole_ms / floor_ms)
        report.targets[f"{name}: whole / plain walk"] = Target(1.0, at_least=False)
        report.targets[f"{name}: in a budget, ms"] = Target(120, at_least=False)
    report.add(f"{name}: elements", len(clickable_elements(seen.elements)))
    report.add(f"{name}: characters", len(compact(seen.elements)))
    report.add(f"{name}: characters in a budget", len(compact(part.elements)))


def check_controls(context_names: list[str], planted: int, report: Report) -> None:
    """What of the planted controls is listed, and which traps."""
    listed = sum(not name.startswith("Trap") for name in context_names)
    report.add("controls: recall", min(listed, planted) / planted)
    report.add("controls: traps listed", len(context_names) - listed)
    report.targets["controls: recall"] = Target(0.99)
    report.targets["controls: traps listed"] = Target(0, at_least=False)


async def measure(site: str, rounds: int, *, quick: bool, report: Report) -> None:
    controls, planted = controls_page()
    made = {
        "controls": controls,
        "table": table_page(1000 if quick else 5000),
        "index": index_page(3000 if quick else 17_000),
    }
    browser = await launch()
    try:
        async with async_playwright() as playwright:
            plain = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            for name, path in {"product": "/product/1", "catalogue": "/", **dict.fromkeys(made, "")}.items():
                context, floor = await browser.new_context(), await plain.new_page()
                await context.goto(f"{site}{path}")
                await floor.goto(f"{site}{path}")
                if name in made:
                    await context.read(
                        "html => { document.open(); document.write(html); document.close(); }", made[name]
                    )
                    await floor.set_content(made[name])
                await context.settle()
                await measure_page(name, context, floor, rounds, report)
                if name == "controls":
                    seen = await context.observe()
                    check_controls([element.name for element in clickable_elements(seen.elements)], planted, report)
                await context.close()
                await floor.close()
            await plain.close()
    finally:
        await browser.close()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    report = Report("observe")
    with demo_site() as site:
        asyncio.run(measure(site, 3 if chosen.quick else chosen.rounds, quick=chosen.quick, report=report))
    report.show(as_json=chosen.json)


if __name__ == "__main__":
    main()
