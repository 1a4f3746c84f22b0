"""A gateway without keys serves the user who started it, and no other user of the machine."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from shoal.services.cluster import local_user
from shoal.services.cluster.gateway import gateway_alone
from shoal.services.cluster.local_user import can_tell, owner_of
from shoal.services.cluster.serving import listening, served
from shoal.services.settings import Settings

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_NETLINK"), reason="the system does not tell whose sockets are")
NOBODY = 65_534


class App:
    """Notes what reaches it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append(f"{scope['method']} {scope['path']}")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"yes"})


@contextmanager
def connected(host: str) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        own = socket.create_connection(listener.getsockname()[:2])
        here, _ = listener.accept()
        with own, here:
            yield own, here


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_kernel_tells_whose_socket_it_is_until_that_is_closed(host: str) -> None:
    assert can_tell()
    with connected(host) as (own, here):
        ends = own.getsockname()[:2], here.getsockname()[:2]
        assert owner_of(*ends) == os.geteuid()
        assert owner_of((host, ends[0][1]), (host, 1)) is None, "there is no such connection"
        own.close()
        assert owner_of(*ends) is None


def test_an_ipv4_caller_of_an_ipv6_socket_is_found() -> None:
    with connected("127.0.0.1") as (own, here):
        mapped = [(f"::ffff:{host}", port) for host, port in (own.getsockname(), here.getsockname())]
        assert owner_of(*mapped) == os.geteuid()


async def test_the_own_user_is_served_and_another_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    app = App()
    with listening("127.0.0.1", 0) as listener:
        async with (
            served(app, listener, "test server", own_user=True) as url,
            httpx.AsyncClient(base_url=url) as client,
        ):
            assert (await client.get("/mine")).text == "yes"
            await client.aclose()
            monkeypatch.setattr(local_user, "_ROOT", -1)
            monkeypatch.setattr(local_user.os, "geteuid", lambda: NOBODY)
            async with httpx.AsyncClient(base_url=url) as other:
                refused = await other.post("/theirs", content=b"x" * 100_000)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
    assert app.asked == ["GET /mine"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may act as another user")
async def test_another_user_of_this_machine_gets_nothing() -> None:
    app = App()
    with listening("127.0.0.1", 0) as listener:
        async with served(app, listener, "test server", own_user=True) as url:
            port = urlsplit(url).port
            script = f"exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3"
            asked = partial(subprocess.check_output, ["/bin/bash", "-c", script], user=NOBODY, cwd="/", timeout=60)
            answer = (await asyncio.to_thread(asked)).decode()
    assert answer.startswith("HTTP/1.1 403") and app.asked == []


async def test_what_a_caller_sent_who_has_gone_is_not_done() -> None:
    """Of a socket that is closed the kernel does not know whose it was."""
    app = App()
    with listening("127.0.0.1", 0) as listener:
        async with served(app, listener, "test server", own_user=True) as url:
            with socket.create_connection(listener.getsockname()) as blind:
                blind.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
            async with httpx.AsyncClient(base_url=url) as client:
                await client.get("/after")  # accepted after it
    assert app.asked == ["GET /after"]


@pytest.mark.parametrize(("auth", "status"), [("off", 403), ("on", 401)])
async def test_a_gateway_that_needs_keys_asks_for_them_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, auth: str, status: int
) -> None:
    settings = Settings(data_dir=tmp_path, port=0, auth=auth, webhooks=False)  # type: ignore[arg-type]  # one of its words
    async with gateway_alone(settings) as url:
        monkeypatch.setattr(local_user, "_ROOT", -1)
        monkeypatch.setattr(local_user.os, "geteuid", lambda: NOBODY)
        async with httpx.AsyncClient(base_url=url) as client:
            assert (await client.get("/v1/jobs")).status_code == status


async def test_a_system_that_does_not_tell_serves_all_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_NETLINK")
    assert not can_tell()
    app = App()
    with listening("127.0.0.1", 0) as listener:
        async with (
            served(app, listener, "test server", own_user=True) as url,
            httpx.AsyncClient(base_url=url) as client,
        ):
            assert (await client.get("/")).status_code == 200
