"""Four mornings of a schedule in simulated time: a gateway, a dispatcher and real browsers beside each other.

Prices change, products come and go, on one day a quarter of the shop has another layout, and clocks change on the next.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import boto3
import httpx
import psycopg
import pytest

from shoal.services.addresses import Reach
from shoal.services.artifacts.open import open_artifacts
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.session_parts.real_parts import make_worker
from shoal.services.browsers.worker import Worker
from shoal.services.cluster.gateway import gateway
from shoal.services.cluster.serving import listening
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.secrets.folder import SecretFolder
from shoal.services.settings import Settings
from shoal.services.store.store import Store, open_store
from tests.integration.sinks.relay import relay
from tests.mail_server import Letters, mail_server
from tests.patience import PATIENCE_S, PATIENT
from tests.priced_shop import FIELDS, priced_shop
from tests.s3_server import ANY, S3Server

pytestmark = pytest.mark.timeout(600)

PRODUCTS = 26
DAYS = 4
RELAUNCH = 2
"""The day with another layout, counted from 0."""
ZONE = ZoneInfo("Europe/Berlin")
FIRST = datetime(2026, 10, 22, 7, tzinfo=ZONE)
"""The first morning: clocks change on the fourth."""
DAY_S = 86_400
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name"],
}


@dataclass
class Mornings:
    """Everything that runs, and its clock."""

    http: httpx.AsyncClient
    store: Store
    clock: list[float]  # what is added to the machine's clock

    async def json(self, path: str) -> Any:
        answer = await self.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def lines(self, path: str) -> list[Any]:
        answer = await self.http.get(path)
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    async def set_clock(self, moment: datetime) -> None:
        """Lets time go by. A commit wakes those who wait for their time."""
        self.clock[0] = moment.timestamp() - time.time()
        await self.store.set_tenant_notify("nobody", ())

    async def run_of(self, moment: datetime) -> dict[str, Any]:
        """The run of a morning, once it is judged and its records are written."""
        await self.set_clock(moment)
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            for run in (await self.json("/v1/schedules/prices/runs?limit=1"))["runs"]:
                if run["records"] is not None and datetime.fromisoformat(run["at"]) == moment:
                    sinks = (await self.json(f"/v1/jobs/{run['job']}"))["sinks"]
                    if all(
                        sink["state"] == ("held" if run["degraded"] and not n else "done")
                        for n, sink in enumerate(sinks)
                    ):
                        return dict(run)
            await asyncio.sleep(0.25)
        seen = [await self.json(path) for path in ("/v1/schedules/prices/runs?limit=2", "/v1/jobs", "/v1/status")]
        raise AssertionError(f"the run of {moment} is not over: {seen}")


@asynccontextmanager
async def mornings(folder: Path) -> AsyncIterator[tuple[Mornings, Letters]]:
    clock = [FIRST.timestamp() - 3600 - time.time()]
    with mail_server() as (letters, mail), listening("127.0.0.1", 0) as listener:
        settings = Settings(
            data_dir=folder,
            secrets_dir=folder / "secrets",
            allow_private=True,
            smtp_url=f"smtp://{mail.host}:{mail.port}",
            mail_from="shoal@example.com",
            metrics_port=0,
        )
        config = WorkerConfig(
            slots=2,
            artifacts_url=str(folder / "artifacts"),
            reach=Reach(allow_private=True),
            context=PATIENT,
            temp_dir=str(folder / "temp"),
        )

        async def make(name: str) -> Worker:
            return await make_worker(name, config)

        store = await open_store(f"sqlite:///{folder}/shoal.db", clock=lambda: time.time() + clock[0])
        artifacts = open_artifacts(config.artifacts_url)
        dispatcher = Dispatcher(store, LocalPool(make, config.slots), DispatchConfig(drain_s=1.0), artifacts=artifacts)
        await dispatcher.start()
        try:
            async with gateway(listener, settings, store, artifacts) as url, httpx.AsyncClient(base_url=url) as http:
                yield Mornings(http, store, clock), letters
        finally:
            await dispatcher.stop()
            await store.close()


def prices(day: int) -> dict[int, float]:
    """The shop's prices on a day: each morning two prices are others, one product is gone and two are new."""
    told = {n: n + 0.5 for n in range(1 + day, PRODUCTS + 1 + 2 * day)}
    for earlier in range(1, day + 1):
        told |= {4 * earlier + n: 4 * earlier + n + 0.75 for n in range(2)}
    return told


def relaunched(day: int) -> frozenset[int]:
    """Products whose pages have another layout: on one day every fourth."""
    return frozenset(n for n in prices(day) if n % 4 == 0) if day == RELAUNCH else frozenset()


def truth(day: int) -> dict[str, float | None]:
    """Return what can be read on a day, by the names of products."""
    return {f"Product {n}": None if n in relaunched(day) else price for n, price in prices(day).items()}


def changes(before: dict[str, float | None], after: dict[str, float | None]) -> set[tuple[str, str]]:
    """Return what changed from one day to another, with the name of each product."""
    both = before.keys() & after.keys()
    return {
        *(("appeared", name) for name in after.keys() - both),
        *(("went", name) for name in before.keys() - both),
        *(("changed", name) for name in both if before[name] != after[name]),
    }


def unchanged(day: int) -> set[int]:
    """Products whose pages are those of the day before."""
    before, after = prices(day - 1), prices(day)
    moved = relaunched(day - 1) ^ relaunched(day)
    return {n for n in after if after[n] == before.get(n) and n not in moved}


def rows(url: str) -> dict[str, float | None]:
    with psycopg.connect(url) as connection:
        told = connection.execute("select name, price from products").fetchall()
    assert len(told) == len({name for name, _ in told})
    return {name: None if price is None else float(price) for name, price in told}


def newest(server: S3Server, bucket: str) -> tuple[dict[str, Any], dict[str, float | None]]:
    """Return what the pointer in the bucket says, and the records of the files that it names."""
    there = boto3.resource("s3", endpoint_url=server.url, region_name="us-east-1", **ANY).Bucket(bucket)
    files = {found.key.removeprefix("prices/"): found.get()["Body"].read() for found in there.objects.all()}
    pointer = json.loads(files["latest.json"])
    records = [json.loads(line) for name in pointer["files"] for line in files[name].splitlines()]
    return pointer, {record["name"]: record.get("price") for record in records}


@pytest.fixture
def bucket(tmp_path: Path) -> Any:
    server = S3Server(tmp_path / "s3.log")
    server.bucket("mornings")
    yield server
    server.kill()


async def test_four_mornings(tmp_path: Path, empty_postgres_url: str, bucket: S3Server) -> None:
    socket = parse_qs(urlsplit(empty_postgres_url).query)["host"][0] + "/.s.PGSQL.5432"
    secrets = SecretFolder(tmp_path / "secrets")
    (tmp_path / "secrets").mkdir()
    for name in ("S3_KEY", "S3_SECRET"):
        secrets.put("default", name, "any-value-of-it", [bucket.url])
    with priced_shop() as (shop, url):
        async with relay(socket) as port, mornings(tmp_path) as (w, letters):
            place = {"host": "127.0.0.1", "port": port.port, "database": urlsplit(empty_postgres_url).path[1:]}
            job = {
                "url": url,
                "loop": {"from": {"select": "a.product"}, "concurrency": 2},
                "extract": {"schema": SCHEMA, "fields": FIELDS},
                "artifacts": {"evidence": "document"},
                "politeness": {"robots": False},
                "changes": {"skip_unchanged": True},
                "policy": "rules",
                "sinks": [
                    {"postgres": {**place, "user": "postgres", "tls": False, "table": "products", "key": ["name"]}},
                    {
                        "s3": {
                            "url": "s3://mornings/prices",
                            "endpoint_url": bucket.url,
                            "access_key": "secret:S3_KEY",
                            "secret_key": "secret:S3_SECRET",
                        },
                        "degraded": True,
                    },
                ],
                "notify": [
                    {
                        "by": "email",
                        "to": "ops@example.com",
                        "events": ["job.finished", "job.degraded", "records.changed"],
                        "every_s": DAY_S - 7200,
                    }
                ],
            }
            spec = {"name": "prices", "cron": "0 7 * * *", "time_zone": "Europe/Berlin", "job": job}
            answer = await w.http.post("/v1/schedules", json=spec)
            assert answer.status_code == 201, answer.text
            jobs, table = list[str](), dict[str, float | None]()
            for day in range(DAYS):
                shop.prices, shop.relaunched = prices(day), relaunched(day)
                shop.asked.clear()
                run = await w.run_of(FIRST + timedelta(days=day))
                jobs.append(run["job"])
                if day:
                    same = unchanged(day)
                    assert len(same) > PRODUCTS // 2
                    assert {n: shop.asked[n] for n in same} == {n: ["unchanged"] for n in same}, "once each"
                await degraded_on(w, run, day)
                if day != RELAUNCH:  # a degraded run is held back from the table
                    table |= truth(day)  # what is gone keeps its row
                assert await asyncio.to_thread(rows, empty_postgres_url) == table
                pointer, there = await asyncio.to_thread(newest, bucket, "mornings")
                assert (pointer["job"], there) == (jobs[day], truth(day))
                assert pointer["date"] == (FIRST + timedelta(days=day)).date().isoformat()
                await w.set_clock(FIRST + timedelta(days=day, hours=1))
                async with asyncio.timeout(PATIENCE_S):
                    while len(letters.got) <= day:
                        await asyncio.sleep(0.05)
                told = letters.got[-1].get_content()
                assert f"Items: {len(prices(day))} completed." in told
                assert ("price: 75% of the records give it; 100% was usual" in told) == (day == RELAUNCH)
                assert ("Held back from: postgres: products of " in told) == (day == RELAUNCH)
                if day not in (0, RELAUNCH):
                    good = day - 2 if day == RELAUNCH + 1 else day - 1
                    kinds = Counter(kind for kind, _ in changes(truth(good), truth(day)))
                    counted = ", ".join(f"{kinds[kind]} {kind}" for kind in ("appeared", "went", "changed"))
                    assert f"Changes since {jobs[good]}: {counted}." in told
            for day in range(1, DAYS):
                lines = await w.lines(f"/v1/jobs/{jobs[day]}/changes?since={jobs[day - 1]}")
                seen = {(line["change"], line["record"]["name"]) for line in lines}
                assert (len(lines), seen) == (len(seen), changes(truth(day - 1), truth(day))), day
                for line in lines:
                    before, after = truth(day - 1), truth(day)
                    if line["change"] == "changed":
                        name = line["record"]["name"]
                        assert line["fields"] == {"price": {"before": before[name], "after": after[name]}}
        assert len(letters.got) == DAYS, "one a day"


async def degraded_on(w: Mornings, run: dict[str, Any], day: int) -> None:
    """The day with another layout is degraded for that reason, and two pictures show it; no other day is."""
    reasons = [(reason["kind"], reason["field"]) for reason in run["degraded"]]
    assert reasons == ([("given", "price")] if day == RELAUNCH else []), day
    if day == RELAUNCH:
        pictures = []
        for which in ("picture_before", "picture_now"):
            answer = await w.http.get(f"/v1/artifacts/{run[which]}", follow_redirects=True)
            assert answer.headers["content-type"] == "image/jpeg" and answer.content.startswith(b"\xff\xd8")
            pictures.append(answer.content)
        assert pictures[0] != pictures[1]
