"""Tenants' names and all else in `/metrics`, which only a scraper and an operator get."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from shoal.services.web.http.metrics_door import metrics_app
from tests.gateway_world import World, completed, world

TENANT = "a-tenant-of-ours"


async def with_sessions(here: World) -> None:
    """A tenant has run something, so that the metrics name it."""
    key = await here.key("submit", tenant=TENANT)
    spec = {"url": "https://shop.example/", "goal": "look"}
    answer = await here.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 201, answer.text
    await here.run(lambda work: completed({"a": 1}))


async def test_tenants_are_not_named_without_the_key_of_an_operator() -> None:
    async with world(auth=True) as here:
        await with_sessions(here)
        keys = [await here.key(scope, tenant=TENANT) for scope in ("read", "submit", "control")]
        for headers in ({}, *({"Authorization": f"Bearer {key}"} for key in ("shoal_guess", *keys))):
            answer = await here.client.get("/metrics", headers=headers)
            assert answer.status_code in (401, 403), headers
            assert TENANT not in answer.text
        operator = {"Authorization": f"Bearer {await here.key('admin', tenant='ops')}"}
        answer = await here.client.get("/metrics", headers=operator)
        assert (answer.status_code, TENANT in answer.text) == (200, True)


@pytest.mark.parametrize("host", ["rebound.example:8700", "192.0.2.7", "[127.0.0.1", ""])
async def test_a_foreign_name_for_this_machine_reads_no_metrics(host: str) -> None:
    """A page whose name resolves to loopback is kept out by the Host header, where no keys are needed."""
    async with world() as here:
        assert (await here.client.get("/metrics")).status_code == 200
        answer = await here.client.get("/metrics", headers={"Host": host})
        assert answer.status_code == 403
        assert "shoal_" not in answer.text.replace("shoal_store", "")
        transport = httpx.ASGITransport(metrics_app(here.deps, local=True))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8702") as own:
            assert (await own.get("/metrics")).status_code == 200
            assert (await own.get("/metrics", headers={"Host": host})).status_code == 403


async def test_the_port_of_metrics_tells_nothing_else() -> None:
    async with world(auth=True) as here:
        await with_sessions(here)
        transport = httpx.ASGITransport(metrics_app(here.deps, local=False))
        async with httpx.AsyncClient(transport=transport, base_url="http://10.0.0.7:8702") as own:
            assert TENANT in (await own.get("/metrics")).text
            for path in ("/", "/v1/jobs", "/v1/status", "/openapi.json", "/docs", "/login", "/jobs/j1"):
                assert (await own.get(path)).status_code == 404, path
            assert (await own.post("/metrics")).status_code == 405


# --- a gateway as it runs ------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def gateway(folder: Path, **settings: str) -> Iterator[str]:
    """`shoal gateway` on a port of its own; gives its address."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    environment |= {"SHOAL_DATA_DIR": str(folder), "SHOAL_PORT": str(port), **settings}
    shoal = str(Path(sys.executable).with_name("shoal"))
    process = subprocess.Popen([shoal, "gateway"], env=environment, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            assert process.poll() is None
            assert time.monotonic() < deadline
            try:
                httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=20)
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def test_a_gateway_with_keys_tells_metrics_at_their_own_port_alone(tmp_path: Path) -> None:
    port = free_port()
    with gateway(tmp_path, SHOAL_AUTH="on", SHOAL_METRICS_PORT=str(port)) as place:
        assert httpx.get(f"{place}/metrics").status_code == 401
        told = httpx.get(f"http://127.0.0.1:{port}/metrics")
        assert (told.status_code, "shoal_store_up 1.0" in told.text) == (200, True)
        assert httpx.get(f"http://127.0.0.1:{port}/metrics", headers={"Host": "rebound.example"}).status_code == 403
        assert httpx.get(f"http://127.0.0.1:{port}/v1/jobs").status_code == 404


def test_a_gateway_on_loopback_tells_metrics_as_before(tmp_path: Path) -> None:
    with gateway(tmp_path) as place:
        assert "shoal_store_up 1.0" in httpx.get(f"{place}/metrics").text
        assert httpx.get(f"{place}/metrics", headers={"Host": "rebound.example"}).status_code == 403
