"""A real Prometheus on a gateway whose dispatcher is played: metrics are there, dashboards have data, alerts fire."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from shoal.agent.errors import ElementMissing, NavigationTimeout, Unexpected
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, Outcome, Record, Step, Task, Usage
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.cluster.gateway import gateway_alone
from shoal.services.dispatch.status.dispatch_metrics import DispatchMetrics
from shoal.services.metrics_delta import MetricsDelta
from shoal.services.settings import Settings
from shoal.services.store.records import NewJob
from shoal.services.store.store import Store, open_store
from tests.embedded import LOOK_S, wait_until
from tests.monitoring import fires, see_every_dashboard, see_every_metric
from tests.postgres import own_server
from tests.prometheus_server import Prometheus, prometheus

pytestmark = pytest.mark.timeout(900)  # rules look back over some seconds, beside other rings


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
_BUG = Outcome(Status.FAILED, error=Unexpected("no rule foresaw this").info(), seconds=3.0)


@dataclass
class Played:
    """The snapshot of the dispatcher that is played, besides its counts."""

    restarts: int = 0
    leases_expired: int = 0
    workers_lost: int = 0
    slots: int = 4
    busy: int = 3
    queue_age_s: float = 1.0
    uncommitted: int = 0
    model_up: bool = True
    bad: Outcome = _BAD
    model_call: tuple[str, float] = ("ok", 0.5)  # how each second's ends, and after how long


async def _play(store: Store, played: Played) -> None:
    """A dispatcher with one worker: every second ten sessions end well and six do not."""
    counting, metrics_delta = DispatchMetrics(), MetricsDelta()
    while True:
        for outcome in [_good()] * 10 + [played.bad] * 6:
            counting.ended(outcome)
        metrics_delta.add("shoal_replay_hits", "field", "css")
        outcome_of_call, took_s = played.model_call
        metrics_delta.observe("shoal_model_seconds", outcome_of_call, seconds=took_s)
        for name in ("browser_restarts", "leases_expired", "workers_lost"):
            wanted = played.restarts if name == "browser_restarts" else getattr(played, name)
            metrics_delta.add(f"shoal_{name}", n=wanted - metrics_delta.counts.get((f"shoal_{name}",), 0))
        worker = {"name": "w", "slots": 4, "busy": 3, "waiting": 0, "browsers": 1, "rss_bytes": 300_000_000}
        stats = WorkerStats(**worker, browser_restarts=played.restarts, held={}, figures=metrics_delta.figures())  # type: ignore[arg-type]
        counting.workers([stats])
        model = {"limit": 8, "active": 3, "servers": [{"up": played.model_up}]}
        snapshot = {
            "workers": [worker | {"browser_restarts": played.restarts}],
            **{"slots": played.slots, "busy": played.busy, "leases": 3, "uncommitted": played.uncommitted},
            **{"lanes_waiting": {}, "model": model, "queue_age_s": played.queue_age_s},
            **{"figures": counting.delta.figures(), "ended": 100, "failed": 5},
        }
        await store.put_state("dispatcher/main", snapshot)
        await asyncio.sleep(1)


def _see_what_goes_wrong(seen: Prometheus, played: Played) -> None:
    """Faults that do not exclude each other come together: their alerts rise side by side."""
    cold = Usage(model_calls=1, prompt_tokens=200_000, completion_tokens=10, cached_tokens=1)
    played.bad, played.model_call = replace(_BUG, usage=cold), ("failed", 60.0)
    played.restarts, played.leases_expired, played.uncommitted = 9, 60, 6_000
    played.model_up, played.queue_age_s = False, 1_000.0
    for alert in ("BrowsersDie", "LeasesExpire", "OutcomesPileUp", "ModelAway", "QueueStuck", "Bugs"):
        fires(seen, f"Shoal{alert}")
    for alert in ("ModelFails", "ModelSlow", "PrefixCacheCold", "WebhooksPileUp"):
        fires(seen, f"Shoal{alert}")
    played.workers_lost, played.busy = 9, 4
    fires(seen, "ShoalWorkersLost")
    fires(seen, "ShoalSlotsExhausted")
    played.slots = played.busy = 0
    fires(seen, "ShoalNoBrowsers")


async def _many_messages(store: Store) -> None:
    """More webhook messages than are well, and no gateway that sends them."""
    hook = {"url": "http://127.0.0.1:9/hook"}
    spec = JobSpec.model_validate({"url": "http://127.0.0.1/", "goal": "x", "webhook": hook})
    for one in await store.submit([NewJob("default", spec, "127.0.0.1")] * 1_001):
        await store.cancel(one.job)


def _call(url: str) -> None:
    """A submission that is taken, and one that is not."""
    spec = {"url": "http://127.0.0.1/", "extract": {"schema": {"type": "object", "properties": {"a": {}}}}}
    assert httpx.post(f"{url}/v1/jobs", json=spec, timeout=60).status_code == 201
    assert httpx.post(f"{url}/v1/jobs", json=spec | {"colour": "red"}, timeout=60).status_code == 400


async def test_prometheus_sees_every_metric_dashboards_have_data_and_alerts_fire(tmp_path: Path) -> None:
    played = Played()
    async with AsyncExitStack() as stack:
        database = stack.enter_context(own_server())
        settings = Settings(data_dir=tmp_path, port=0, allow_private=True, webhooks=False, store_url=database.url)
        store = await open_store(settings.store_url, migrate=True)
        gateway = await stack.enter_async_context(AsyncExitStack())
        url = await gateway.enter_async_context(gateway_alone(settings))
        playing = asyncio.create_task(_play(store, played))
        with prometheus(url.removeprefix("http://")) as seen:

            def look() -> None:
                wait_until(lambda: seen.value("shoal_dispatchers") == 1, 20, "the first scrape", LOOK_S)
                _call(url)
                see_every_metric(seen)
                see_every_dashboard(seen, without=("vllm:", "ray_"))
                fires(seen, "ShoalManyFailures")
                assert seen.firing() == {"ShoalManyFailures"}

            await asyncio.to_thread(look)
            await _many_messages(store)
            await asyncio.to_thread(_see_what_goes_wrong, seen, played)
            playing.cancel()
            await asyncio.to_thread(fires, seen, "ShoalNoDispatcher")
            await store.close()

            def ask_in_vain() -> bool:
                answers = [httpx.get(f"{url}/v1/status", timeout=60).status_code for _ in range(3)]
                assert answers == [503] * 3
                return {"ShoalStoreAway", "ShoalGatewayErrors"} <= seen.firing()

            await asyncio.to_thread(database.stop)
            await asyncio.to_thread(wait_until, ask_in_vain, 45, "the alerts of a store that is away", LOOK_S)
            await gateway.aclose()
            await asyncio.to_thread(fires, seen, "ShoalGatewayAway")
