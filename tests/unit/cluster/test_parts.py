"""The parts of a cluster alone: the gateway over a database, the supervisor's health without a Ray cluster."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from shoal.agent.policies.model import ModelPolicyOptions
from shoal.services.browsers.configs import model_settings
from shoal.services.cluster.gateway import gateway_alone
from shoal.services.cluster.gateway_options import gateway_options
from shoal.services.cluster.serving import listening, served
from shoal.services.cluster.supervisor import Supervisor, health_app
from shoal.services.errors import BadSetting, ClusterFailed, StoreOutdated
from shoal.services.settings import Settings, load_settings
from shoal.services.store.database.migrate import migrate


def settings(folder: Path, **more: object) -> Settings:
    return load_settings(data_dir=folder, port=0, artifacts_url="memory:", **more)


async def test_a_gateway_alone_answers_and_takes_jobs(tmp_path: Path) -> None:
    async with gateway_alone(settings(tmp_path)) as url, httpx.AsyncClient(base_url=url) as client:
        assert (await client.get("/readyz")).json()["checks"] == {"store": "ok", "artifacts": "ok"}
        answer = await client.post("/v1/jobs", json={"url": "https://93.184.216.34/", "goal": "look"})
        assert answer.status_code == 201, answer.text
        status = (await client.get("/v1/status")).json()
        assert status["sessions"]["queued"] == 1 and "none has ever run" in status["waiting"][0]


@pytest.mark.parametrize(
    ("model", "wish", "points"),
    [
        ("Qwen/Qwen3-VL-8B-Instruct-FP8", "auto", "relative"),
        ("qwen3vl", "auto", "relative"),
        ("gpt-x", "auto", "pixels"),
        ("qwen3vl", "pixels", "pixels"),
        ("holo", "relative", "relative"),
    ],
)
def test_what_is_said_of_a_model_reaches_client_and_policy(tmp_path: Path, model: str, wish: str, points: str) -> None:
    said = settings(
        tmp_path,
        **{"model_url": "http://model:8000/v1", "model": model, "model_points": wish, "model_images": False},
        **{"model_image_grid": 28, "model_temperature": 1.0, "model_token_limit_field": "max_completion_tokens"},
        **{"model_extra_body": '{"seed": 7}'},
    )
    client = model_settings(said)
    assert client is not None
    assert (client.temperature, client.token_limit_field, client.extra_body) == (
        1,
        "max_completion_tokens",
        {"seed": 7},
    )
    shown = ModelPolicyOptions.of(client)
    assert (shown.images, shown.points) == (False, points)
    assert shown.grid is not None
    assert shown.grid.side == 28


async def test_two_gateways_share_logins_by_their_secret(tmp_path: Path) -> None:
    shared = SecretStr("s" * 32)
    one, two = (gateway_options(settings(tmp_path, cookie_secret=shared)) for _ in range(2))
    assert one.cookie_secret == two.cookie_secret == b"s" * 32
    alone, other = (gateway_options(settings(tmp_path)) for _ in range(2))
    assert alone.cookie_secret != other.cookie_secret and len(alone.cookie_secret) == 32
    with pytest.raises(BadSetting, match="at least 32 characters"):
        settings(tmp_path, cookie_secret="short")


async def test_a_taken_address_is_told(tmp_path: Path) -> None:
    with listening("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(ClusterFailed, match="cannot listen"):
            async with gateway_alone(settings(tmp_path).model_copy(update={"port": taken.getsockname()[1]})):
                pass


async def test_small_answers_do_not_wait_for_the_acknowledgement_of_their_headers() -> None:
    with listening("127.0.0.1", 0) as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            _reader, writer = await asyncio.open_connection(sock=accepted)
            assert writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()
            await writer.wait_closed()


async def test_migrating_twice_is_harmless_and_a_newer_database_is_refused(tmp_path: Path) -> None:
    url = settings(tmp_path).store_url
    await migrate(url)
    await migrate(url)
    import sqlite3

    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    connection.execute("update alembic_version set version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreOutdated, match="9999"):
        await migrate(url)


async def test_the_supervisors_probes_tell_what_is_wrong(tmp_path: Path) -> None:
    supervisor = Supervisor(settings(tmp_path, ray_address="ray://127.0.0.1:1"))
    with listening("127.0.0.1", 0) as listener:
        async with served(health_app(supervisor), listener, "health") as url, httpx.AsyncClient(base_url=url) as client:
            assert (await client.get("/healthz")).status_code == 200
            away = await client.get("/readyz")
            assert (away.status_code, away.json()["reason"]) == (503, "Ray was not reached yet")
            supervisor.trouble = ""
            assert (await client.get("/readyz")).json() == {"status": "ok"}
            assert (await client.get("/other")).status_code == 404


def test_a_supervisor_needs_to_know_its_cluster(tmp_path: Path) -> None:
    with pytest.raises(ClusterFailed, match="SHOAL_RAY_ADDRESS"):
        Supervisor(settings(tmp_path))
