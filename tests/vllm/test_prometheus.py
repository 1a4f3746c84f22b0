"""A real Prometheus on a cluster with real vLLM: every dashboard expression has data, alerts of models fire."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from shoal.services.inference.process import VllmProcess
from tests.embedded import ROOT, Up, demo_shop, up, wait_until
from tests.monitoring import busy, fires, replayed, see_every_dashboard, see_every_metric
from tests.prometheus_server import Prometheus, Scrape, prometheus
from tests.vllm.server import READY_S, free_port, start_tiny
from tests.vllm.test_comes_back import KINDS

_EMPTY_WHEN_WELL = {"Which actions fail?"}
"""None need fail; tests/integration/gateway/test_prometheus.py has some that do."""

SLOW_S = 32.0
"""More than what `ShoalModelSlow` allows."""


def _goal(cluster: Up, shop: str) -> str:
    """Return what a random model does with a page; most of it cannot be done."""
    return cluster.submit({"url": f"{shop}/", "goal": "Find the delivery page.", "max_steps": 6, "policy": "model"})


def _form(cluster: Up, shop: str) -> str:
    """Steps and actions for sure: a form by rules, with a date that it refuses."""
    data = json.loads((ROOT / "load-tests" / "quote.json").read_text())
    data |= {"email": "ada@quimby.example", "delivery_date": "2020-01-01", "attachment": str(ROOT / "README.md")}
    goal = "Send the request for a quote."
    return cluster.submit({"url": f"{shop}/quote", "goal": goal, "data": data, "policy": "rules"})


def _of_products(cluster: Up, shop: str) -> str:
    truth = httpx.get(f"{shop}/_truth/products.json", timeout=10).json()
    values = [shop + product["path"] for product in truth if not product["discontinued"]][:4]
    return cluster.submit({"url": shop, "policy": "model", "loop": {"values": values}, "extract": {"schema": KINDS}})


def _in_vain(cluster: Up, shop: str) -> str:
    loop = {"values": [f"{shop}/not-there-{n}" for n in range(4)], "is_link": True}
    return cluster.submit({"url": shop, "policy": "rules", "loop": loop, "extract": {"schema": KINDS}})


@contextmanager
def _busy(cluster: Up, shop: str) -> Iterator[None]:
    """Work of every kind without end: rates need it."""
    refused = httpx.post(f"{cluster.url}/v1/jobs", json={"url": shop, "goal": "x", "colour": "red"}, timeout=10)
    assert refused.status_code == 400, refused.text

    def some() -> list[str]:
        return [submit(cluster, shop) for submit in (_form, _of_products, _goal, _in_vain)]

    cluster.final(replayed(cluster, shop), 120)
    with busy(cluster, some, 300), busy(cluster, lambda: [replayed(cluster, shop)], 300):
        yield


def _see_faults(seen: Prometheus, server: VllmProcess) -> None:
    """The model server hangs, goes on, and is killed."""
    os.killpg(server.pid, signal.SIGSTOP)
    stopped = time.monotonic()
    fires(seen, "ShoalModelAway")
    wait_until(lambda: time.monotonic() - stopped > SLOW_S, SLOW_S + 1, "calls have waited for long")
    os.killpg(server.pid, signal.SIGCONT)
    fires(seen, "ShoalModelSlow")
    wait_until(lambda: "ShoalModelAway" not in seen.firing(), 45, "the model server answers again")
    os.killpg(server.pid, signal.SIGKILL)
    fires(seen, "ShoalModelAway")


async def test_no_dashboard_expression_is_without_data_and_alerts_of_models_fire() -> None:
    port = free_port()
    server = await start_tiny(port)
    settings = {
        **{"workers": "1", "slots_per_worker": "4", "model_url": f"http://127.0.0.1:{port}/v1", "model": "tiny"},
        **{
            "upload_dirs": str(ROOT),
            "model_temperature": "1",
            "model_timeout_s": "120",
            "model_image_tokens": "1000",
            "model_max_tokens": "512",
        },
    }

    def look() -> None:
        with demo_shop() as shop, up(**settings) as cluster:
            address, token = cluster.ray_metrics()
            others = Scrape("ray", address, "browsers-1", token), Scrape("vllm", f"127.0.0.1:{port}", "vllm-qwen-1")
            with prometheus(cluster.url.removeprefix("http://"), *others) as seen, _busy(cluster, shop):
                wait_until(lambda: seen.query("vllm:num_requests_running"), 20, "the first scrape of vLLM")
                wait_until(lambda: seen.query("shoal:prompt_cached:ratio15m"), 120, "a session has asked the model")
                wait_until(lambda: seen.query("shoal_step_seconds_count > 0"), 60, "a session has taken steps")
                see_every_metric(seen)
                see_every_dashboard(seen, but=_EMPTY_WHEN_WELL)
                assert (seen.value('shoal_model_servers{state="up"}'), seen.value("sum(ray_shoal_slots)")) == (1, 4)
                _see_faults(seen, server)

    try:
        await server.ready(READY_S)
        await asyncio.to_thread(look)
    finally:
        await server.end()
