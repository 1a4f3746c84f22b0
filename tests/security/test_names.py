"""One tenant's names never answer: its jobs, its pages. Nobody else waits for them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest
import uvicorn

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.process.launch import LaunchOptions, launch
from shoal.services.addresses import Reach
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.browsers.network.egress import CHROMIUM_FLAGS, EgressProxy
from shoal.services.names import HostNames
from shoal.services.store.store import Store, open_store
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps, GatewayOptions
from shoal.services.web.http.api_keys import hash_key, make_key

SLOW_NAMES = 100


class Resolver:
    """A resolver whose answers for `*.slow.example` never come, as from servers that drop each question."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.hanging: set[str] = set()

    def __call__(self, name: str) -> tuple[str, ...]:
        if not name.endswith(".slow.example"):
            return ("127.0.0.1",) if name.endswith("site.example") else ("93.184.216.34",)
        self.hanging.add(name)
        self.end.wait(60)
        return ()


@pytest.fixture
def resolver() -> Iterator[Resolver]:
    made = Resolver()
    yield made
    made.end.set()


@asynccontextmanager
async def serving(store: Store, names: HostNames) -> AsyncIterator[str]:
    """The address of a gateway with keys, on this very event loop: what stops it is seen here."""
    app = create_app(GatewayDeps(store, MemoryArtifacts(), GatewayOptions(auth=True), names))
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1)
    server, socket = uvicorn.Server(config), config.bind_socket()
    task = asyncio.create_task(server.serve([socket]))
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        socket.close()


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not met():
            await asyncio.sleep(0.01)


async def seconds_of(waited: asyncio.Future[object] | asyncio.Task[object]) -> float:
    began = time.monotonic()
    await waited
    return time.monotonic() - began


async def test_a_job_with_a_hundred_names_that_never_answer_delays_nobody(resolver: Resolver) -> None:
    store = await open_store("sqlite://")
    keys = {tenant: make_key() for tenant in ("bad", "good")}
    for tenant, key in keys.items():
        await store.create_key("test", tenant, ("submit",), hash_key(key))
    names = HostNames(resolve=resolver, timeout_s=8)
    async with serving(store, names) as url, httpx.AsyncClient(base_url=url, timeout=100) as http:

        async def submit(tenant: str, **job: object) -> httpx.Response:
            headers = {"Authorization": f"Bearer {keys[tenant]}"}
            return await http.post("/v1/jobs", json={"goal": "look", **job}, headers=headers)

        values = [f"http://{n}.slow.example/" for n in range(SLOW_NAMES)]
        evil = [
            asyncio.create_task(submit("bad", url=f"http://{n}.front.slow.example/", loop={"values": values}))
            for n in range(20)
        ]
        await until(lambda: len(resolver.hanging) >= 20)
        thread_s = await seconds_of(asyncio.ensure_future(asyncio.to_thread(lambda: None)))
        began = time.monotonic()
        good = await submit("good", url="http://shop.example/", loop={"values": ["http://other.example/"]})
        took_s = time.monotonic() - began
        assert good.status_code == 201
        assert took_s < 6, "another tenant's submission"
        assert thread_s < 6, "what runs in the process's common threads"
        assert {answer.status_code for answer in await asyncio.gather(*evil)} == {201}
        assert time.monotonic() - began < 30, "its look-ups are waited for together, not one after the other"
        asked_of_values = {name for name in resolver.hanging if ".front." not in name}
        assert len(asked_of_values) <= 5, "of a job's items a few are looked up"
    await store.close()


async def test_a_page_with_a_hundred_names_that_never_answer_delays_no_other_tenants_page(resolver: Resolver) -> None:
    """Both in one browser: the contexts of a tenant have a way out of their own."""

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        images = "".join(f'<img src="http://{n}.slow.example/">' for n in range(SLOW_NAMES))
        body = (images if b" /evil" in head else "<h1>Good</h1>").encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    reach = Reach(exceptions=("127.0.0.0/8",))
    # Few threads, and callers that wait for long: as if the pages were many.
    names = HostNames(resolve=resolver, at_once=8, timeout_s=50)
    async with (
        await asyncio.start_server(site, "127.0.0.1", 0) as server,
        EgressProxy(reach, names=names) as proxy,
    ):
        port = server.sockets[0].getsockname()[1]
        options = LaunchOptions(proxy=proxy.url, proxy_bypass="<-loopback>", args=CHROMIUM_FLAGS)
        browser = await launch(options)
        try:
            evil = await browser.new_context(ContextOptions(proxy=(await proxy.lend("bad")).url))
            good = await browser.new_context(ContextOptions(proxy=(await proxy.lend("good")).url, reading=True))
            await evil.goto(f"http://site.example:{port}/evil")
            await until(lambda: len(resolver.hanging) == 4)
            began = time.monotonic()
            await good.goto(f"http://good.site.example:{port}/")
            assert time.monotonic() - began < 40
            assert await good.read("() => document.querySelector('h1').textContent") == "Good"
            assert (await proxy.checked("new.example", 80, "good")) == ("93.184.216.34",)
            assert len(resolver.hanging) == 4, "half of the threads, and no more"
        finally:
            await browser.close()
