"""The proxy by itself: what it refuses, what it passes on, how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from shoal.agent.fault_table import EGRESS_HEADER
from shoal.services.addresses import Reach
from shoal.services.browsers.network.egress import EgressLimits, EgressProxy
from shoal.services.names import HostNames

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class FixedNames(HostNames):
    """A resolver whose answers the test sets; a list is given one by one, as in a rebinding attack."""

    def __init__(self, **names: list[tuple[str, ...]]) -> None:
        super().__init__()
        self._answers = {name.replace("_", "."): answers for name, answers in names.items()}
        self.asked = 0

    async def addresses(self, host: str, owner: str = "") -> tuple[str, ...]:
        self.asked += 1
        answers = self._answers.get(host, [()])
        return answers.pop(0) if len(answers) > 1 else answers[0]


@asynccontextmanager
async def site(handler: Handler) -> AsyncIterator[int]:
    """A raw server; gives its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers with the head of the request that it got."""
    head = await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: %d\r\n\r\n%s" % (len(head), head))
    await writer.drain()


async def talk(proxy: EgressProxy, data: bytes) -> bytes:
    """Return what the proxy answers to raw bytes, to the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    writer.write(data)
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1"],
)
async def test_private_addresses_are_refused_in_every_spelling(host: str) -> None:
    async with EgressProxy(Reach()) as proxy:
        plain = await talk(proxy, f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        tunnel = await talk(proxy, f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
    for answer in (plain, tunnel):
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert f"{EGRESS_HEADER}: refused".encode() in answer
    assert proxy.outcomes == {"refused": 2}


async def test_the_demo_shop_is_answered_without_a_name_an_address_or_a_connection() -> None:
    names = FixedNames()
    async with EgressProxy(Reach(), names=names) as proxy:
        list_page = await talk(proxy, b"GET http://shop.shoal.test/ HTTP/1.1\r\n\r\n")
        product = await talk(proxy, b"GET http://shop.shoal.test/products/4?x=1 HTTP/1.1\r\n\r\n")
        missing = [
            await talk(proxy, b"GET http://shop.shoal.test/%s HTTP/1.1\r\n\r\n" % path)
            for path in (b"products/13", b"products/%31", b"robots.txt", b"products/1/")
        ]
        assert await proxy.checked("shop.shoal.test", 80) == () and names.asked == 0
    assert list_page.startswith(b"HTTP/1.1 200 OK\r\n") and list_page.count(b'href="/products/') == 12
    assert b"<h1>Copper pan</h1>" in product and EGRESS_HEADER.encode() not in product
    assert all(answer.startswith(b"HTTP/1.1 404 Not Found\r\n") for answer in missing)


async def test_a_site_cannot_pose_as_the_filter() -> None:
    async def forger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 403 No\r\n{EGRESS_HEADER.lower()}: refused\r\nX-Own: kept\r\n\r\n".encode())
        await writer.drain()

    async with site(forger) as port, EgressProxy(Reach(exceptions=("127.0.0.1",))) as proxy:
        answer = await talk(proxy, b"GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n" % port)
    assert answer.startswith(b"HTTP/1.1 403 ") and b"X-Own: kept" in answer
    assert EGRESS_HEADER.lower().encode() not in answer.lower()


async def test_a_name_that_leads_to_a_private_address_is_refused_also_beside_public_ones() -> None:
    names = FixedNames(evil_example=[("192.168.1.1",)], mixed_example=[("93.184.216.34", "127.0.0.1")])
    async with EgressProxy(Reach(), names=names) as proxy:
        assert b" 403 " in await talk(proxy, b"GET http://evil.example/ HTTP/1.1\r\n\r\n")
        assert b" 403 " in await talk(proxy, b"CONNECT mixed.example:443 HTTP/1.1\r\n\r\n")


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    """DNS rebinding: the name is public when it is asked about, and loopback the next moment."""
    async with site(hello) as port:
        names = FixedNames(rebinding_example=[("127.0.0.2",), ("127.0.0.1",)])
        reach = Reach(exceptions=("127.0.0.2/32",))  # stands for the public address
        async with EgressProxy(reach, names=names) as proxy:
            answer = await talk(proxy, b"GET http://rebinding.example:%d/ HTTP/1.1\r\n\r\n" % port)
    assert names.asked == 1, "one look-up serves the check and the connection"
    assert b" 502 " in answer, "nothing listens on 127.0.0.2, and 127.0.0.1 was not tried"


@pytest.mark.parametrize(
    ("exception", "allowed"),
    [("127.0.0.1:{port}", True), ("127.0.0.1:1", False), ("127.0.0.0/8", True), ("127.0.0.1", True), ("::1", False)],
)
async def test_the_operator_may_allow_hosts_ports_and_networks(exception: str, allowed: bool) -> None:
    async with site(hello) as port:
        reach = Reach(exceptions=(exception.format(port=port),))
        async with EgressProxy(reach) as proxy:
            answer = await talk(proxy, b"GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n" % port)
    assert answer.startswith(b"HTTP/1.1 200 " if allowed else b"HTTP/1.1 403 ")


LOOPBACK = Reach(exceptions=("127.0.0.0/8",))


async def test_a_request_reaches_the_site_as_if_no_proxy_were_there() -> None:
    async with site(hello) as port, EgressProxy(LOOPBACK) as proxy:
        request = (
            f"POST http://127.0.0.1:{port}/a/b;c?d=e&f?#g HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Own: 1\r\n"
            "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nContent-Length: 2\r\n\r\nhi"
        )
        answer = await talk(proxy, request.encode())
    head, _, seen = answer.partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(seen), b"Connection: close"]
    assert seen.split(b"\r\n")[:5] == [
        b"POST /a/b;c?d=e&f?#g HTTP/1.1",
        f"Host: 127.0.0.1:{port}".encode(),
        b"X-Own: 1",
        b"Content-Length: 2",
        b"Connection: close",
    ]
    assert proxy.outcomes == {"passed": 1}


async def test_a_tunnel_carries_bytes_both_ways() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data.upper())
            await writer.drain()

    async with site(echo) as port, EgressProxy(LOOPBACK) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
        writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        for word in (b"first", b"second" * 100_000):
            writer.write(word)
            assert await reader.readexactly(len(word)) == word.upper()
        writer.close()


async def test_a_slow_reader_slows_the_site_down() -> None:
    """Back-pressure: a download nobody reads must not pile up in this process."""
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(bytes(65536))
            await writer.drain()
            sent += 65536

    async with site(endless) as port, EgressProxy(LOOPBACK) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]), limit=1024)
        writer.write(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        before = -1
        async with asyncio.timeout(60):
            while sent != before:  # until the site is stuck: socket buffers hold a few MiB, and no more comes
                before = sent
                await asyncio.sleep(0.3)
        assert sent < 64 * 1024 * 1024
        writer.transport.abort()


async def test_a_response_that_breaks_off_does_not_look_complete() -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        await writer.drain()

    async with site(break_off) as port, EgressProxy(LOOPBACK) as proxy, httpx.AsyncClient(proxy=proxy.url) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(f"http://127.0.0.1:{port}/")


async def test_early_hints_pass_before_the_response() -> None:
    async def hints(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nx"
        )
        await writer.drain()

    async with site(hints) as port, EgressProxy(LOOPBACK) as proxy:
        answer = await talk(proxy, b"GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n" % port)
    assert answer == (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx"
    )


async def test_a_server_without_headers_is_passed_as_it_is() -> None:
    async def ancient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"<p>HTTP 0.9")
        await writer.drain()

    async with site(ancient) as port, EgressProxy(LOOPBACK) as proxy:
        assert await talk(proxy, b"GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n" % port) == b"<p>HTTP 0.9"


async def test_failures_say_what_failed() -> None:
    async with site(hello) as port:
        pass  # now nothing listens there
    names = FixedNames(nowhere_example=[()])
    async with EgressProxy(LOOPBACK, names=names) as proxy:
        closed = await talk(proxy, b"GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n" % port)
        unknown = await talk(proxy, b"CONNECT nowhere.example:443 HTTP/1.1\r\n\r\n")
    assert b" 502 " in closed and b"X-Shoal-Egress: unreachable" in closed
    assert b" 502 " in unknown and b"no address is known for nowhere.example" in unknown


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET https://a.example/ HTTP/1.1\r\n\r\n",
        b"GET ftp://a.example/ HTTP/1.1\r\n\r\n",
        b"CONNECT a.example HTTP/1.1\r\n\r\n",
        b"CONNECT a.example:99999 HTTP/1.1\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
    ],
)
async def test_what_is_no_proxy_request_gets_400(request_: bytes) -> None:
    async with EgressProxy(Reach()) as proxy:
        assert (await talk(proxy, request_)).startswith(b"HTTP/1.1 400 ")


async def test_a_refused_upload_still_gets_its_answer() -> None:
    """Closing with the body unread would reset the connection, and the browser would see no reason."""
    async with EgressProxy(Reach()) as proxy, httpx.AsyncClient(proxy=proxy.url) as client:
        answer = await client.post("http://10.0.0.1/", content=bytes(2_000_000))
    assert (answer.status_code, answer.headers[EGRESS_HEADER]) == (403, "refused")


async def test_silence_ends_a_connection_but_one_busy_direction_keeps_both() -> None:
    got_all = asyncio.Event()

    async def slow_upload(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(6):
            await reader.readexactly(1)
        got_all.set()
        await reader.read()

    limits = replace(EgressLimits(), idle_s=2.0)
    async with site(slow_upload) as port, EgressProxy(LOOPBACK, limits=limits) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
        writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(6):  # longer than the limit in all, with nothing coming back
            writer.write(b"x")
            await asyncio.sleep(0.4)
        await asyncio.wait_for(got_all.wait(), 60)
        with pytest.raises(ConnectionResetError):  # not a good end
            await asyncio.wait_for(reader.read(), 60)
        writer.close()


async def test_a_browser_that_goes_away_takes_its_connection_along() -> None:
    gone = asyncio.Event()

    async def long_poll(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            await reader.read()
        finally:
            gone.set()

    async with site(long_poll) as port, EgressProxy(LOOPBACK) as proxy:
        _reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
        writer.write(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode())
        await writer.drain()
        async with asyncio.timeout(60):
            while not proxy.outcomes["passed"]:
                await asyncio.sleep(0.005)
        writer.close()
        await asyncio.wait_for(gone.wait(), 60)


async def test_the_proxy_ends_with_connections_open() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with site(silent) as port:
        async with EgressProxy(LOOPBACK) as proxy:
            idle_reader, idle = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
            reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
            writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
        for one, other in ((idle_reader, idle), (reader, writer)):
            with pytest.raises(ConnectionResetError):
                await asyncio.wait_for(one.read(), 60)
            other.close()


@pytest.mark.parametrize("asked", [b"GET http://127.0.0.1:%d/", b"CONNECT 127.0.0.1:%d"])
async def test_an_answer_without_an_end_is_cut_off_at_a_bound(asked: bytes) -> None:
    """With an error, and the site is left as well: a good end would make a whole page of what came."""
    left = asyncio.Event()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
            while True:
                writer.write(b"x" * 10_000)
                await writer.drain()
        finally:
            left.set()

    limits = EgressLimits(connection_bytes=300_000)
    async with site(endless) as port, EgressProxy(Reach(allow_private=True), limits=limits) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
        writer.write(asked % port + b" HTTP/1.1\r\n\r\n")
        came = 0
        async with asyncio.timeout(60):
            with pytest.raises(ConnectionResetError):
                while data := await reader.read(65536):
                    came += len(data)
            await left.wait()
        writer.close()
    assert came <= 310_000
