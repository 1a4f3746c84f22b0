"""Pages per second of an extraction loop, beside plain asyncio Playwright on the same pages.

All of Shoal's work is in the figure: submission over HTTP, fan-out, claims, Ray calls, extraction with sources,
validation, the record in the store. The floors read six fields by hand-written selectors and keep nothing. Both wait
for the parsed document, run as many pages at once, and start with a browser that is warm. Each figure of ours comes
right after its floor, from a cluster that is down while floors run.

    python load-tests/bench/pages.py [--pages 200] [--rounds 5] [--concurrency 4] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from datetime import datetime

import httpx
import psutil
from _cluster import bench_cluster, run_job
from _processes import cpu_s
from _report import Report, Target, arguments
from _site import demo_site
from playwright.async_api import Browser, Page, async_playwright

from shoal.agent.chromium.process.find import find_chromium
from shoal.services.cluster.embedded import Cluster

_LOOK_S = 1.0
"""The clock is the server's `finished_at`, so looking seldom costs no precision, and next to no CPU."""
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LABELS = {False: "no screenshots", True: "screenshots"}
FLOORS = {True: "new contexts", False: "pages reused"}
OURS = {True: "isolation fresh", False: "isolation reset"}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "currency": {"type": "string", "description": "ISO 4217 code"},
        "in_stock": {"type": "boolean"},
        "rating": {"type": ["number", "null"]},
        "sku": {"type": ["string", "null"]},
    },
    "required": ["name", "price", "currency", "in_stock"],
}
READ = """() => ({
  name: document.querySelector('h1')?.textContent,
  price: document.querySelector('[itemprop=price], .price, .amount')?.textContent,
  currency: document.querySelector('[itemprop=priceCurrency]')?.getAttribute('content'),
  stock: document.querySelector('[itemprop=availability], .stock')?.textContent,
  rating: document.querySelector('[itemprop=ratingValue], .rating')?.textContent,
  sku: document.querySelector('[itemprop=sku], .sku')?.textContent,
})"""


async def floor(urls: list[str], concurrency: int, *, fresh: bool, shots: bool) -> tuple[float, float]:
    """Pages per second and CPU seconds per page of plain Playwright."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(find_chromium(None)), args=list(FLAGS))
        read = fresh_page if fresh else reused_page
        todo = list(reversed(urls))

        async def one_worker(count: Callable[[], None]) -> None:
            await read(browser, todo, shots, count)

        await asyncio.gather(*(read(browser, [url], shots, lambda: None) for url in urls[:concurrency]))
        me = psutil.Process()
        cpu, started = _cpu(me), time.perf_counter()
        done = [0]

        def count() -> None:
            done[0] += 1

        await asyncio.gather(*(one_worker(count) for _ in range(concurrency)))
        seconds, spent = time.perf_counter() - started, _cpu(me) - cpu
        assert done[0] == len(urls)
        await browser.close()
    return len(urls) / seconds, spent / len(urls)


async def fresh_page(browser: Browser, todo: list[str], shots: bool, count: Callable[[], None]) -> None:
    while todo:
        url = todo.pop()
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        await visit(await context.new_page(), url, shots)
        await context.close()
        count()


async def reused_page(browser: Browser, todo: list[str], shots: bool, count: Callable[[], None]) -> None:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    while todo:
        await visit(page, todo.pop(), shots)
        count()
    await context.close()


async def visit(page: Page, url: str, shots: bool) -> None:
    await page.goto(url, wait_until="domcontentloaded")
    assert (await page.evaluate(READ))["name"]
    if shots:
        await page.screenshot(type="jpeg", quality=70)


async def shoal(cluster: Cluster, urls: list[str], *, fresh: bool, shots: bool) -> tuple[float, float]:
    """Pages per second and CPU seconds per page of one loop job, from its submission to its end."""
    me = psutil.Process()
    cpu, started = _cpu(me), time.time()
    spec = {
        "url": urls[0],
        "loop": {"values": urls, "is_link": True},
        "extract": {"schema": SCHEMA},
        "artifacts": {"screenshots": "all" if shots else "none"},
        "politeness": {"robots": False},
        "browser": {"isolation": "fresh" if fresh else "reset"},
    }
    async with httpx.AsyncClient(base_url=cluster.url) as client:
        final = await run_job(client, spec, look_s=_LOOK_S)
    seconds, spent = datetime.fromisoformat(final["finished_at"]).timestamp() - started, _cpu(me) - cpu
    counts = final["counts"]
    assert counts["completed"] == len(urls), counts
    return len(urls) / seconds, spent / len(urls)


def _cpu(process: psutil.Process) -> float:
    """CPU seconds of this process and all below it so far."""
    return cpu_s([process, *process.children(recursive=True)])


async def measure(site: str, pages: int, rounds: int, concurrency: int, report: Report) -> None:
    async with httpx.AsyncClient(base_url=site) as client:
        truth = (await client.get("/_truth/products.json")).json()
    good = [site + product["path"] for product in truth if not product["discontinued"] and not product["slow"]]
    urls = (good * (pages // len(good) + 1))[:pages]
    for number in range(rounds):
        for shots in (False, True):
            for fresh in (True, False):
                bare, cpu = await floor(urls, concurrency, fresh=fresh, shots=shots)
                name = f"Playwright, {FLOORS[fresh]}, {LABELS[shots]}"
                report.add(f"{name}: pages/s", bare)
                report.add(f"{name}: CPU s/page", cpu)
                rate, cpu = await _ours(urls, concurrency, fresh=fresh, shots=shots)
                name = f"Shoal, {OURS[fresh]}, {LABELS[shots]}"
                report.add(f"{name}: pages/s", rate)
                report.add(f"{name}: CPU s/page", cpu)
                report.add(f"{name}, to {FLOORS[fresh]}", rate / bare)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)


async def _ours(urls: list[str], concurrency: int, *, fresh: bool, shots: bool) -> tuple[float, float]:
    """`shoal` on a warm cluster of its own; right after its floor, since machines change from minute to minute."""
    workers = max(1, concurrency // 4)
    async with bench_cluster(concurrency // workers, workers=workers) as cluster:
        await shoal(cluster, urls[: concurrency * 4], fresh=fresh, shots=shots)
        return await shoal(cluster, urls, fresh=fresh, shots=shots)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=4)
    options = parser.parse_args()
    pages, rounds = (40, 1) if options.quick else (options.pages, options.rounds)
    report = Report(
        "pages",
        {
            f"Shoal, {OURS[fresh]}, {label}, to {FLOORS[fresh]}": Target(0.95 if fresh else 0.8)
            for label in LABELS.values()
            for fresh in (True, False)
        },
    )
    with demo_site("--warm") as site:
        asyncio.run(measure(site, pages, rounds, options.concurrency, report))
    report.notes.append(f"{pages} pages, {rounds} rounds, {options.concurrency} at once, load {os.getloadavg()[0]:.1f}")
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
