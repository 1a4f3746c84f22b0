"""Pages per second and CPU per page of both tiers that read pages, beside programs that do nothing else.

Without a browser: static product pages, read by httpx and lxml, by aiohttp and by Scrapy (where `--peers` names an
interpreter that has them), and by a loop job that learns how to read them from its first items. With a browser: pages
that a script fills, read by Playwright with reused and with new contexts and with pictures, and by loop jobs with
`learn: off`, with the default and with pictures. Each figure of ours comes right after its floor, and every record is
compared with the truth.

CPU is that of all processes of the tree, the site's left out.

    python load-tests/bench/tiers.py [--pages 1500] [--scripted 150] [--rounds 3] [--concurrency 4] [--peers PYTHON]
        [--only http|page] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from _cluster import bench_cluster, run_job
from _processes import TreeCpu
from _report import Report, Target, arguments
from _tier_site import tier_site, truth
from pages import floor

from shoal.services.cluster.embedded import Cluster

_FLOORS = str(Path(__file__).resolve().parent / "_tier_floors.py")
_FETCHES = 16
"""Requests at once of the programs without a browser."""
_LOOK_S = 2.0
"""From one look at the job to the next: each shows all addresses of its loop, which no row of the table is about."""
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "currency": {"type": "string"},
        "sku": {"type": ["string", "null"]},
        "weight": {"type": ["string", "null"]},
    },
    "required": ["name", "price"],
}
HTTP = "http tier, to httpx and lxml"
HTTP_CPU = "http tier: CPU ms a page"
OFF, USUAL, PICTURED = "learn off", "default", "with pictures"
PAGE = {way: f"page tier {way}, to Playwright reused" for way in (OFF, USUAL, PICTURED)}
PAGE_CPU = f"page tier {OFF}: CPU ms a page"
LEARNING = "page tier, default to learn off"
_JOBS: dict[str, dict[str, Any]] = {
    OFF: {"learn": "off", "artifacts": {"screenshots": "none"}},
    USUAL: {"artifacts": {"screenshots": "none"}},
    PICTURED: {"learn": "off", "artifacts": {"screenshots": "all"}},
}


def bare(name: str, python: str, site: str, pages: int) -> tuple[float, float]:
    """Pages per second and CPU ms a page of one program without a browser."""
    with TreeCpu() as cpu:
        command = [python, _FLOORS, name, site, str(pages), str(_FETCHES)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    for n in range(pages):
        assert told["records"][str(n)] == truth(n), (name, n)
    return pages / told["seconds"], 1000 * cpu.seconds / pages


async def shoal(cluster: Cluster, urls: Sequence[str], job: dict[str, Any]) -> tuple[float, TreeCpu, list[Any]]:
    """Pages per second, CPU and result lines of one loop job, from its submission to its end."""
    spec = {
        "url": urls[0],
        "loop": {"values": list(urls), "is_link": True},
        "extract": {"schema": SCHEMA},
        "politeness": {"robots": False},
        **job,
    }
    with TreeCpu() as cpu:
        started = time.time()
        async with httpx.AsyncClient(base_url=cluster.url, timeout=60) as client:
            row = await run_job(client, spec, look_s=_LOOK_S)
            lines = (await client.get(f"/v1/jobs/{row['id']}/results")).text.splitlines()
    seconds = datetime.fromisoformat(row["finished_at"]).timestamp() - started
    told = [json.loads(line) for line in lines]
    assert len(told) == len(urls), (len(told), row["counts"])
    for line in told:
        right = truth(int(line["item"]["value"].rpartition("/")[2]))
        said = {name: right[name] for name, value in (line["record"] or {}).items() if value is not None}
        given = {name: value for name, value in (line["record"] or {}).items() if value is not None}
        assert given == said and {"name", "price"} <= given.keys(), (line["record"], line["error"])
    return len(urls) / seconds, cpu, told


async def http_tier(site: str, pages: int, concurrency: int, peers: str | None, report: Report) -> None:
    rate, ms = bare("httpx", sys.executable, site, pages)
    report.add("httpx and lxml: pages/s", rate)
    report.add("httpx and lxml: CPU ms a page", ms)
    for name in ("aiohttp", "scrapy") if peers else ():
        peer, ms = bare(name, str(peers), site, pages)
        report.add(f"{name}: pages/s", peer)
        report.add(f"{name}: CPU ms a page", ms)
    async with bench_cluster(concurrency) as cluster:
        await shoal(cluster, [f"{site}/static/{n}" for n in range(4 * concurrency)], {})  # the browser is warm
        ours, cpu, lines = await shoal(cluster, [f"{site}/static/{n}" for n in range(pages)], _JOBS[USUAL])
    report.add("http tier: pages/s", ours)
    report.add(HTTP, ours / rate)
    _add_cpu(report, "http tier", cpu, pages)
    report.add("http tier: share read without a browser", sum(line["tier"] == "http" for line in lines) / pages)


def _add_cpu(report: Report, name: str, cpu: TreeCpu, pages: int) -> None:
    spent = {kind: 1000 * seconds / pages for kind, seconds in cpu.by_kind.items() if kind != "the site"}
    report.add(f"{name}: CPU ms a page", sum(spent.values()))
    for kind, ms in sorted(spent.items(), key=lambda pair: -pair[1]):
        if ms >= 0.05:
            report.add(f"{name}: of it {kind}", ms)


async def page_tier(site: str, pages: int, concurrency: int, report: Report) -> None:
    urls = [f"{site}/scripted/{n}" for n in range(pages)]
    rates: dict[str, float] = {}
    for label, fresh, shots in (("new", True, False), ("reused, with pictures", False, True), ("reused", False, False)):
        rates[label], cpu_s = await floor(urls, concurrency, fresh=fresh, shots=shots)
        report.add(f"Playwright {label}: pages/s", rates[label])
        report.add(f"Playwright {label}: CPU ms a page", 1000 * cpu_s)
    ours: dict[str, float] = {}
    async with bench_cluster(concurrency) as cluster:
        await shoal(cluster, urls[: 4 * concurrency], _JOBS[OFF])
        for way, job in _JOBS.items():
            ours[way], cpu, _ = await shoal(cluster, urls, job)
            report.add(f"page tier {way}: pages/s", ours[way])
            report.add(PAGE[way], ours[way] / rates["reused"])
            _add_cpu(report, f"page tier {way}", cpu, pages)
    report.add(LEARNING, ours[USUAL] / ours[OFF])


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--scripted", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--peers", help="an interpreter that has aiohttp, Scrapy and lxml")
    parser.add_argument("--only", choices=("http", "page"))
    options = parser.parse_args()
    pages, scripted, rounds = (400, 60, 1) if options.quick else (options.pages, options.scripted, options.rounds)
    targets = {
        HTTP: Target(1.0),
        HTTP_CPU: Target(4.0, at_least=False),
        PAGE[OFF]: Target(0.9),
        PAGE[PICTURED]: Target(0.8),
        PAGE_CPU: Target(150.0, at_least=False),
        LEARNING: Target(0.98),
    }
    report = Report("tiers", targets)
    with tier_site() as site:
        for number in range(rounds):
            if options.only != "page":
                asyncio.run(http_tier(site, pages, options.concurrency, options.peers, report))
            if options.only != "http":
                asyncio.run(page_tier(site, scripted, options.concurrency, report))
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    at_once = f"{_FETCHES} and {options.concurrency} at once"
    load = f"load {os.getloadavg()[0]:.1f}"
    report.notes.append(f"{pages} static and {scripted} scripted pages, {rounds} rounds, {at_once}, {load}")
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
