"""A real Prometheus on a gateway whose dispatcher is played: metrics are there, dashboards have data, alerts fire."""

from __future__ import annotations

import asyncio
import math
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.errors import ElementMissing, NavigationTimeout
from agent.status import Status
from agent.types import Action, ActionResult, Outcome, Record, Step, Task, Usage
from services.browsers.pool import WorkerStats
from services.cluster.serving import gateway_alone
from services.dispatch.counting import Counting
from services.metrics import CATALOGUE
from services.settings import Settings
from services.store.sql import open_store
from services.store.store import Store
from services.tally import Tally
from tests.deploy.test_monitoring import _names, _panels
from tests.embedded import wait_until
from tests.prometheus_server import Prometheus, prometheus

Json = Any
pytestmark = pytest.mark.timeout(180)  # rules look back over some seconds

_MACROS = {"$__rate_interval": "15s", "$slot_hour_price": "0.02", "$million_tokens_price": "0.1"}
_OTHERS = ("vllm:", "ray_")
"""Metrics of servers that this test has not."""


def _good() -> Outcome:
    failed = ActionResult(Action("click", {"bid": "a2"}), ElementMissing("gone").info(), seconds=0.1)
    step = Step(0, "https://x.example", "", (ActionResult(Action("click", {"bid": "a1"}), seconds=0.2), failed))
    return Outcome(
        Status.COMPLETED,
        records=(Record({"name": "x"}),),
        seconds=2.0,
        tasks=(Task("navigate", "go", Status.COMPLETED, steps=(step,)),),
        usage=Usage(model_calls=2, prompt_tokens=100, completion_tokens=10, cached_tokens=80, pages=3),
    )


_BAD = Outcome(Status.FAILED, error=NavigationTimeout("slow").info(), seconds=3.0)


async def _play(store: Store, restarts: list[int]) -> None:
    """A dispatcher with one worker: every second ten sessions end well and six do not."""
    counting, tally = Counting(), Tally()
    while True:
        for outcome in [_good()] * 10 + [_BAD] * 6:
            counting.ended(outcome)
        tally.observe("shoal_model_seconds", "ok", seconds=0.5)
        worker = {"name": "w", "slots": 4, "busy": 3, "waiting": 0, "browsers": 1, "rss_bytes": 300_000_000}
        stats = WorkerStats(**worker, browser_restarts=restarts[0], held={}, figures=tally.figures())  # type: ignore[arg-type]
        counting.workers([stats])
        model = {"limit": 8, "active": 3, "servers": [{"up": True}]}
        snapshot = {
            "workers": [worker | {"browser_restarts": restarts[0]}],
            **{"slots": 4, "busy": 3, "leases": 3, "uncommitted": 0, "lanes_waiting": {}, "model": model},
            **{"queue_age_s": 1.0, "figures": counting.tally.figures(), "ended": 100, "failed": 5},
        }
        await store.put_state("dispatcher/main", snapshot)
        await asyncio.sleep(1)


def _fires(seen: Prometheus, alert: str) -> None:
    wait_until(lambda: alert in seen.firing(), 45, f"{alert} fires; {seen.firing()} do")


def _call(url: str) -> None:
    """A submission that is taken, and one that is not."""
    spec = {"url": "http://127.0.0.1/", "extract": {"schema": {"type": "object", "properties": {"a": {}}}}}
    assert httpx.post(f"{url}/v1/jobs", json=spec, timeout=10).status_code == 201
    assert httpx.post(f"{url}/v1/jobs", json=spec | {"colour": "red"}, timeout=10).status_code == 400


def _see_every_metric(seen: Prometheus) -> None:
    for line in CATALOGUE:
        for series in line.exposed:
            wait_until(lambda name=series: seen.query(name), 15, f"{series} is scraped")
        for sample in seen.query(line.exposed[-1]):
            assert set(line.labels) <= sample["metric"].keys(), line.name
            value = float(sample["value"][1])
            assert value >= 0 and not math.isnan(value), f"{line.name} is {value}"


def _see_every_dashboard(seen: Prometheus) -> None:
    for where, panel in _panels():
        for target in panel["targets"]:
            expression = target["expr"]
            if any(name.startswith(_OTHERS) for name in _names(expression)):
                continue
            for macro, value in _MACROS.items():
                expression = expression.replace(macro, value)
            what = f"{where}: {panel['title']} ({expression})"
            wait_until(lambda text=expression: seen.query(text), 20, what)


async def test_prometheus_sees_every_metric_dashboards_have_data_and_alerts_fire(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, port=0, allow_private=True, webhooks=False)
    restarts = [0]
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(gateway_alone(settings))
        store = await open_store(settings.store_url)
        playing = asyncio.create_task(_play(store, restarts))
        with prometheus(url.removeprefix("http://")) as seen:

            def look() -> None:
                wait_until(lambda: seen.value("shoal_dispatchers") == 1, 20, "the first scrape")
                _call(url)
                _see_every_metric(seen)
                _see_every_dashboard(seen)
                _fires(seen, "ShoalManyFailures")
                assert seen.firing() == {"ShoalManyFailures"}
                restarts[0] = 9
                _fires(seen, "ShoalBrowsersDie")

            await asyncio.to_thread(look)
            playing.cancel()
            await asyncio.to_thread(_fires, seen, "ShoalNoDispatcher")
            await store.close()
            await stack.aclose()
            await asyncio.to_thread(_fires, seen, "ShoalGatewayAway")
