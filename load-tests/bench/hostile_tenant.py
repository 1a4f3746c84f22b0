"""Seconds of a tenant's sessions while another tenant attacks the installation, beside those of the tenant alone.

One embedded cluster with API keys. The good tenant loops over products of the demo shop, two at a time, all the while.
For the second half a hostile tenant does everything it may, over and over: jobs on hosts whose names resolve slowly,
schemas that are dear to check, huge pages, pages of endless alerts, pages of endless downloads, and jobs by the
hundred. Each half lasts `--seconds`. A session's time runs from its claim to its end; a job's from its submission, so
that it has the time in which its sessions wait for a slot. `--share` is what one tenant may hold of the slots
(`SHOAL_TENANT_SHARE`).

    python load-tests/bench/hostile_tenant.py [--seconds 300] [--slots 4] [--share 0.5] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
from _report import Report, Target, arguments
from _site import demo_site, loopback, products

from shoal.services.cluster.embedded import Cluster, embedded_cluster
from shoal.services.settings import load_settings
from shoal.services.store.store import open_store
from shoal.services.web.http.api_keys import hash_key, make_key

_ITEMS = 12  # of one job of the good tenant
_AT_ONCE = 2
_LOOK_S = 0.2
_BETWEEN_S = 1.0  # between two rounds of attacks
_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}
_DEAR: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^([a-z]+)+$"}},
    "allOf": [{"anyOf": [{"type": "object"}] * 20}] * 20,
}


class _Hostile(BaseHTTPRequestHandler):
    """Pages that cost a browser as much as a page may."""

    def do_GET(self) -> None:
        kind = self.path.strip("/").split("/")[0]
        if kind == "robots.txt":
            self.send_error(404)
            return
        if kind == "file":
            self._send("application/octet-stream", b"x" * 1_000_000, ("Content-Disposition", "attachment"))
            return
        self._send("text/html; charset=utf-8", _page(kind).encode())

    def _send(self, mime: str, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in (("Content-Type", mime), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


def _page(kind: str) -> str:
    head = "<!doctype html><title>Page</title><h1>Name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1</h1>"
    if kind == "huge":
        card = "<div class=card><a href=/item/{0}>Item {0}</a><p>words</p></div>"
        return head + "".join(card.format(n) for n in range(20_000))
    if kind == "alerts":
        return head + "<script>for (;;) alert('again')</script>"
    if kind == "downloads":
        one = "const a = document.createElement('a'); a.href = '/file/' + Math.random(); a.download = ''; a.click();"
        return head + f"<script>setInterval(() => {{ {one} }}, 50)</script>"
    return head


def attacks(site: str) -> Iterator[dict[str, Any]]:
    """Specs without end, one kind after another."""
    record = {"type": "object", "properties": {"name": {"type": "string"}}}
    for n in itertools.count():
        hosts = [f"http://nowhere-{n}-{i}.invalid/" for i in range(50)]
        yield {"url": hosts[0], "loop": {"values": hosts, "is_link": True}, "extract": {"schema": record}}
        yield {"url": f"{site}/plain/{n}", "extract": {"schema": _DEAR}}
        for kind in ("huge", "alerts", "downloads"):
            yield {"url": f"{site}/{kind}/{n}", "extract": {"schema": record}}
        pages = [f"{site}/plain/{n}-{i}" for i in range(100)]
        yield {"url": pages[0], "loop": {"values": pages, "is_link": True}, "extract": {"schema": record}}


async def good(client: httpx.AsyncClient, urls: list[str], seconds: float) -> tuple[list[float], list[float], int]:
    """Seconds of each session and of each job of the good tenant, and how many items did not complete."""
    sessions: list[float] = []
    jobs: list[float] = []
    lost = 0
    ends, turn = time.monotonic() + seconds, itertools.cycle(urls)
    while time.monotonic() < ends:
        values = [next(turn) for _ in range(_ITEMS)]
        loop = {"values": values, "is_link": True, "concurrency": _AT_ONCE}
        answer = await client.post("/v1/jobs", json={"url": values[0], "loop": loop, "extract": {"schema": _SCHEMA}})
        answer.raise_for_status()
        job, started = answer.json()["id"], time.monotonic()
        row = await _final(client, job)
        jobs.append(time.monotonic() - started)
        lost += _ITEMS - row["counts"]["completed"]
        lines = (await client.get(f"/v1/jobs/{job}/results")).text.splitlines()
        sessions += [json.loads(line)["seconds"] for line in lines]
    return sessions, jobs, lost


async def _final(client: httpx.AsyncClient, job: str) -> dict[str, Any]:
    while True:
        row: dict[str, Any] = (await client.get(f"/v1/jobs/{job}")).json()
        if row["finished_at"]:
            return row
        await asyncio.sleep(_LOOK_S)


async def hostile(client: httpx.AsyncClient, site: str, answers: Counter[int]) -> None:
    """One round of attacks after another, until canceled; counts what the gateway answers."""
    for number, spec in enumerate(attacks(site)):
        answers[(await client.post("/v1/jobs", json=spec)).status_code] += 1
        if number % 6 == 5:
            await asyncio.sleep(_BETWEEN_S)


@dataclass(frozen=True, slots=True)
class Setup:
    """The installation that is measured."""

    slots: int
    share: float  # of the slots that one tenant may hold
    seconds: float  # of each half


async def measure(shop: str, site: str, setup: Setup, report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as data:
        settings = load_settings(
            data_dir=Path(data),
            port=0,
            allow_private=True,
            slots_per_worker=setup.slots,
            tenant_share=setup.share,
            log_level="error",
            auth="on",
        )
        store = await open_store(settings.store_url, migrate=True)
        keys = {}
        for tenant in ("good", "hostile"):
            keys[tenant] = make_key()
            await store.create_key(tenant, tenant, ["read", "submit", "control"], hash_key(keys[tenant]))
        await store.close()
        async with embedded_cluster(settings) as cluster:
            await _both(cluster, keys, shop, site, setup.seconds, report)


async def _both(cluster: Cluster, keys: dict[str, str], shop: str, site: str, seconds: float, report: Report) -> None:
    urls = products(shop)
    answers: Counter[int] = Counter()
    async with _client(cluster, keys["good"]) as client, _client(cluster, keys["hostile"]) as enemy:
        await good(client, urls, 1)  # the browser and its first contexts are there
        alone = await good(client, urls, seconds)
        attacking = asyncio.create_task(hostile(enemy, site, answers))
        beside = await good(client, urls, seconds)
        attacking.cancel()
        await asyncio.gather(attacking, return_exceptions=True)
    for what, place in (("session", 0), ("job", 1)):
        before, after = statistics.median(alone[place]), statistics.median(beside[place])  # type: ignore[type-var]
        report.add(f"{what}, s, alone", before)
        report.add(f"{what}, s, beside the hostile tenant", after)
        report.add(f"{what}: times as long", after / before)
    report.add("items that did not complete", alone[2] + beside[2])
    report.notes.append(f"{len(alone[0])} sessions alone, {len(beside[0])} beside; answers to attacks: {dict(answers)}")


def _client(cluster: Cluster, key: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=cluster.url, headers={"Authorization": f"Bearer {key}"}, timeout=60)


@contextmanager
def _sites() -> Iterator[tuple[str, str]]:
    with demo_site("--warm") as shop, loopback.served(_Hostile) as site:
        yield shop, site


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--share", type=float, default=0.5, help="of the slots that one tenant may hold")
    options = parser.parse_args()
    targets = {
        "session: times as long": Target(1.5, at_least=False),
        "job: times as long": Target(1.5, at_least=False),
        "items that did not complete": Target(0, False),
    }
    setup = Setup(options.slots, options.share, 20.0 if options.quick else options.seconds)
    report = Report("hostile tenant", targets)
    with _sites() as (shop, site):
        asyncio.run(measure(shop, site, setup, report))
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
