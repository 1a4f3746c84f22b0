"""What loops cost once it is known how their pages are read: the tiers `http` and `page`, beside their floors.

Tier `http` stands beside plain httpx and lxml, tier `page` beside plain Playwright with reused pages that takes a
picture of each. All of Shoal's work is in its figures: submission over HTTP, fan-out, claims, Ray calls, samples and
audits in a browser, places with sources, validation, evidence and the record in the store.

    python load-tests/bench/learn.py [--pages 3000] [--rounds 3] [--concurrency 4] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import lxml.html
from _report import Report, Target, arguments
from _site import demo_site
from pages import floor

from shoal.agent.support.json_value import Json
from shoal.services.cluster.embedded import Cluster, embedded_cluster
from shoal.services.settings import load_settings

_LOOK_S = 0.5
_MICRODATA = "microdata"
FIELDS: dict[str, dict[str, Json]] = {
    "name": {"select": "h1[itemprop=name]"},
    "price": {"select": "[itemprop=price]", "attribute": "content", "reader": "number"},
    "currency": {"select": "[itemprop=priceCurrency]", "attribute": "content"},
    "sku": {"select": "[itemprop=sku]"},
    "weight": {"label": "Weight"},
}
"""One of them is found by its label, as jobs are mostly written."""
SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {name: {"type": "number" if name == "price" else ["string", "null"]} for name in FIELDS},
    "required": ["name", "price", "currency"],
}
HTTP = "tier http, to httpx and lxml"
PAGE = "tier page with pictures, to Playwright reused"
TIMES = "tier http, times Playwright reused"


def products(site: str) -> dict[str, dict[str, Any]]:
    """Price and name of each product whose page has microdata, by its address."""
    with urllib.request.urlopen(f"{site}/_truth/products.json") as answer:
        truth = json.load(answer)
    sold = [one for one in truth if not one["discontinued"] and not one["slow"] and one["markup"] == _MICRODATA]
    return {site + one["path"]: one for one in sold}


async def plain(urls: list[str], concurrency: int) -> float:
    """Pages per second of httpx and lxml, so many at once, each page's fields by hand-written paths."""
    todo = list(reversed(urls))

    async def worker(client: httpx.AsyncClient) -> None:
        while todo:
            tree = lxml.html.fromstring((await client.get(todo.pop())).content)
            assert tree.xpath("string(//h1)")
            tree.xpath("string(//*[@itemprop='price']/@content)")
            tree.xpath("string(//*[@itemprop='priceCurrency']/@content)")
            tree.xpath("string(//*[@itemprop='sku'])")
            tree.xpath("string(//th[.='Weight']/following-sibling::td)")

    started = time.perf_counter()
    async with httpx.AsyncClient() as client:
        await asyncio.gather(*(worker(client) for _ in range(concurrency)))
    return len(urls) / (time.perf_counter() - started)


@asynccontextmanager
async def cluster_of(concurrency: int) -> AsyncIterator[Cluster]:
    """An embedded cluster with one worker."""
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as data:
        settings = load_settings(
            data_dir=Path(data),
            port=0,
            allow_private=True,
            workers=1,
            slots_per_worker=concurrency,
            log_level="error",
            per_domain=64,
        )
        async with embedded_cluster(settings) as cluster:
            yield cluster


async def shoal(
    cluster: Cluster, urls: list[str], truth: dict[str, dict[str, Any]], *, pictures: bool
) -> tuple[float, Counter[str]]:
    """Pages per second of one loop job, from its submission to its end, and its records by tier."""
    spec = {
        "url": urls[0],
        "loop": {"values": urls, "is_link": True},
        "extract": {"fields": FIELDS, "schema": SCHEMA},
        "artifacts": {"evidence": "screenshot" if pictures else "document"},
        "politeness": {"robots": False},
    }
    started = time.time()
    async with httpx.AsyncClient(base_url=cluster.url, timeout=60) as client:
        answer = await client.post("/v1/jobs", json=spec)
        answer.raise_for_status()
        job = answer.json()["id"]
        row: dict[str, Any] = {"finished_at": None}
        while not row["finished_at"]:
            await asyncio.sleep(_LOOK_S)
            row = (await client.get(f"/v1/jobs/{job}")).json()
        lines = (await client.get(f"/v1/jobs/{job}/results")).text.splitlines()
    seconds = datetime.fromisoformat(row["finished_at"]).timestamp() - started
    tiers: Counter[str] = Counter()
    for line in map(json.loads, lines):
        item = truth[line["item"]["value"]]
        assert line["record"], line["error"]
        assert (line["record"]["name"], line["record"]["price"]) == (item["name"], float(item["price"])), line
        tiers[line["tier"]] += 1
    assert tiers.total() == len(urls)
    return len(urls) / seconds, tiers


async def measure(site: str, pages: int, rounds: int, concurrency: int, report: Report) -> None:
    truth = products(site)
    good = list(truth)
    many, few = (good * (pages // len(good) + 1))[:pages], (good * 10)[: max(40, pages // 20)]
    for number in range(rounds):
        bare = await plain(many, concurrency)
        async with cluster_of(concurrency) as cluster:
            await shoal(cluster, many[: concurrency * 4], truth, pictures=False)
            rate, tiers = await shoal(cluster, many, truth, pictures=False)
        reused, _ = await floor(few, concurrency, fresh=False, shots=False)
        pictured, _ = await floor(few, concurrency, fresh=False, shots=True)
        async with cluster_of(concurrency) as cluster:
            await shoal(cluster, few[: concurrency * 4], truth, pictures=True)
            paged, _ = await shoal(cluster, few, truth, pictures=True)
        report.add("httpx and lxml: pages/s", bare)
        report.add("Playwright reused: pages/s", reused)
        report.add("Playwright reused, with pictures: pages/s", pictured)
        report.add("Shoal, tier http: pages/s", rate)
        report.add("Shoal, tier page with pictures: pages/s", paged)
        report.add("share read without a browser", tiers["http"] / tiers.total())
        report.add(HTTP, rate / bare)
        report.add(TIMES, rate / reused)
        report.add(PAGE, paged / pictured)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=4)
    options = parser.parse_args()
    pages, rounds = (1000, 1) if options.quick else (options.pages, options.rounds)
    report = Report("learn", {HTTP: Target(0.35), TIMES: Target(20.0), PAGE: Target(0.9)})
    with demo_site("--warm") as site:
        asyncio.run(measure(site, pages, rounds, options.concurrency, report))
    report.notes.append(f"{pages} pages, {rounds} rounds, {options.concurrency} at once, load {os.getloadavg()[0]:.1f}")
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
