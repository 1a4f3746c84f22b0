"""The embedded cluster: real Ray, Chromium and SQLite; what is killed is replaced, and nothing stays behind."""

from __future__ import annotations

import json
import signal
import socket
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from shoal.agent.support.json_value import Json
from tests.embedded import START_S, Up, demo_shop, start_up, up, wait_until

pytestmark = pytest.mark.timeout(800)  # a cluster has to start, and real pages take their time

EXTRACT = {"schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with demo_shop() as url:
        yield url


@pytest.fixture(scope="module")
def cluster() -> Iterator[Up]:
    with up(workers="2", slots_per_worker="2", lease_s="15") as one:
        yield one


def products(shop: str, n: int) -> list[str]:
    truth = httpx.get(f"{shop}/_truth/products.json", timeout=60).json()
    return [shop + p["path"] for p in truth if not p["discontinued"] and not p["slow"]][:n]


def loop_over(shop: str, n: int) -> Json:
    return {
        "url": f"{shop}/",
        "loop": {"values": products(shop, n), "is_link": True},
        "extract": EXTRACT,
        "artifacts": {"screenshots": "none"},
    }


def check_complete(cluster: Up, job: str, n: int) -> None:
    """Every item is final and completed, none is missing, none is there twice."""
    final = cluster.final(job)
    rows = cluster.results(job)
    assert final["counts"]["completed"] == final["counts"]["expected"] == n, final["counts"]
    assert [row["item"]["index"] for row in rows] == list(range(n))
    assert Counter(row["session"] for row in rows).most_common(1)[0][1] == 1


def some_done(row: Json) -> bool:
    return bool(row["counts"]["completed"] >= 4)


@pytest.mark.parametrize(
    ("who", "word"), [("the browser's driver", "run-driver"), ("the dispatcher", "ray::DispatcherActor")]
)
def test_a_loop_survives_a_kill(cluster: Up, shop: str, who: str, word: str) -> None:
    """The storm of `tests/chaos` kills browsers and workers."""
    job = cluster.submit(loop_over(shop, 30))
    cluster.until(job, some_done)
    victim = cluster.named(word)[0]
    victim.send_signal(signal.SIGKILL)

    check_complete(cluster, job, 30)
    if who == "the dispatcher":
        wait_until(lambda: _restarts(cluster)["restarts"] == 1, 60, "the status says that it was started again")
        wait_until(lambda: "dispatcher.ended" in cluster.log.read_text(), 60, "the log says so")


def _restarts(cluster: Up) -> dict[str, Json]:
    (told,) = httpx.get(f"{cluster.url}/v1/status", timeout=60).json()["dispatchers"].values()
    return dict(told["restarts"])


def test_the_gateway_refuses_bad_jobs_and_stores_nothing(cluster: Up, shop: str) -> None:
    before = httpx.get(f"{cluster.url}/v1/jobs?limit=1", timeout=60).json()
    bad = {"url": "ftp://x", "extract": {"schema": {"type": "objec"}}, "lop": 1}
    answer = httpx.post(f"{cluster.url}/v1/jobs", json=bad, timeout=60)

    assert answer.status_code in (400, 422)
    assert {e["field"] for e in answer.json()["errors"]} >= {"url", "lop", "extract.schema"}
    assert httpx.get(f"{cluster.url}/v1/jobs?limit=1", timeout=60).json() == before


def test_an_unreachable_site_fails_with_its_reason(cluster: Up) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    job = cluster.submit({"url": f"http://127.0.0.1:{port}/", "extract": EXTRACT, "max_attempts": 1,
                          "politeness": {"robots": False}})  # fmt: skip
    final = cluster.final(job)
    assert (final["status"], final["error"]["code"]) == ("failed", "host_unreachable")


def test_an_empty_loop_fails_with_its_reason(cluster: Up, shop: str) -> None:
    spec = {"url": f"{shop}/", "loop": {"from": {"select": "a.no-such-thing"}}, "extract": EXTRACT}
    final = cluster.final(cluster.submit(spec))
    assert (final["status"], final["error"]["code"]) == ("failed", "empty_loop")


def test_a_goal_in_words_says_that_it_needs_a_model(cluster: Up, shop: str) -> None:
    spec = {"url": f"{shop}/", "goal": "find the nicest lamp"}
    answer = httpx.post(f"{cluster.url}/v1/jobs", json=spec, timeout=60)
    (fault,) = answer.json()["errors"]
    assert (answer.status_code, fault["field"]) == (400, "goal") and "SHOAL_MODEL_URL" in fault["reason"]


def test_a_second_cluster_on_the_same_data_is_refused(cluster: Up) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        process = start_up(Path(folder), data_dir=str(cluster.data_dir))
        assert process.wait(150) == 3
        assert cluster.url in (Path(folder) / "up.log").read_text()
        assert list((Path(folder) / "t").iterdir()) == []


def test_killing_the_cluster_leaves_nothing_and_the_next_one_goes_on(shop: str) -> None:
    with up(workers="1") as first:
        job = first.submit(loop_over(shop, 30))
        first.until(job, some_done)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        wait_until(first.nothing_left, 90, "the watchdog has cleaned up")

        again = start_up(first.temp.parent, workers="1", lease_s="5")
        address = first.data_dir / "cluster.json"
        wait_until(lambda: address.exists() and str(again.pid) in address.read_text(), START_S, "the second one is up")
        second = Up(again, first.data_dir, first.temp, json.loads(address.read_text())["url"])
        try:
            check_complete(second, job, 30)
        finally:
            again.send_signal(signal.SIGINT)
            assert again.wait(120) == 0


def test_a_failed_start_leaves_nothing(tmp_path: Path) -> None:
    with socket.socket() as taken, tempfile.TemporaryDirectory(dir="/tmp") as folder:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        base = Path(folder)
        process = start_up(base, port=str(taken.getsockname()[1]))
        assert process.wait(150) == 3
        assert "SHOAL_PORT" in (base / "up.log").read_text()
        assert list((base / "t").iterdir()) == []
