"""A real Chromium behind the proxy: no page gets it to loopback, and allowed sites work, web sockets included."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from playwright.async_api import Error, Page, async_playwright

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.devtools.reading_context import ReadingContext
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.chromium.process.launch import LaunchOptions, launch
from shoal.agent.errors import EgressForbidden, HostUnreachable, NavigationError
from shoal.agent.sessions.lazy_context import LazyContext
from shoal.services.addresses import Reach
from shoal.services.browsers.network.egress import CHROMIUM_FLAGS, EgressProxy
from shoal.services.names import HostNames


class Site:
    """A server on loopback that counts who comes. `/go?URL` redirects, `/socket` echoes, the rest is `pages`."""

    def __init__(self) -> None:
        self.connections = 0
        self.pages: dict[str, str] = {}
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ")[1]
            if path == "/socket":
                await self._echo(head, reader, writer)
            elif path.startswith("/go?"):
                writer.write(f"HTTP/1.1 302 Found\r\nLocation: {path[4:]}\r\nContent-Length: 0\r\n\r\n".encode())
            else:
                body = self.pages.get(path, "secret").encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
                )
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _echo(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One short text frame (RFC 6455), sent back as it came."""
        key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest())
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %s\r\n\r\n" % accept
        )
        start = await reader.readexactly(2)
        length = start[1] & 0x7F
        mask = await reader.readexactly(4)
        masked = await reader.readexactly(length)
        writer.write(bytes([start[0], length]) + bytes(b ^ mask[i % 4] for i, b in enumerate(masked)))
        await writer.drain()
        await reader.read(1)  # the browser ends it


@asynccontextmanager
async def running(site: Site) -> AsyncIterator[Site]:
    async with await asyncio.start_server(site.serve, "127.0.0.1", 0) as server:
        site.port = server.sockets[0].getsockname()[1]
        yield site


class Names(HostNames):
    """Every name leads to loopback."""

    async def addresses(self, host: str, owner: str = "") -> tuple[str, ...]:
        return ("127.0.0.1",)


class World:
    """An allowed site, a forbidden one beside it, and a browser behind the proxy."""

    def __init__(self, allowed: Site, forbidden: Site, proxy: EgressProxy, page: Page) -> None:
        self.allowed = allowed
        self.forbidden = forbidden
        self.proxy = proxy
        self.page = page

    @property
    def home(self) -> str:
        return f"http://allowed.example:{self.allowed.port}"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        allowed = await stack.enter_async_context(running(Site()))
        forbidden = await stack.enter_async_context(running(Site()))
        reach = Reach(exceptions=(f"allowed.example:{allowed.port}",))
        proxy = await stack.enter_async_context(EgressProxy(reach, names=Names()))
        driver = await stack.enter_async_context(async_playwright())
        browser = await driver.chromium.launch(
            executable_path=find_chromium(),
            args=["--no-sandbox", *CHROMIUM_FLAGS],
            proxy={"server": proxy.url, "bypass": "<-loopback>"},
        )
        stack.push_async_callback(browser.close)
        yield World(allowed, forbidden, proxy, await browser.new_page())


def ways_in(port: int) -> list[str]:
    """Addresses of the forbidden site: by literal, by odd literal, by name, by a name that resolves to it."""
    return [
        f"http://127.0.0.1:{port}/",
        f"http://2130706433:{port}/",
        f"http://0x7f.0.0.1:{port}/",
        f"http://localhost:{port}/",
        f"http://[::1]:{port}/",
        f"http://[::ffff:127.0.0.1]:{port}/",
        f"http://evil.example:{port}/",
        f"http://allowed.example:{port}/",  # allowed on another port only
        f"https://127.0.0.1:{port}/",
        f"https://evil.example:{port}/",
    ]


async def test_an_address_bar_does_not_reach_loopback(world: World) -> None:
    for url in ways_in(world.forbidden.port):
        try:
            answer = await world.page.goto(url)
        except Error as error:
            assert "ERR_" in error.message, url
        else:
            assert answer is not None and answer.status == 403, url
            assert (await answer.all_headers())["x-shoal-egress"] == "refused"
    assert world.forbidden.connections == 0
    assert world.proxy.outcomes["refused"] >= len(ways_in(0))


async def test_a_page_does_not_reach_loopback(world: World) -> None:
    """By redirect, frame, image, script, style, fetch, XHR, beacon, event source, web socket, worker and form."""
    port = world.forbidden.port
    target = f"http://evil.example:{port}"
    world.allowed.pages["/"] = f"""<!doctype html><title>home</title>
        <iframe src="{target}/frame"></iframe><iframe src="/go?{target}/redirected-frame"></iframe>
        <img src="{target}/img"><script src="http://127.0.0.1:{port}/script"></script>
        <link rel="stylesheet" href="http://localhost:{port}/style"><link rel="preconnect" href="{target}">
        <object data="{target}/object"></object>"""
    await world.page.goto(f"{world.home}/")
    tried = await world.page.evaluate(
        """async (target) => {
            const socket = (url) => new Promise((done) => {
                const s = new WebSocket(url); s.onopen = () => done("open"); s.onerror = () => done("refused");
            });
            const stream = (url) => new Promise((done) => {
                const s = new EventSource(url);
                s.onopen = () => done("open"); s.onerror = () => { s.close(); done("refused"); };
            });
            const secret = async (url, how) => {
                try { return (await (await fetch(url, how)).text()).includes("secret") ? "read" : "refused"; }
                catch { return "refused"; }
            };
            navigator.sendBeacon(target + "/beacon", "x");
            const worker = new Worker(URL.createObjectURL(new Blob([
                `fetch("${target}/worker").then((r) => r.text()).then(
                    (t) => postMessage(t.includes("secret") ? "read" : "refused"), () => postMessage("refused"))`])));
            return Promise.all([
                secret(target + "/fetch"), secret(target + "/post", {method: "POST", body: "x"}),
                secret("/go?" + target + "/redirected"), secret(target.replace("http", "https") + "/tls"),
                socket(target.replace("http", "ws") + "/socket"),
                socket("ws://127.0.0.1:" + target.split(":")[2] + "/"),
                stream(target + "/events"), new Promise((done) => worker.onmessage = (m) => done(m.data)),
            ]);
        }""",
        target,
    )
    assert tried == ["refused"] * 8
    await world.page.goto(f"{world.home}/go?{target}/redirected")
    assert "secret" not in await world.page.content()
    assert world.forbidden.connections == 0


async def test_an_allowed_site_works_web_sockets_included(world: World) -> None:
    world.allowed.pages["/"] = "<title>welcome</title>"
    answer = await world.page.goto(f"{world.home}/go?/")
    assert answer is not None and answer.status == 200
    assert await world.page.title() == "welcome"
    echoed = await world.page.evaluate(
        """(url) => new Promise((done) => {
            const socket = new WebSocket(url);
            socket.onopen = () => socket.send("hello");
            socket.onmessage = (message) => { socket.close(); done(message.data); };
            socket.onerror = () => done("error");
        })""",
        f"{world.home.replace('http', 'ws')}/socket",
    )
    assert echoed == "hello"
    assert world.proxy.outcomes["refused"] == 0


class Datagrams(asyncio.DatagramProtocol):
    """Counts what comes by UDP."""

    def __init__(self) -> None:
        self.count = 0

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.count += 1


async def test_webrtc_does_not_go_around_the_proxy(world: World) -> None:
    """A page may name any host as STUN or TURN server; Chromium would ask it by UDP, which no HTTP proxy sees."""
    datagrams = Datagrams()
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: datagrams, local_addr=("127.0.0.1", world.forbidden.port)
    )
    try:
        gathered = await world.page.evaluate(
            """async (port) => {
                const at = "127.0.0.1:" + port;
                const connection = new RTCPeerConnection({iceServers: [{
                    urls: ["stun:" + at, "turn:" + at + "?transport=udp", "turn:" + at + "?transport=tcp"],
                    username: "u", credential: "c",
                }]});
                connection.createDataChannel("x");
                const done = new Promise((done) => connection.onicegatheringstatechange = () =>
                    connection.iceGatheringState === "complete" && done("complete"));
                await connection.setLocalDescription(await connection.createOffer());
                return done;
            }""",
            world.forbidden.port,
        )
    finally:
        transport.close()
    assert gathered == "complete"
    assert (datagrams.count, world.forbidden.connections) == (0, 0)


async def test_a_context_that_is_only_read_does_not_reach_loopback_either() -> None:
    async with AsyncExitStack() as stack:
        allowed = await stack.enter_async_context(running(Site()))
        forbidden = await stack.enter_async_context(running(Site()))
        reach = Reach(exceptions=(f"allowed.example:{allowed.port}",))
        proxy = await stack.enter_async_context(EgressProxy(reach, names=Names()))
        browser = await launch(LaunchOptions(proxy=proxy.url, proxy_bypass="<-loopback>", args=CHROMIUM_FLAGS))
        stack.push_async_callback(browser.close)
        context = await browser.new_context(ContextOptions(reading=True))
        assert isinstance(context, ReadingContext)
        for url in ways_in(forbidden.port):
            try:
                landing = await context.goto(url)
            except NavigationError as error:
                assert "ERR_" in str(error), url
            else:
                assert (landing.status, landing.egress) == (403, "refused"), url
        allowed.pages["/"] = f"<img src=http://127.0.0.1:{forbidden.port}/a>"
        assert (await context.goto(f"http://allowed.example:{allowed.port}/")).status == 200
        assert await context.settle(quiet_s=0.2)
        assert forbidden.connections == 0
        assert proxy.outcomes["refused"] > len(ways_in(0))


@pytest.mark.parametrize("reading", [True, False])
async def test_what_the_filter_answers_is_never_taken_for_the_sites(reading: bool) -> None:
    async def passes(url: str) -> None:
        """A guard that knows only the first address: the redirect is the filter's to refuse."""

    async with AsyncExitStack() as stack:
        allowed = await stack.enter_async_context(running(Site()))
        async with running(Site()) as closed:
            pass
        reach = Reach(exceptions=(f"allowed.example:{allowed.port}", f"closed.example:{closed.port}"))
        proxy = await stack.enter_async_context(EgressProxy(reach, names=Names()))
        browser = await launch(LaunchOptions(proxy=proxy.url, proxy_bypass="<-loopback>", args=CHROMIUM_FLAGS))
        stack.push_async_callback(browser.close)
        home = f"http://allowed.example:{allowed.port}"
        page = LazyContext(browser, ContextOptions(reading=reading), home, passes)
        stack.push_async_callback(page.close)

        with pytest.raises(EgressForbidden, match=r"evil\.example.*Shoal does not let browsers reach") as refused:
            await page.goto(f"{home}/go?http://evil.example:{allowed.port}/")
        assert (refused.value.code, refused.value.retryable) == ("address_forbidden", False)
        with pytest.raises(HostUnreachable, match=r"closed\.example cannot be reached"):
            await page.goto(f"http://closed.example:{closed.port}/")
        allowed.pages["/"] = "<title>fine</title>"
        assert (await page.goto(f"{home}/")).status == 200
