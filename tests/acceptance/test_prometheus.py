"""A real Prometheus on a running cluster under load: every metric is there, dashboards have data, alerts fire.

The faults here are real. The rest: those that take longer in tests/chaos/test_alerts.py, those of model servers in
tests/vllm/test_prometheus.py, the database's and what no test can bring about in
tests/integration/gateway/test_prometheus.py.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from shoal.agent.support.json_value import Json
from tests.acceptance.bad_servers import gone_receiver
from tests.acceptance.test_model import Script
from tests.embedded import Up, up, wait_until
from tests.model_server import ModelServer, serving, status
from tests.monitoring import busy, fires, replayed, see_every_dashboard, see_every_metric
from tests.prometheus_server import Prometheus, Scrape, prometheus

pytestmark = pytest.mark.timeout(800)  # a cluster has to start, and rules look back over some seconds

_EMPTY_WHEN_WELL = {"Which actions fail?", "How many sessions may ask the model, and how many do?"}
"""Panels that have nothing to show: no action failed, and no model server bounds the sessions."""


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
    refused = httpx.post(f"{cluster.url}/v1/jobs", json={"url": shop, "goal": "x", "colour": "red"}, timeout=60)
    assert refused.status_code == 400, refused.text
    cluster.final(_by_rules(cluster, shop), 120)
    cluster.final(replayed(cluster, shop), 120)
    assert cluster.final(_by_model(cluster, shop), 120)["status"] == "completed"
    kinds = _by_model, _in_vain, _by_rules
    with (
        busy(cluster, lambda: [submit(cluster, shop) for submit in kinds], 120),
        busy(cluster, lambda: [replayed(cluster, shop)], 120),
    ):
        yield


def _see_figures(seen: Prometheus) -> None:
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


@contextmanager
def _no_folder(path: Path) -> Iterator[None]:
    """Something that is no folder lies where one was."""
    kept = path.rename(path.with_name(path.name + ".kept"))
    path.touch()
    try:
        yield
    finally:
        path.unlink()
        kept.rename(path)


def _see_faults(seen: Prometheus, cluster: Up, shop: str, model: ModelServer) -> None:
    """Model broken, receiver gone, artifacts away, all at once."""
    model.always = status(400, "no")
    with gone_receiver() as url, _no_folder(cluster.data_dir / "artifacts"):
        cluster.submit({"url": f"{shop}/not-there", "extract": _schema("name"), "webhook": {"url": url}})
        asked: list[float] = []

        def broken(alert: str) -> bool:
            """Return whether it fires; asks for what is away, and each second a model that is of no use."""
            assert {httpx.get(f"{cluster.url}/readyz", timeout=60).status_code for _ in range(5)} == {503}
            if not asked or time.monotonic() - asked[-1] > 1:
                _by_model(cluster, shop)
                asked.append(time.monotonic())
            return alert in seen.firing()

        for name in ("ShoalWebhooksDead", "ShoalGatewayErrors", "ShoalModelFails"):
            wait_until(lambda alert=name: broken(alert), 45, f"{name} fires")


def _see_no_workers(seen: Prometheus, cluster: Up, shop: str) -> None:
    for _ in range(5):
        _in_vain(cluster, shop)

    def kill_what_lives() -> bool:
        for worker in cluster.named("ray::BrowserWorkerActor"):
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        return "ShoalNoBrowsers" in seen.firing()

    wait_until(kill_what_lives, 45, "the alert of a cluster without browsers")


async def test_every_metric_is_scraped_dashboards_have_data_and_alerts_fire(shop: str) -> None:
    def look(model_url: str) -> None:
        settings = {"workers": "1", "slots_per_worker": "4", "model_url": model_url, "model": "scripted"}
        with ExitStack() as until_away, ExitStack() as stack:
            cluster = stack.enter_context(up(**settings))
            address, token = cluster.ray_metrics()
            ray = Scrape("ray", address, "browsers-1", token)
            seen = until_away.enter_context(prometheus(cluster.url.removeprefix("http://"), ray))
            wait_until(lambda: seen.value("shoal_dispatchers") == 1, 20, "the first scrape")
            with _busy(cluster, shop):
                see_every_metric(seen)
                _see_figures(seen)
                fires(seen, "ShoalManyFailures")
                see_every_dashboard(seen, but=_EMPTY_WHEN_WELL, without=("vllm:",))
                assert "ShoalNoDispatcher" not in seen.firing()
                _see_faults(seen, cluster, shop, server)
            _see_no_workers(seen, cluster, shop)
            stack.close()
            fires(seen, "ShoalGatewayAway")

    async with serving(ModelServer(Again())) as server:
        await asyncio.to_thread(look, server.url)
