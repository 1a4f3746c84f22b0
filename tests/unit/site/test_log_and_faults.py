"""The log that tests ask, and the misbehaviour that repeats from run to run."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from shop.app import create_app
from starlette.testclient import TestClient

SITE = Path(__file__).resolve().parents[3] / "load-tests" / "site"


def shop_client(**options: Any) -> TestClient:
    """A client of a new shop whose slow pages are quick."""
    return TestClient(create_app(slow_s=0, **options))


def statuses(client: TestClient, path: str, count: int, **headers: str) -> list[int]:
    """The answers to the same request sent again and again."""
    return [client.get(path, headers=headers).status_code for _ in range(count)]


def test_requests_are_listed_by_path_and_client(client: TestClient) -> None:
    client.get("/c/audio?page=2", headers={"X-Client": "one"})
    client.get("/static/shop.css", headers={"X-Client": "two", "User-Agent": "Tester/1"})
    client.get("/nowhere", headers={"Cookie": "x-client=three"})
    (audio,) = client.get("/_log/requests", params={"path": "/c/*", "client": "one"}).json()
    assert (audio["method"], audio["path"], audio["query"], audio["status"]) == ("GET", "/c/audio", "page=2", 200)
    assert audio["complete"] and audio["bytes"] > 10_000 and not audio["asset"]
    (style,) = client.get("/_log/requests", params={"client": "two"}).json()
    assert style["asset"] and style["user_agent"] == "Tester/1"
    (lost,) = client.get("/_log/requests", params={"client": "three"}).json()
    assert lost["status"] == 404


def test_a_client_without_a_name_is_its_address_and_user_agent(client: TestClient) -> None:
    client.get("/", headers={"User-Agent": "Browser/5"})
    assert list(client.get("/_log/summary").json()["by_client"]) == ["testclient Browser/5"]


def test_the_summary_counts_and_a_reset_forgets(client: TestClient) -> None:
    client.get("/")
    client.get("/")
    client.get("/static/shop.css")
    client.post("/newsletter", data={"email": "a@example.org"})
    summary = client.get("/_log/summary").json()
    assert summary["requests"] == 4
    assert summary["by_path"]["/"] == 2
    assert summary["by_status"] == {"200": 4}
    assert summary["forms"] == {"newsletter": 1}
    assert (summary["in_flight"], summary["max_in_flight"]) == (0, 1)
    assert client.post("/_log/reset").status_code == 204
    assert client.get("/_log/summary").json()["requests"] == 0
    assert client.get("/_log/forms").json()["count"] == 0


async def test_requests_in_flight_at_once_are_counted_by_host_and_client() -> None:
    app = create_app()
    log = app.state.shop.log
    transport = httpx.ASGITransport(app=app)

    async def hang(host: str, client: str) -> None:
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as asking:
            await asking.get("/fault/hang", headers={"X-Client": client})

    hanging = [asyncio.create_task(hang(*who)) for who in (("a", "x"), ("a", "y"), ("a", "y"), ("b", "y"))]
    while log.overall.now < len(hanging):
        await asyncio.sleep(0)
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://a") as asking:
        summary = (await asking.get("/_log/summary")).json()
    assert (summary["in_flight"], summary["max_in_flight"], summary["max_pages_in_flight"]) == (0, 4, 4)
    assert {host: seen["max_in_flight"] for host, seen in summary["by_host"].items()} == {"a": 3, "b": 1}
    assert {client: seen["max_in_flight"] for client, seen in summary["by_client"].items()} == {"x": 1, "y": 3}


def test_too_many_requests_end_after_n_for_each_client(client: TestClient) -> None:
    assert statuses(client, "/fault/429?n=2", 4) == [429, 429, 200, 200]
    assert statuses(client, "/fault/429?n=1", 2, **{"X-Client": "other"}) == [429, 200]
    answer = client.get("/fault/429?n=9", headers={"X-Client": "third"})
    assert answer.headers["retry-after"] == "1"


def test_a_flaky_page_fails_at_the_same_turns_in_every_run() -> None:
    first, second = shop_client(seed=3), shop_client(seed=3)
    turns = statuses(first, "/fault/flaky", 40)
    assert turns == statuses(second, "/fault/flaky", 40)
    assert set(turns) == {200, 500}
    first.post("/_log/reset")
    assert statuses(first, "/fault/flaky", 40) == turns


def test_a_redirect_loop_never_ends(client: TestClient) -> None:
    path = "/fault/redirect-loop"
    hops = []
    for _ in range(5):
        path = client.get(path, follow_redirects=False).headers["location"]
        hops.append(path)
    assert hops == ["/fault/redirect-loop/b", "/fault/redirect-loop"] * 2 + ["/fault/redirect-loop/b"]


def test_a_share_of_products_fails_once_for_each_client_and_as_the_truth_says() -> None:
    client = shop_client(seed=7, fault_share=0.25)
    truth = client.get("/_truth/products.json").json()
    faulty = [p for p in truth if p["fault"]]
    assert 0.15 < len(faulty) / len(truth) < 0.35
    assert {p["fault"] for p in faulty} == {"500", "429", "slow", "drop"}
    for product in truth[:120]:
        fine = 404 if product["discontinued"] else 200
        expected = {"500": 500, "429": 429}.get(product["fault"], fine)
        assert statuses(client, product["path"], 2) == [expected, fine]
    hit = next(p for p in faulty if p["fault"] == "500")
    assert statuses(client, hit["path"], 2, **{"X-Client": "second"}) == [500, 200]
    assert truth == shop_client(seed=7, fault_share=0.25).get("/_truth/products.json").json()


def test_the_command_says_where_it_serves_drops_connections_and_ends_when_told() -> None:
    command = [sys.executable, str(SITE), "--port", "0", "--seed", "5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            announced = json.loads(process.stdout.readline())
            assert announced["seed"] == 5 and announced["products"] == 264 and announced["pid"] == process.pid
            with httpx.Client(base_url=announced["url"], trust_env=False) as client:
                assert client.get("/").status_code == 200
                with pytest.raises(httpx.RemoteProtocolError):
                    client.get("/fault/drop")
                with pytest.raises(httpx.ReadTimeout):
                    client.get("/fault/hang", timeout=0.2)
                (dropped,) = client.get("/_log/requests?path=/fault/drop").json()
                assert dropped["status"] == 200 and not dropped["complete"]
        finally:
            process.terminate()
            _, errors = process.communicate(timeout=60)
    assert errors == ""
