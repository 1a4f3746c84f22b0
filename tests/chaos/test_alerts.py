"""Alerts of a real Prometheus that fire by real faults, and take their time: parts of a cluster are killed or hang."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import psutil
import pytest

from tests.acceptance.bad_servers import busy_site, hanging_site
from tests.embedded import Up, demo_shop, up, wait_until
from tests.monitoring import busy, fires
from tests.prometheus_server import Prometheus, prometheus

pytestmark = pytest.mark.timeout(800)  # a cluster has to start, and rules look back over a minute

_NAME = {"schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}


def _loop(cluster: Up, url: str, values: list[str]) -> str:
    spec = {"url": url, "policy": "rules", "loop": {"values": values, "is_link": True}, "extract": _NAME}
    return cluster.submit(spec)


@contextmanager
def _busy(cluster: Up, shop: str) -> Iterator[None]:
    """Loops over the shop's products without end, two at a time."""
    truth = httpx.get(f"{shop}/_truth/products.json", timeout=10).json()
    values = [shop + product["path"] for product in truth if not product["discontinued"]][:40]
    with busy(cluster, lambda: [_loop(cluster, shop, values) for _ in range(2)], 120):
        yield


def _see_browsers_die(seen: Prometheus, cluster: Up) -> None:
    """Each Chromium is killed as soon as it shows a page."""

    def kill_what_works() -> bool:
        for browser in cluster.named("--remote-debugging-pipe"):  # main processes alone have that
            with suppress(psutil.NoSuchProcess):
                if any("--type=renderer" in child.cmdline() for child in browser.children(recursive=True)):
                    browser.kill()
        return "ShoalBrowsersDie" in seen.firing()

    wait_until(kill_what_works, 90, "the alert of browsers that die")


def _see_full_slots(seen: Prometheus, cluster: Up) -> None:
    """A site that does not answer holds every slot, and everybody else waits."""
    with hanging_site() as url:
        job = _loop(cluster, url, [f"{url}/{n}" for n in range(8)])
        fires(seen, "ShoalSlotsExhausted")
        assert httpx.post(f"{cluster.url}/v1/jobs/{job}/cancel", timeout=10).status_code < 300


def _see_a_queue_stuck(seen: Prometheus, cluster: Up) -> None:
    """A site asks for a pause while slots are free."""
    with busy_site() as url:
        job = _loop(cluster, url, [f"{url}/{n}" for n in range(20)])
        fires(seen, "ShoalQueueStuck")
        assert httpx.post(f"{cluster.url}/v1/jobs/{job}/cancel", timeout=10).status_code < 300


def _see_a_dispatcher_hang(seen: Prometheus, cluster: Up) -> None:
    (dispatcher,) = cluster.named("ray::DispatcherActor")
    dispatcher.send_signal(signal.SIGSTOP)
    try:
        fires(seen, "ShoalNoDispatcher")
    finally:
        dispatcher.send_signal(signal.SIGCONT)
    wait_until(lambda: "ShoalNoDispatcher" not in seen.firing(), 20, "the dispatcher speaks again")


def _see_workers_lost(seen: Prometheus, cluster: Up) -> None:
    """Each worker is killed as soon as the dispatcher counts on it."""
    killed: set[int] = set()

    def kill_the_next() -> bool:
        workers = [one for one in cluster.named("ray::BrowserWorkerActor") if one.pid not in killed]
        told = httpx.get(f"{cluster.url}/v1/status", timeout=10).json()["capacity"]
        if workers and told["fresh"] and told["slots"]:
            for worker in workers:
                with suppress(psutil.NoSuchProcess):
                    worker.kill()
                killed.add(worker.pid)
        return "ShoalWorkersLost" in seen.firing()

    wait_until(kill_the_next, 90, "the alert of workers that are lost")


def test_alerts_fire_when_parts_die_hang_or_have_too_much_to_do() -> None:
    settings = {"workers": "1", "slots_per_worker": "4"}
    with (
        demo_shop() as shop,
        up(**settings) as cluster,
        prometheus(cluster.url.removeprefix("http://")) as seen,
    ):
        wait_until(lambda: seen.value("shoal_dispatchers") == 1, 20, "the first scrape")
        with _busy(cluster, shop):
            _see_browsers_die(seen, cluster)
            _see_full_slots(seen, cluster)
        _see_workers_lost(seen, cluster)
        _see_a_queue_stuck(seen, cluster)
        _see_a_dispatcher_hang(seen, cluster)
