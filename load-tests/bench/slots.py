"""Memory, CPU and pages of one browser with 1, 2, 4, 8 and 16 slots.

A loop over the demo shop's products with every default of a job (screenshots, emptied contexts), through the whole
cluster. Memory is the proportional set size (what processes share is split among them) of the worker's process,
Playwright's driver and all of Chromium, looked at twice a second while every slot is busy; CPU is that of the same
processes. What else runs on the machine, the shop and the cluster's other parts, is in neither. Pods are sized by
it, in docs/operations/size.md.

    python load-tests/bench/slots.py [--pages 160] [--rounds 1] [--slots 1,2,4,8,16] [--heavy] [--quick] [--json]

`--heavy` reads pages of about 2 MB, of a server here, in place of the shop's.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import psutil
from _cluster import bench_cluster, run_job
from _processes import cpu_s
from _report import Report, arguments
from _site import demo_site, loopback, products

_LOOK_S = 0.5
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


class Family:
    """The worker's process with everything below it."""

    def __init__(self) -> None:
        below = psutil.Process().children(recursive=True)
        (self._worker,) = [one for one in below if "BrowserWorkerActor" in "".join(one.cmdline())]

    def pss_mib(self) -> float:
        """Memory now; a process that ends meanwhile counts as nothing."""
        total = 0
        for one in self._all():
            try:
                rollup = Path(f"/proc/{one.pid}/smaps_rollup").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        return total / 1024

    def cpu_s(self) -> float:
        """CPU seconds so far, of those that ended too: a renderer lives for a few pages."""
        return cpu_s(self._all())

    def browsers(self) -> set[int]:
        """Main processes of Chromium."""
        found = set()
        for one in self._all():
            with suppress(psutil.NoSuchProcess):
                if "--remote-debugging-pipe" in one.cmdline():
                    found.add(one.pid)
        return found

    def _all(self) -> list[psutil.Process]:
        return [self._worker, *self._worker.children(recursive=True)]


async def loop(client: httpx.AsyncClient, urls: list[str]) -> dict[str, Any]:
    """The job that reads all of these pages, once it has ended."""
    spec = {"url": urls[0], "loop": {"values": urls, "is_link": True}, "extract": {"schema": SCHEMA}}
    row = await run_job(client, spec, look_s=_LOOK_S)
    assert row["counts"]["completed"] == row["counts"]["expected"], row["counts"]
    return row


async def watch(family: Family, seen: list[float]) -> None:
    while True:
        seen.append(await asyncio.to_thread(family.pss_mib))
        await asyncio.sleep(_LOOK_S)


async def one_size(urls: list[str], slots: int, report: Report) -> None:
    async with bench_cluster(slots) as cluster, httpx.AsyncClient(base_url=cluster.url, timeout=30) as client:
        await loop(client, (urls * slots)[: 3 * slots])  # every slot has had a page
        family, seen = Family(), [0.0]
        idle, browsers = family.pss_mib(), family.browsers()
        cpu, started = family.cpu_s(), time.time()
        watching = asyncio.create_task(watch(family, seen))
        row = await loop(client, urls)
        spent, seconds = family.cpu_s() - cpu, datetime.fromisoformat(row["finished_at"]).timestamp() - started
        replaced = family.browsers() != browsers
        watching.cancel()
    name = f"{slots} slot{'s' * (slots > 1)}"
    report.add(f"{name}: MiB, most", max(seen))
    report.add(f"{name}: MiB, median", statistics.median(seen[1:]))
    report.add(f"{name}: MiB, between two jobs", idle)
    report.add(f"{name}: pages/s", len(urls) / seconds)
    if replaced:  # what the old one spent is gone with it
        report.notes.append(f"{name}: the browser was replaced, as it is when it holds too much; CPU unknown")
        return
    report.add(f"{name}: CPU s/page", spent / len(urls))
    report.add(f"{name}: cores", spent / seconds)


class _Heavy(BaseHTTPRequestHandler):
    """Pages of 2,000 rows with a script's data and pictures beside: what a large shop's list is."""

    def do_GET(self) -> None:
        if self.path.endswith("robots.txt"):
            self.send_error(404)
            return
        picture = self.path.startswith("/picture")
        body = _picture(self.path) if picture else _page(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml" if picture else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


def _page(path: str) -> bytes:
    number = path.rpartition("/")[2]
    row = "<li class=card><a href=/item/{0}>Item {0} of {1}</a><p>{2}</p><button>Buy</button><select>{3}</select></li>"
    options = "".join(f"<option>{n}</option>" for n in range(8))
    rows = "".join(row.format(n, number, "words about it " * 40, options) for n in range(2_000))
    pictures = "".join(f"<img width=400 height=300 src=/picture/{number}/{n}>" for n in range(24))
    script = "window.kept = Array.from({length: 400000}, (_, n) => ({n, name: 'item ' + n}))"
    head = f"<!doctype html><title>List {number}</title><h1>List {number}</h1>"
    return f"{head}{pictures}<ul>{rows}</ul><script>{script}</script>".encode()


def _picture(path: str) -> bytes:
    hue = sum(path.encode()) % 360
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="1200">'
        f'<rect width="1600" height="1200" fill="hsl({hue},60%,60%)"/></svg>'
    ).encode()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--pages", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--slots", default="")
    parser.add_argument("--heavy", action="store_true")
    options = parser.parse_args()
    pages = 32 if options.quick else options.pages
    sizes = [int(one) for one in (options.slots or ("1,4,16" if options.quick else "1,2,4,8,16")).split(",")]
    report = Report("slots")
    with loopback.served(_Heavy) if options.heavy else demo_site("--warm") as site:
        good = [f"{site}/list/{n}" for n in range(pages)] if options.heavy else products(site)
        urls = (good * (pages // len(good) + 1))[:pages]
        for _ in range(1 if options.quick else options.rounds):
            for slots in sizes:
                asyncio.run(one_size(urls, slots, report))
    report.notes.append(_grows(report, sizes))
    report.notes.append(f"{pages} pages, {options.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    report.show(as_json=options.json)


def _grows(report: Report, sizes: list[int]) -> str:
    few, many = (f"{n} slot{'s' * (n > 1)}: MiB, most" for n in (min(sizes), max(sizes)))
    if few == many:
        return ""
    grown = (report.median(many) - report.median(few)) / (max(sizes) - min(sizes))
    return f"each further slot: {grown:.0f} MiB at most"


if __name__ == "__main__":
    main()
