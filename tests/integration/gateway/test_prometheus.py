"""A real Prometheus on a gateway whose dispatcher is played: metrics are there, dashboards have data, alerts fire."""

from __future__ import annotations

import asyncio
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
from services.settings import Settings
from services.store.sql import open_store
from services.store.store import Store
from services.tally import Tally
from tests.embedded import wait_until
from tests.monitoring import fires, see_every_dashboard, see_every_metric
from tests.prometheus_server import prometheus

Json = Any
pytestmark = pytest.mark.timeout(180)  # rules look back over some seconds


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
        tally.add("shoal_browser_restarts", n=restarts[0] - tally.counts.get(("shoal_browser_restarts",), 0))
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


def _call(url: str) -> None:
    """A submission that is taken, and one that is not."""
    spec = {"url": "http://127.0.0.1/", "extract": {"schema": {"type": "object", "properties": {"a": {}}}}}
    assert httpx.post(f"{url}/v1/jobs", json=spec, timeout=10).status_code == 201
    assert httpx.post(f"{url}/v1/jobs", json=spec | {"colour": "red"}, timeout=10).status_code == 400


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
                see_every_metric(seen)
                see_every_dashboard(seen)
                fires(seen, "ShoalManyFailures")
                assert seen.firing() == {"ShoalManyFailures"}
                restarts[0] = 9
                fires(seen, "ShoalBrowsersDie")

            await asyncio.to_thread(look)
            playing.cancel()
            await asyncio.to_thread(fires, seen, "ShoalNoDispatcher")
            await store.close()
            await stack.aclose()
            await asyncio.to_thread(fires, seen, "ShoalGatewayAway")
