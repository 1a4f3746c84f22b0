"""The cost of loops once it is known how their pages are read, and the cost of learning that from a model.

A loop of like pages learns from a model that knows the truth: model calls per item, and every record compared with the
truth. The same loop is run over a site that is redesigned in its middle, and with a model that misreads a number on 5 %
of its readings. A loop that sends a form learns too: each row has to be received once.

The tiers `http` and `page` stand beside their floors.

Tier `http` stands beside plain httpx and lxml, tier `page` beside plain Playwright with reused pages that takes a
picture of each. All of Shoal's work is in its figures: submission over HTTP, fan-out, claims, Ray calls, samples and
audits in a browser, places with sources, validation, evidence and the record in the store.

    python load-tests/bench/learn.py [--pages 3000] [--rounds 3] [--concurrency 4] [--items 1000] [--forms 1000]
        [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import urllib.request
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import lxml.html
from _cluster import bench_cluster, run_job
from _report import Report, Target, arguments
from _site import demo_site
from pages import floor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))

from shop.drift import COLOURS, RECORD_SCHEMA, REDESIGN_AT, Drift, truth

from shoal.agent.support.json_value import Json
from shoal.services.cluster.embedded import Cluster
from tests.embedded import oracle

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
SEED = 1
CALLS = "model calls per item"
WRONG = "wrong records"
REPLAYED_WRONG = "wrong records that a workflow read"
ERRORS = 0.05
"""Share of the readings in which the auditor errs."""
ERRING = f"an auditor that errs in {ERRORS:.0%}"
VERSIONS = "versions"
REDESIGN_CALLS = "model calls of the redesign"
FORM = "forms"
NOT_ONCE = "rows not received once"
RATE = "items a second"
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
        row = await run_job(client, spec)
        lines = (await client.get(f"/v1/jobs/{row['id']}/results")).text.splitlines()
    seconds = datetime.fromisoformat(row["finished_at"]).timestamp() - started
    tiers: Counter[str] = Counter()
    for line in map(json.loads, lines):
        item = truth[line["item"]["value"]]
        assert line["record"], line["error"]
        assert (line["record"]["name"], line["record"]["price"]) == (item["name"], float(item["price"])), line
        tiers[line["tier"]] += 1
    assert tiers.total() == len(urls)
    return len(urls) / seconds, tiers


async def learned(
    site: str, model: str, kind: Drift, items: int, concurrency: int, report: Report, name: str = ""
) -> None:
    """One loop that learns by itself; its records are compared with the truth. A redesign is in its middle.

    Args:
        name: of the loop in the report; default: what drifts.
    """
    first, name = max(0, REDESIGN_AT - items // 2), name or kind
    spec = {
        "url": f"{site}/drift/{SEED}/{kind}/",
        "loop": {"values": [f"{site}/drift/{SEED}/{kind}/i/{first + n}" for n in range(items)], "is_link": True},
        "extract": {"schema": RECORD_SCHEMA},
        "artifacts": {"screenshots": "none"},
        "politeness": {"robots": False},
    }
    row, lines = await _run(model, spec, concurrency)
    read = [line for line in lines if line["record"] is not None]
    false = [line for line in read if line["record"] != truth(SEED, kind, first + line["item"]["index"])]
    replayed = [line for line in false if line["workflow"]]
    (told,) = row["learning"]
    report.add(f"{name}: {CALLS}", row["usage"]["model_calls"] / items)
    report.add(f"{name}: {WRONG}", len(false))
    report.add(f"{name}: {REPLAYED_WRONG}", len(replayed))
    if kind is Drift.LONG_REDESIGN:
        report.add(f"{name}: {REDESIGN_CALLS}", _redesign_calls(lines, REDESIGN_AT - first))
    report.add(f"{name}: {VERSIONS}", len({line["workflow"] for line in lines if line["workflow"]}))
    report.add(f"{name}: share of records that are complete", len(read) / items)
    report.add(f"{name}: {RATE}", items / _seconds(row))
    report.notes.append(f"{name}: {told['workflow']}, {told['phase']}: {told['bound']}; {told['figures']}")


def _redesign_calls(lines: list[Json], begins: int) -> int:
    """Model calls of all items from the redesign on that no workflow read: misses, lessons and comparisons."""
    behind = [line for line in lines if line["item"]["index"] >= begins and not line["workflow"]]
    return sum(int(line["usage"]["model_calls"]) for line in behind)


async def forms(site: str, model: str, rows: int, concurrency: int, report: Report) -> None:
    """One loop that sends a form for each row of data, and learns by itself."""
    sent = [{"name": f"Ada {n}", "email": f"ada{n}@example.org", "colour": COLOURS[1 + n % 2]} for n in range(rows)]
    spec = {
        "url": f"{site}/drift/{SEED}/form",
        "goal": "Ask for a quote with the details of the row",
        "loop": {"values": list(map(json.dumps, sent))},
        "repeatable": False,
        "artifacts": {"screenshots": "none"},
        "politeness": {"robots": False},
    }
    row, lines = await _run(model, spec, concurrency)
    async with httpx.AsyncClient() as client:
        received = Counter(map(json.dumps, (await client.get(f"{site}/drift/{SEED}/forms")).json()))
    (told,) = row["learning"]
    times = [received.pop(json.dumps(form), 0) for form in sent]
    report.add(f"{FORM}: {CALLS}", row["usage"]["model_calls"] / rows)
    report.add(f"{FORM}: {NOT_ONCE}", sum(n != 1 for n in times) + received.total())
    report.add(f"{FORM}: {RATE}", rows / _seconds(row))
    report.notes.append(f"{FORM}: {rows} rows, {row['counts']}; {told['phase']}; {told['figures']}")
    report.notes += [f"{FORM}: received, and given by no row: {form}" for form in received]
    for line in lines:
        n = times[line["item"]["index"]]
        if n != 1 or line["status"] != "completed":
            said = f"{line['status']}, {line['error']}"
            report.notes.append(f"{FORM}: row {line['item']['index']} received {n} times: {said}")


def _seconds(row: Json) -> float:
    """Return how long a job took from its submission to its end, by the server's clock."""
    return (datetime.fromisoformat(row["finished_at"]) - datetime.fromisoformat(row["created_at"])).total_seconds()


async def _run(model: str, spec: Json, concurrency: int) -> tuple[Json, list[Json]]:
    """A job that has ended on a cluster of its own with this model, and its results."""
    async with (
        bench_cluster(concurrency, model_url=model, model="oracle") as cluster,
        httpx.AsyncClient(base_url=cluster.url, timeout=60) as client,
    ):
        row = await run_job(client, spec)
        return row, [json.loads(line) for line in (await client.get(f"/v1/jobs/{row['id']}/results")).text.splitlines()]


async def measure(site: str, pages: int, rounds: int, concurrency: int, report: Report) -> None:
    truth = products(site)
    good = list(truth)
    many, few = (good * (pages // len(good) + 1))[:pages], (good * 10)[: max(40, pages // 20)]
    for number in range(rounds):
        bare = await plain(many, concurrency)
        async with bench_cluster(concurrency) as cluster:
            await shoal(cluster, many[: concurrency * 4], truth, pictures=False)
            rate, tiers = await shoal(cluster, many, truth, pictures=False)
        reused, _ = await floor(few, concurrency, fresh=False, shots=False)
        pictured, _ = await floor(few, concurrency, fresh=False, shots=True)
        async with bench_cluster(concurrency) as cluster:
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
    parser.add_argument("--items", type=int, default=1000, help="of the loops that learn; 0: only the tiers")
    parser.add_argument("--forms", type=int, default=1000, help="rows of the form that is learned; 0: no form is sent")
    parser.add_argument("--only-learning", action="store_true", help="leave the tiers out")
    options = parser.parse_args()
    pages, rounds = (1000, 1) if options.quick else (options.pages, options.rounds)
    items = min(options.items, 200) if options.quick else options.items
    targets = {} if options.only_learning else {HTTP: Target(0.35), TIMES: Target(20.0), PAGE: Target(0.9)}
    for kind in (Drift.NONE, Drift.LONG_REDESIGN) if items else ():
        targets[f"{kind}: {WRONG}"] = Target(0, at_least=False)
    if items:
        targets[f"{Drift.LONG_REDESIGN}: {REDESIGN_CALLS}"] = Target(25, at_least=False)
        targets[f"{ERRING}: {REPLAYED_WRONG}"] = Target(0, at_least=False)
        targets[f"{ERRING}: {VERSIONS}"] = Target(3, at_least=False)
    rows = min(options.forms, 100) if options.quick else options.forms
    if rows:
        targets[f"{FORM}: {NOT_ONCE}"] = Target(0, at_least=False)
    if rows >= 1000:
        targets[f"{FORM}: {CALLS}"] = Target(0.05, at_least=False)
    if items >= 1000:
        targets[f"{Drift.NONE}: {CALLS}"] = Target(0.05, at_least=False)
    report = Report("learn", targets)
    with demo_site("--warm") as site:
        if items:
            with oracle() as model:
                for kind in (Drift.NONE, Drift.LONG_REDESIGN):
                    asyncio.run(learned(site, model, kind, items, options.concurrency, report))
            with oracle("--errors", str(ERRORS)) as model:
                asyncio.run(learned(site, model, Drift.NONE, items, options.concurrency, report, ERRING))
        if rows:
            with oracle() as model:
                asyncio.run(forms(site, model, rows, options.concurrency, report))
        if not options.only_learning:
            asyncio.run(measure(site, pages, rounds, options.concurrency, report))
    tiers = "" if options.only_learning else f"{pages} pages, {rounds} rounds, "
    report.notes.append(f"{tiers}{items} items, {options.concurrency} at once, load {os.getloadavg()[0]:.1f}")
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
