"""Servers whose answers have no end, or unpack to gigabytes: each part that fetches takes in a bounded part."""

from __future__ import annotations

import asyncio
import functools
import gc
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext

import httpx
import pytest

from shoal.agent.errors import HelpMissing, ModelUnavailable
from shoal.agent.models.model import Ask, Message
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.agent.models.settings import ModelSettings
from shoal.agent.sessions.attended.human_help import Question
from shoal.agent.spec import JobSpec
from shoal.agent.worker_messages import RobotsState, Work
from shoal.services.addresses import Reach
from shoal.services.answers import bounded_answer, bounded_client
from shoal.services.artifacts.options import S3Options
from shoal.services.artifacts.s3 import S3Artifacts
from shoal.services.browsers.network.egress import EgressProxy
from shoal.services.browsers.network.robots_file import RobotsClient
from shoal.services.browsers.session_parts.webhook_helper import ANSWER_BYTES, WebhookHelper
from shoal.services.errors import ArtifactStoreAway
from shoal.services.inference.errors import MetricsAway
from shoal.services.inference.load import METRICS_BYTES, read_load
from shoal.services.names import HostNames
from shoal.services.webhooks.sender import Sender

MEBIBYTE = 1 << 20
MOST_MEMORY = 24 * MEBIBYTE
"""Python's own allocations above what was there before; an endless answer sends hundreds of MiB in this time."""

Write = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def forever(writer: asyncio.StreamWriter, start: bytes, again: bytes) -> None:
    writer.write(start)
    while True:
        writer.write(again)
        await writer.drain()


@functools.cache
def packed() -> bytes:
    """A quarter of a GiB, packed. To make it takes a second, which every process that collects tests would pay."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(256)) + packer.flush()


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


async def bomb(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed()) + packed())
    await writer.drain()


async def refused_bomb(writer: asyncio.StreamWriter) -> None:
    start = b"HTTP/1.1 500 Oh\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed())
    writer.write(start + packed())
    await writer.drain()


async def dripping(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"\r\n{")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.1)


ATTACKS: dict[str, Write] = {
    "body": lambda writer: forever(writer, OK + b'\r\n{"answer": "', b"x" * 65_536),
    "refusal": lambda writer: forever(writer, b"HTTP/1.1 500 Oh\r\n\r\n", b"x" * 65_536),
    "chunks": lambda writer: forever(writer, OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 10_000),
    "chunk extension": lambda writer: forever(writer, OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x" * 65_536),
    "trailers": lambda writer: forever(
        writer, OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: " + b"x" * 60_000 + b"\r\n"
    ),
    "headers": lambda writer: forever(writer, OK, b"X-Filler: " + b"x" * 60_000 + b"\r\n"),
    "1xx": lambda writer: forever(writer, b"", b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" * 1000),
    "gzip": bomb,
    "refusal in gzip": refused_bomb,
    "behind gzip": lambda writer: forever(
        writer, OK + b"Content-Encoding: gzip\r\n\r\n" + zlib.compress(b"<html>", wbits=31), b"x" * 65_536
    ),
    "drip": dripping,
}


@asynccontextmanager
async def hostile(attack: str) -> AsyncIterator[str]:
    """The address of a server that answers each request so."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await ATTACKS[attack](writer)
        except ConnectionError:
            pass  # the client has had enough
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@contextmanager
def little_memory() -> Iterator[None]:
    gc.collect()
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


LOOPBACK = Reach(exceptions=("127.0.0.0/8",))
each_attack = pytest.mark.parametrize("attack", ATTACKS)


@each_attack
async def test_a_help_webhook(attack: str) -> None:
    work = Work(7, 1, 3, "t", 1, 0, JobSpec(url="https://shop.example/", goal="Log in"), None, None, None, None)
    async with (
        hostile(attack) as url,
        EgressProxy(LOOPBACK) as proxy,
        bounded_client(ANSWER_BYTES, proxy=proxy.url) as http,
    ):
        with little_memory(), pytest.raises((HelpMissing, TimeoutError)):
            async with asyncio.timeout(1.5):  # as a session does
                await WebhookHelper(url, work, http)(Question("code", "Which?", "https://shop.example/", timeout_s=1.5))


@each_attack
async def test_robots_txt(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.browsers.network.robots_file.FETCH_S", 1.5)
    async with hostile(attack) as url, EgressProxy(LOOPBACK) as proxy:
        client = RobotsClient(proxy.url)
        with little_memory():
            async with asyncio.timeout(60):
                found = await client.fetch(url)
        await client.close()
    expected = {RobotsState.FAILED, RobotsState.UNREACHABLE, RobotsState.RULES}
    assert found.state in expected
    assert len(found.packed) < MEBIBYTE


@each_attack
async def test_a_receiver_of_webhooks(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.webhooks.sender.ATTEMPT_S", 1.5)
    sender = Sender(LOOPBACK, HostNames())
    async with hostile(attack) as url:
        with little_memory():
            async with asyncio.timeout(60):
                answer = await sender.send(url, b"{}", {})
    await sender.close()
    assert len(answer.error) < 1000


@each_attack
async def test_a_model_server(attack: str) -> None:
    async with hostile(attack) as url:
        settings = ModelSettings(model="m", base_urls=(f"{url}/v1",), timeout_s=1.5, retries=0, patience_s=0)
        model = OpenAICompatible(settings)
        ask = Ask((Message("user", "Hello"),), max_tokens=10)
        with little_memory(), pytest.raises(ModelUnavailable):
            async with asyncio.timeout(60):
                await model.ask(ask)
        await model.close()


@each_attack
async def test_a_model_servers_metrics(attack: str) -> None:
    async with hostile(attack) as url, bounded_client(METRICS_BYTES, timeout_s=1.5) as client:
        with little_memory(), pytest.raises(MetricsAway):
            async with asyncio.timeout(60):
                await read_load(client, url)


@each_attack
async def test_a_page_that_an_evaluation_checks(attack: str) -> None:
    async with hostile(attack) as url, httpx.AsyncClient() as http:
        well = attack == "behind gzip"  # what it unpacks to has an end, and is a page
        with little_memory(), nullcontext() if well else pytest.raises((httpx.HTTPError, TimeoutError)):
            await bounded_answer(http, url, MEBIBYTE, timeout_s=1.5)


@pytest.mark.parametrize("attack", ["body", "refusal", "chunks", "refusal in gzip", "headers"])
async def test_an_s3_service(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    async with hostile(attack) as url:
        store = S3Artifacts("bucket", "", S3Options(endpoint_url=url, attempts=1, read_timeout_s=1.5))
        with little_memory(), pytest.raises(ArtifactStoreAway):
            async with asyncio.timeout(60):
                await store.put("a/b", b"x", "text/plain")
        await store.close()


async def test_gzip_that_nobody_asked_for_is_still_read() -> None:
    packed = zlib.compress(b"User-agent: *\nDisallow: /private\n", wbits=31)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"accept-encoding: identity\r\n" in (await reader.readuntil(b"\r\n\r\n")).lower()
        start = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
        writer.write(start + packed)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, EgressProxy(LOOPBACK) as proxy:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        client = RobotsClient(proxy.url)
        found = await client.fetch(url)
        async with bounded_client(1000) as http:
            answer = await http.get(url)
        await client.close()
    assert found.state is RobotsState.RULES
    assert b"Disallow: /private" in zlib.decompress(found.packed)
    assert answer.text == "User-agent: *\nDisallow: /private\n"
