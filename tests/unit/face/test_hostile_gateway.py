"""Servers at a gateway's address that send anything: clients take in so much of it and no more."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from shoal import bodies
from shoal.api import Api
from shoal.errors import AnswerUnreadable, ApiError, ShoalError

MEBIBYTE = 1 << 20
MOST = 4 * MEBIBYTE


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_LINE_BYTES", MOST)
    for function in (bodies.whole, bodies.lines, Api._send):
        monkeypatch.setattr(function, "__defaults__", (MOST,) if function is not Api._send else None)
    monkeypatch.setattr(Api._send, "__kwdefaults__", {"most_bytes": MOST})


@asynccontextmanager
async def gateway(head: str, *, once: bytes = b"", again: bytes = b"", status: str = "200 OK") -> AsyncIterator[Api]:
    """Answers everything with this head and body; `again` without an end, where there is some."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 {status}\r\nConnection: close\r\n{head}\r\n".encode() + once)
            while again:
                writer.write(again)
                await writer.drain()
            await writer.drain()
        except ConnectionError:
            pass  # the client has had enough
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, Api(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as client:
        yield client


async def _events(client: Api) -> None:
    async for _ in client.events("j"):
        pass


async def _results(client: Api) -> None:
    async for _ in bodies_of(client):
        pass


async def bodies_of(client: Api) -> AsyncIterator[bytes]:
    async for piece in client.results("j"):
        assert len(piece) <= MEBIBYTE
        yield piece


ASKED: list[Callable[[Api], Awaitable[object]]] = [
    lambda client: client.job("j"),
    lambda client: client.result_page("j", after=None, limit=10),
    _events,
]
BOMB = gzip.compress(bytes(64 * MEBIBYTE))


@pytest.mark.parametrize("ask", ASKED, ids=["job", "result page", "events"])
@pytest.mark.parametrize(
    ("head", "once", "again"),
    [
        pytest.param("", b"", bytes(65_536), id="endless"),
        pytest.param("Content-Encoding: gzip\r\n", BOMB, b"", id="gzip bomb"),
        pytest.param("Content-Encoding: gzip, gzip\r\n", gzip.compress(BOMB), b"", id="two bombs"),
        pytest.param("Content-Encoding: br\r\n", b"x", b"", id="another encoding"),
        pytest.param("Content-Encoding: gzip\r\n", b"this is none", b"", id="no gzip"),
    ],
)
async def test_an_answer_is_given_up_when_it_is_too_much(
    ask: Callable[[Api], Awaitable[object]], head: str, once: bytes, again: bytes
) -> None:
    async with gateway(head, once=once, again=again) as client:
        tracemalloc.start()
        try:
            async with asyncio.timeout(60):
                with pytest.raises(AnswerUnreadable):
                    await ask(client)
            assert tracemalloc.get_traced_memory()[1] < 8 * MOST
        finally:
            tracemalloc.stop()


async def test_a_refusal_without_an_end_is_given_up_too() -> None:
    async with gateway("", again=bytes(65_536), status="400 Bad Request") as client:
        with pytest.raises(AnswerUnreadable):
            await client.job("j")


async def test_an_event_of_many_lines_has_a_bound() -> None:
    async with gateway("", again=b"data: " + bytes(65_000) + b"\n") as client:
        async with asyncio.timeout(60):
            with pytest.raises(AnswerUnreadable):
                await _events(client)


async def test_results_of_any_length_come_in_small_pieces() -> None:
    """They are written to a file as they come: what is too much for the disk is the caller's to say."""
    async with gateway("Content-Encoding: gzip\r\n", once=BOMB) as client:
        assert sum([len(piece) async for piece in bodies_of(client)]) == 64 * MEBIBYTE


async def test_honest_answers_are_read_as_before() -> None:
    packed = gzip.compress(b'{"id":"j"}')
    async with gateway("Content-Encoding: gzip\r\n", once=packed) as client:
        assert await client.job("j") == {"id": "j"}
    async with gateway("", once=b'{"code":"not_found","detail":"there is no job j"}', status="404 Not Found") as client:
        with pytest.raises(ApiError, match="there is no job j"):
            await client.job("j")
    async with gateway("", once=b"a\r\nb\nc") as client:
        assert (await client.result_page("j", after=None, limit=3))[0] == [b"a", b"b", b"c"]


def test_a_command_ends_with_a_sentence() -> None:
    assert issubclass(AnswerUnreadable, ShoalError)


async def test_what_comes_slowly_is_given_as_it_comes() -> None:
    """An event is there as soon as it was sent, however little it is."""
    event = b'id: 1\r\nevent: job.started\r\ndata: {"at":"2026-01-01T00:00:00Z"}\r\n\r\n'
    heard = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + event)
        await writer.drain()
        await heard.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, Api(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as client, asyncio.timeout(60):
        async for one in client.events("j"):
            assert one.seq == 1
            heard.set()
            break
