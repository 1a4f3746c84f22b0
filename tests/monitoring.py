"""Dashboards as tests read them, and what a Prometheus must have seen of them."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager

import httpx

from shoal.agent.support.json_value import Json
from shoal.services.metrics import CATALOGUE
from tests.embedded import LOOK_S, ROOT, Up, wait_until
from tests.prometheus_server import RELEASE, Prometheus

DASHBOARDS = sorted((ROOT / "deploy" / "grafana" / "dashboards").glob("*.json"))


def panels() -> Iterator[tuple[str, Json]]:
    """Every panel that asks something, with its dashboard's name."""
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            if panel["type"] != "row":
                yield path.stem, panel


def filled(expression: str, interval: str) -> str:
    """An expression as Grafana would send it."""
    macros = {"$__rate_interval": interval, "$slot_hour_price": "0.02", "$million_tokens_price": "0.1"}
    macros |= {f"${label}": value for label, value in RELEASE.items()}
    for macro, value in macros.items():
        expression = expression.replace(macro, value)
    return expression


def names(expression: str) -> set[str]:
    """Metric names in an expression."""
    bare = re.sub(r'"[^"]*"', "", expression)
    return set(re.findall(r"\b(?:ray_shoal|shoal|vllm)[_:][a-z0-9_:]+", bare))


def see_every_metric(seen: Prometheus) -> None:
    """Each of the catalogue is scraped, with its labels and a sane value."""
    for line in CATALOGUE:
        for series in line.exposed:
            wait_until(lambda name=series: seen.query(name), 60, f"{series} is scraped", LOOK_S)
        for sample in seen.query(line.exposed[-1]):
            assert set(line.labels) <= sample["metric"].keys(), line.name
            value = float(sample["value"][1])
            assert value >= 0 and not math.isnan(value), f"{line.name} is {value}"


def see_every_dashboard(seen: Prometheus, *, but: Collection[str] = (), without: tuple[str, ...] = ()) -> None:
    """Each panel's expression gives data.

    Args:
        but: titles of panels that have nothing to show here.
        without: beginnings of metrics whose servers are not there: `vllm:`, `ray_`.
    """
    for where, panel in panels():
        for target in panel["targets"]:
            expression = filled(target["expr"], "15s")
            if panel["title"] not in but and not any(name.startswith(without) for name in names(expression)):
                what = f"{where}: {panel['title']} ({expression})"
                wait_until(lambda text=expression: seen.query(text), 60, what, LOOK_S)


@contextmanager
def busy(cluster: Up, submit: Callable[[], Iterable[str]], limit_s: float) -> Iterator[None]:
    """Hands in jobs, and more of them when these are over, until the context ends; each gets `limit_s`."""
    enough = threading.Event()

    def work() -> None:
        while not enough.is_set():
            for job in submit():
                cluster.until(job, lambda row: enough.is_set() or row["finished_at"] is not None, limit_s)

    thread = threading.Thread(target=work, name="load")
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


def replayed(cluster: Up, shop: str) -> str:
    """Hands in a loop by rules that learns: the replays of its later items count what fields are read by."""
    products = httpx.get(f"{shop}/_truth/products.json", timeout=60).json()
    paths = [product["path"] for product in products if not product["discontinued"]][:30]
    name = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    return cluster.submit(
        {
            "url": f"{shop}/",
            "policy": "rules",
            "loop": {"values": [shop + path for path in paths], "is_link": True},
            "extract": {"schema": name},
            "artifacts": {"screenshots": "none"},
        }
    )


def fires(seen: Prometheus, alert: str) -> None:
    """An alert fires within the time that rules in fast motion take."""
    wait_until(lambda: alert in seen.firing(), 45, f"{alert} fires; {seen.firing()} do", LOOK_S)
