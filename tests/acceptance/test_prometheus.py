"""A real Prometheus on a running cluster under load: every metric is there, dashboards have data, an alert fires.

More alerts are seen to fire in tests/integration/gateway/test_prometheus.py, where the dispatcher is played.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from services.metrics import CATALOGUE
from tests.acceptance.test_model import Script
from tests.deploy.test_monitoring import _names, _panels
from tests.embedded import Up, up, wait_until
from tests.model_server import ModelServer, serving
from tests.prometheus_server import Prometheus, prometheus

Json = Any
pytestmark = pytest.mark.timeout(400)  # a cluster has to start, and rules look back over some seconds

_MACROS = {"$__rate_interval": "15s", "$slot_hour_price": "0.02", "$million_tokens_price": "0.1"}

_OTHERS = ("vllm:", "ray_")
"""Metrics of servers that this test has not: a vLLM, and Ray's agent, which asks for its token."""

_EMPTY_WHEN_WELL = {"Which actions fail?"}
"""Panels that have nothing to show while nothing of the kind has happened."""


class Again(Script):
    """The same job again and again: click a link, read the page, done."""

    def __call__(self, body: Json) -> str:
        answer = super().__call__(body)
        if self.asked.count("plan") == 3:
            self.asked.clear()
        return answer


def _schema(field: str) -> Json:
    return {"schema": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}}


def _by_model(cluster: Up, shop: str) -> str:
    goal = "Read the heading of the delivery page."
    return cluster.submit({"url": f"{shop}/", "goal": goal, "extract": _schema("heading")})


def _by_rules(cluster: Up, shop: str) -> str:
    loop = {"from": {"select": "products"}}
    return cluster.submit({"url": f"{shop}/", "policy": "rules", "loop": loop, "extract": _schema("name")})


def _in_vain(cluster: Up, shop: str) -> str:
    loop = {"values": [f"{shop}/not-there-{n}" for n in range(40)], "is_link": True}
    return cluster.submit({"url": shop, "policy": "rules", "loop": loop, "extract": _schema("name")})


@contextmanager
def _busy(cluster: Up, shop: str) -> Iterator[None]:
    """Work of every kind without end: rates need it. The first of each kind is done when the context begins."""
    refused = httpx.post(f"{cluster.url}/v1/jobs", json={"url": shop, "goal": "x", "colour": "red"}, timeout=10)
    assert refused.status_code == 400, refused.text
    cluster.final(_by_rules(cluster, shop), 120)
    assert cluster.final(_by_model(cluster, shop), 120)["status"] == "completed"
    enough = threading.Event()

    def work() -> None:
        while not enough.is_set():
            jobs = [submit(cluster, shop) for submit in (_by_model, _in_vain, _by_rules)]
            for job in jobs:
                cluster.until(job, lambda row: enough.is_set() or row["finished_at"] is not None, 120)

    thread = threading.Thread(target=work, name="load")
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


def _see_every_metric(seen: Prometheus) -> None:
    for line in CATALOGUE:
        for series in line.exposed:
            wait_until(lambda name=series: seen.query(name), 15, f"{series} is scraped")
        for sample in seen.query(line.exposed[-1]):
            assert set(line.labels) <= sample["metric"].keys(), line.name
            value = float(sample["value"][1])
            assert value >= 0 and not math.isnan(value), f"{line.name} is {value}"
    at_least = {
        "shoal_pages_total": 10,
        "shoal_records_total": 5,
        "shoal_model_calls_total": 2,
        'shoal_tokens_total{kind="cached"}': 10,
        'shoal_attempts_total{status="failed",failure="site"}': 1,
        'shoal_sessions{status="completed"}': 5,
        "shoal_slots": 4,
        "shoal_workers": 1,
        "shoal_worker_memory_bytes": 100e6,
        "shoal_slot_seconds_total": 1,
        "shoal_jobs_submitted_total": 4,
        "shoal_submissions_refused_total": 1,
    }
    for expression, least in at_least.items():
        query = f"sum({expression})"
        wait_until(lambda text=query, n=least: (seen.value(text) or 0) >= n, 60, f"{query} is {least} or more")
    memory = seen.value("shoal_worker_memory_bytes / 2^20")
    print(f"memory of a worker with its browser, 4 slots busy or just used: {memory:.0f} MiB")
    assert seen.value("shoal_slots_busy <= bool shoal_slots") == 1


def _see_every_dashboard(seen: Prometheus) -> None:
    for where, panel in _panels():
        for target in panel["targets"]:
            expression = target["expr"]
            if panel["title"] in _EMPTY_WHEN_WELL or any(name.startswith(_OTHERS) for name in _names(expression)):
                continue
            if expression.endswith("< Inf"):
                continue  # no model server here bounds the sessions
            for macro, value in _MACROS.items():
                expression = expression.replace(macro, value)
            what = f"{where}: {panel['title']} ({expression})"
            wait_until(lambda text=expression: seen.query(text), 10, what)


def _fires(seen: Prometheus, alert: str, seconds: float = 40) -> None:
    wait_until(lambda: alert in seen.firing(), seconds, f"{alert} fires; {seen.firing()} do")


async def test_every_metric_is_scraped_and_dashboards_have_data(shop: str) -> None:
    def look(model_url: str) -> None:
        settings = {"workers": "1", "slots_per_worker": "4", "model_url": model_url, "model": "scripted"}
        with up(**settings) as cluster, prometheus(cluster.url.removeprefix("http://")) as seen:
            wait_until(lambda: seen.value("shoal_dispatchers") == 1, 20, "the first scrape")
            with _busy(cluster, shop):
                _see_every_metric(seen)
                _fires(seen, "ShoalManyFailures")
                _see_every_dashboard(seen)
                assert "ShoalNoDispatcher" not in seen.firing()

    async with serving(ModelServer(Again())) as server:
        await asyncio.to_thread(look, server.url)
