"""Seconds to open the page of a job with a loop of 100,000, and the smoothness of its scrolling, in a real Chromium.

Opened: from the navigation to the map of all items drawn, and the parts of it that the gateway answers. Scrolled: the
page goes from its top to its end by steps, one for each frame; told is how long the frames took. Half of the items are
completed, a hundredth has failed, some run, and the rest waits. Every opening is in a context of its own, with nothing
kept. The gateway, the browser and this process share the CPUs.

    python load-tests/bench/job_page.py [--items 100000] [--rounds 7] [--store sqlite]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from _empty import databases, root_of, store_at, unfold_all
from _report import Report, Target, arguments
from playwright.async_api import Browser, async_playwright
from streams import LEASE_S, migrate
from submit import SHOAL, started

from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.support.moments import utc_now
from shoal.agent.types import Checkpoint, FanOut, FieldSource, LoopItem, Outcome, Record, Usage
from shoal.agent.worker_messages import Work
from shoal.services.store import ids
from shoal.services.store.records import ClaimRequest, Finish
from shoal.services.store.store import Store

OPENED = "{}: opened, s"
GROUP = 500
SCROLL = """() => new Promise((done) => {
  const times = [], end = document.documentElement.scrollHeight;
  let before = performance.now(), at = 0;
  const step = (now) => {
    times.push(now - before);
    before = now;
    at += 120;
    scrollTo(0, at);
    if (at < end) requestAnimationFrame(step); else done(times.slice(1));
  };
  requestAnimationFrame(step);
})"""


def outcome(work: Work) -> Outcome:
    """A record with four fields, as an item's page gives it; every hundredth item fails."""
    assert work.item is not None
    index, url = work.item.index, work.item.value
    usage = Usage(model_calls=1, prompt_tokens=900, completion_tokens=80, pages=1)
    if index % 100 == 7:
        error = ErrorInfo("NavigationTimeout", "navigation_timeout", f"{url} did not load within 30 s", retryable=True)
        return Outcome(Status.FAILED, error=error, url=url, at=utc_now(), seconds=30.0, usage=usage)
    value = {"name": f"Article {index}", "price": index / 7, "currency": "EUR", "in_stock": index % 3 > 0}
    sources = {name: FieldSource("json-ld", f"$.{name}", confirmed=True) for name in value}
    record = Record(value, sources, url, utc_now())
    return Outcome(Status.COMPLETED, (record,), url=url, at=utc_now(), seconds=1.4, usage=usage)


async def filled(store: Store, items: int) -> str:
    """The id of a job whose loop is half done."""
    job, root = await root_of(store, "default")
    links = tuple(LoopItem(i, f"https://h{i % 50}.example/article/{i}", is_link=True) for i in range(items))
    loop = Outcome(Status.WAITING, fan_out=FanOut(links, Checkpoint()))
    await store.finish([Finish(root.session, root.fence, loop)])
    await unfold_all(store)
    left = items // 2
    while left > 0:
        takes = [ClaimRequest(part.job, part.domain, 0, min(GROUP, left)) for part in await store.partitions()]
        claims = (await store.claim("bench", takes, lease_s=LEASE_S)).sessions
        for first in range(0, len(claims), GROUP):
            group = [claimed.work for claimed in claims[first : first + GROUP]]
            await store.finish([Finish(work.session, work.fence, outcome(work)) for work in group])
        left -= len(claims)
    takes = [ClaimRequest(part.job, part.domain, 0, 1) for part in await store.partitions()]
    await store.claim("bench", takes, lease_s=LEASE_S)  # fifty run
    return ids.job_id(job)


async def opened(report: Report, database: str, browser: Browser, address: str, items: int) -> None:
    """One opening in a new context, and one scroll to the end."""
    context = await browser.new_context(viewport={"width": 1280, "height": 850})
    page = await context.new_page()
    began = time.perf_counter()
    await page.goto(address, wait_until="commit")
    await page.wait_for_selector(f"canvas[data-drawn='{items}']")
    report.add(OPENED.format(database), time.perf_counter() - began)
    timing = "performance.getEntriesByType('navigation')[0].responseEnd"
    report.add(f"{database}: the page's HTML, s", await page.evaluate(timing) / 1000)
    maps = "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/map'))[0].duration"
    report.add(f"{database}: the map's bytes, s", await page.evaluate(maps) / 1000)
    frames = sorted(await page.evaluate(SCROLL))
    report.add(f"{database}: median frame while scrolling, ms", frames[len(frames) // 2])
    report.add(f"{database}: longest frame while scrolling, ms", frames[-1])
    await context.close()


async def run(report: Report, database: str, url: str, items: int, rounds: int) -> None:
    """All rounds on one database."""
    gateway = [sys.executable, "-c", SHOAL, "gateway", "--port", "0", "--json"]
    environment = {"SHOAL_STORE_URL": url, "SHOAL_REQUESTS_PER_S": "0", "SHOAL_LOG_LEVEL": "warning"}
    with tempfile.TemporaryDirectory() as name:
        migrate(database, {**environment, "SHOAL_DATA_DIR": name})
        async with store_at(url) as store:
            job = await filled(store, items)
        with started(gateway, Path(name), **environment) as (address, _):
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=str(find_chromium(None)), args=["--no-sandbox"]
                )
                for _ in range(rounds):
                    await opened(report, database, browser, f"{address}/jobs/{job}", items)
                await browser.close()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--store", choices=("sqlite", "postgresql", "both"), default="both")
    options = parser.parse_args()
    report = Report("job_page")
    report.notes.append(f"A loop of {options.items:,} items, half of them ended.")
    for kind, database in (("sqlite", "SQLite"), ("postgresql", "PostgreSQL")):
        if options.store not in (kind, "both"):
            continue
        report.targets[OPENED.format(database)] = Target(1.0, at_least=False)
        with databases(kind) as make:
            asyncio.run(run(report, database, make(), options.items, 2 if options.quick else options.rounds))
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
