"""Sites that never come to an end, hang or are cut off: the egress proxy keeps its memory, and no connection stays."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from shoal.services.addresses import Reach
from shoal.services.browsers.network import egress
from shoal.services.browsers.network.egress import EgressLimits, EgressProxy
from shoal.services.events import LogEvent
from shoal.services.names import HostNames

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

LOOPBACK = Reach(exceptions=("127.0.0.0/8",))
MEBIBYTE = 1 << 20


@asynccontextmanager
async def site(handler: Handler) -> AsyncIterator[int]:
    """A raw server; gives its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await handler(reader, writer)
        except ConnectionError:
            pass  # the proxy has had enough
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def opened(url: str, request: str = "") -> AsyncIterator[asyncio.StreamReader]:
    """A connection to a listener of the proxy with a request under way, whose answer the test has not read yet."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]), limit=4096)
    writer.write(request.encode())
    try:
        yield reader
    finally:
        writer.transport.abort()
        with suppress(ConnectionError):
            await writer.wait_closed()


def get(port: int, host: str = "127.0.0.1") -> str:
    return f"GET http://{host}:{port}/ HTTP/1.1\r\n\r\n"


def endless(start: bytes, again: bytes) -> tuple[Handler, list[int]]:
    """A site that sends `start`, then `again` until its peer takes no more, and the bytes it got rid of."""
    sent = [0]

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(again)
            await writer.drain()
            sent[0] += len(again)

    return handler, sent


HINT = b"HTTP/1.1 103 Early Hints\r\nLink: <" + b"x" * 1000 + b">\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("start", "again"),
    [
        pytest.param(b"", HINT * 64, id="1xx answers"),
        pytest.param(b"HTTP/1.1 200 OK\r\n", b"X-Filler: " + b"x" * 65_000 + b"\r\n", id="header lines"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65_536, id="one header line"),
        pytest.param(b"HTTP/1.1 200 ", b"x" * 65_536, id="a reason"),
        pytest.param(b"", b"x" * 65_536, id="no head at all"),
        pytest.param(CHUNKED + b"1;", b"x" * 65_536, id="chunk extension"),
        pytest.param(CHUNKED, b"1;a=b\r\nx\r\n" * 6000, id="chunks"),
        pytest.param(CHUNKED + b"0\r\n", b"X-Filler: " + b"x" * 65_000 + b"\r\n", id="trailers"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n", bytes(65_536), id="body"),
    ],
)
async def test_an_answer_without_an_end_does_not_fill_the_proxys_memory(start: bytes, again: bytes) -> None:
    """The client does not read it: what comes is held back at the site, or the answer is refused."""
    handler, sent = endless(start, again)
    async with site(handler) as port, EgressProxy(LOOPBACK) as proxy:
        gc.collect()
        tracemalloc.start()
        try:
            async with opened(proxy.url, get(port)):
                before = -1
                async with asyncio.timeout(60):
                    while sent[0] != before:  # until the site is stuck, or was sent away
                        before = sent[0]
                        await asyncio.sleep(0.3)
                _now, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 4 * MEBIBYTE
        assert sent[0] < 64 * MEBIBYTE


async def test_1xx_answers_are_no_way_to_hold_a_page_for_ever() -> None:
    handler, _sent = endless(b"", HINT)
    async with site(handler) as port, EgressProxy(LOOPBACK) as proxy:
        async with opened(proxy.url, get(port)) as reader, asyncio.timeout(60):
            answer = await reader.read(-1)
        assert proxy.outcomes["invalid"] == 1
    assert answer.startswith(b"HTTP/1.1 103 ")
    assert b"HTTP/1.1 502 Bad Gateway\r\nX-Shoal-Egress: invalid" in answer
    assert answer.count(b"HTTP/1.1 103 ") <= 64


async def test_a_browser_that_takes_nothing_does_not_hold_its_connection_for_ever() -> None:
    """As a frozen renderer does: the connection stands, the buffers are full, the site waits."""
    gone = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                writer.write(bytes(65_536))
                await writer.drain()
        finally:
            gone.set()

    async with (
        site(handler) as port,
        EgressProxy(LOOPBACK, limits=replace(EgressLimits(), idle_s=0.5)) as proxy,
        opened(proxy.url, get(port)),
    ):
        await asyncio.wait_for(gone.wait(), 60)


async def test_a_site_that_is_cut_off_ends_the_answer_as_broken() -> None:
    """A partition in the middle of an answer: nothing comes any more, no end and no reset either."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        await writer.drain()
        await reader.read()

    async with (
        site(handler) as port,
        EgressProxy(LOOPBACK, limits=replace(EgressLimits(), idle_s=0.5)) as proxy,
        opened(proxy.url, get(port)) as reader,
        asyncio.timeout(60),
    ):
        with pytest.raises(ConnectionResetError):
            await reader.read(-1)


async def test_a_site_that_accepts_and_says_nothing_ends() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with (
        site(handler) as port,
        EgressProxy(LOOPBACK, limits=replace(EgressLimits(), idle_s=0.5)) as proxy,
        opened(proxy.url, get(port)) as reader,
        asyncio.timeout(60),
    ):
        with pytest.raises(ConnectionResetError):
            await reader.read(-1)


async def test_an_address_that_is_cut_off_leaves_time_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packets to the first address of a name vanish: the second is tried within the time of the request."""

    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        await writer.drain()

    connect = asyncio.open_connection

    async def partitioned(host: str, *place: int, **options: int) -> object:
        if host == "127.0.0.2":
            await asyncio.Event().wait()
        return await connect(host, *place, **options)

    monkeypatch.setattr("shoal.services.browsers.network.egress.asyncio.open_connection", partitioned)
    names = HostNames(resolve=lambda name: ("127.0.0.2", "127.0.0.1"))
    limits = replace(EgressLimits(), connect_s=2.0)
    async with (
        site(hello) as port,
        EgressProxy(LOOPBACK, names=names, limits=limits) as proxy,
        opened(proxy.url, get(port, "two.example")) as reader,
        asyncio.timeout(60),
    ):
        assert (await reader.read(-1)).endswith(b"hi")


async def test_one_tenants_connections_leave_room_for_the_others() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        await writer.drain()

    limits = replace(EgressLimits(), connections=16)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(site(handler))
        proxy = await stack.enter_async_context(EgressProxy(LOOPBACK, limits=limits))
        bad, good = (await proxy.lend("bad")).url, (await proxy.lend("good")).url
        idle = [await stack.enter_async_context(opened(bad)) for _ in range(32)]
        ended = [asyncio.create_task(reader.read()) for reader in idle]
        async with asyncio.timeout(60):
            while sum(task.done() for task in ended) < 24:
                await asyncio.sleep(0.01)
        reader = await stack.enter_async_context(opened(good, get(port)))
        async with asyncio.timeout(60):
            assert (await reader.read()).endswith(b"hi")
        assert sum(task.done() for task in ended) == 24, "half of the connections, and no more"
        for task in ended:
            task.cancel()


async def test_what_one_session_takes_in_has_a_bound_over_all_its_connections() -> None:
    """Each connection stays within its own bound; together they do not, and the next one is refused."""
    handler, _ = endless(b"HTTP/1.1 200 OK\r\n\r\n", bytes(65_536))
    limits = EgressLimits(connection_bytes=2 * MEBIBYTE, session_bytes=5 * MEBIBYTE)
    async with site(handler) as port, EgressProxy(LOOPBACK, limits=limits) as proxy:
        listener = await proxy.lend("t", 1)
        came = 0
        for _ in range(2):
            async with opened(listener.url, get(port)) as reader:
                came += await _all(reader)
        assert 3 * MEBIBYTE < came < 5 * MEBIBYTE and not listener.excess
        async with AsyncExitStack() as stack:
            both = [await stack.enter_async_context(opened(listener.url, get(port))) for _ in range(2)]
            came += sum(await asyncio.gather(*map(_all, both)))
        assert came < 5 * MEBIBYTE + 1000 and "5 MiB" in listener.excess
        async with opened(listener.url, get(port)) as reader:
            assert (await reader.readline()).startswith(b"HTTP/1.1 403 ")
        proxy.give_back(listener)
        again = await proxy.lend("t", 1)
        assert again is listener and not listener.excess, "the next session begins with nothing"
        async with opened(listener.url, get(port)) as reader:
            assert await _all(reader) > MEBIBYTE


async def _all(reader: asyncio.StreamReader) -> int:
    """Return how many bytes come until the proxy ends it."""
    came = 0
    with suppress(ConnectionError):
        while piece := await reader.read(65_536):
            came += len(piece)
    return came


async def test_a_job_gets_its_own_doors_again_and_no_tenant_another_s() -> None:
    async with EgressProxy(LOOPBACK) as proxy:
        first, second = await proxy.lend("a", 1), await proxy.lend("a", 2)
        proxy.give_back(first)
        proxy.give_back(second)
        assert await proxy.lend("b", 1) not in (first, second)
        assert await proxy.lend("a", 1) is first
        assert await proxy.lend("a", 3) is second
        assert await proxy.lend("a", 1) not in (first, second)


async def test_tenants_without_number_share_no_door(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "_MOST_DOORS", 8)
    async with EgressProxy(LOOPBACK) as proxy:
        busy = await proxy.lend("busy", 1)
        seen = set()
        for n in range(30):
            listener = await proxy.lend(f"t{n}", n)
            assert listener.owner == f"t{n}" and listener is not busy
            seen.add(id(listener))
            proxy.give_back(listener)
        assert len(proxy._listeners) <= 8 and busy.server.is_serving()


async def test_a_page_that_is_refused_again_and_again_fills_no_log() -> None:
    async with EgressProxy(Reach()) as proxy:
        listener = await proxy.lend("t", 1)
        with capture_logs() as logs:
            for _ in range(60):
                async with opened(listener.url, get(80, "10.0.0.1")) as reader:
                    assert (await reader.readline()).startswith(b"HTTP/1.1 403 ")
        assert len([line for line in logs if line["event"] == LogEvent.EGRESS_REFUSED]) == 20
        assert proxy.outcomes["refused"] == 60
