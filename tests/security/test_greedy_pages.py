"""Pages that take in, unpack or hold without end: they come to an end, and their neighbours notice nothing."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler

import pytest
import pytest_asyncio

from shoal.agent.status import Status
from tests.security.world import Answer, Site, Visitors, hostile_site, visitors

MEBIBYTE = 1 << 20
EXTRACT = {"schema": {"type": "object", "properties": {"title": {"type": "string"}}}}
MOST_IN = 8 * MEBIBYTE
MOST_HELD = 400 * MEBIBYTE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with hostile_site() as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tenant(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitors]:
    folder = tmp_path_factory.mktemp("worker")
    async with visitors(folder, session_bytes=MOST_IN, page_bytes=MOST_HELD) as one:
        yield one


async def test_what_a_page_takes_in_over_many_connections_has_an_end(site: Site, tenant: Visitors) -> None:
    sent = [0]

    def endless(handler: BaseHTTPRequestHandler) -> None:
        while True:
            handler.wfile.write(bytes(65_536))
            sent[0] += 65_536

    site.pages["/endless"] = Answer(write=endless, headers={"Content-Type": "application/octet-stream"})
    fetches = "for (let n = 0; n < 6; n++) fetch('/endless?' + n).then(r => r.arrayBuffer())"
    address = site.page("/greedy", f"<h1>Shop</h1><p id=p>wait</p><script>{fetches}</script><img src=/endless?7>")
    outcome = await tenant.run({"url": address, "extract": EXTRACT, "artifacts": {"screenshots": "all"}})
    assert "sent more than 8 MiB" in outcome.reason
    # What the site got rid of beyond that lies in the buffers of its connections.
    assert sent[0] < MOST_IN + 8 * 6 * MEBIBYTE
    again = await tenant.run({"url": site.page("/plain", "<h1>Shop</h1>"), "extract": EXTRACT})
    assert again.status is Status.COMPLETED and "sent more" not in again.reason


@pytest.mark.parametrize("how", ["script", "gzip bomb"])
async def test_a_page_that_fills_the_memory_is_ended_alone(site: Site, tenant: Visitors, how: str) -> None:
    if how == "script":
        held = "const held = []; for (;;) held.push(new Uint8Array(20 << 20).fill(1))"
        address = site.page("/hold", f"<h1>Shop</h1><script>{held}</script>")
    else:
        bomb = gzip.compress(b"<!doctype html><title>Shop</title><h1>Shop</h1>" + b"x " * (1 << 30), 1)
        site.pages["/bomb"] = Answer(bomb, headers={"Content-Encoding": "gzip"})
        address = site.url + "/bomb"
    plain = site.page("/plain", "<h1>Shop</h1>")

    async def neighbours() -> list[Status]:
        return [(await tenant.run({"url": plain, "extract": EXTRACT})).status for _ in range(3)]

    before = await tenant.restarts()
    outcome, beside = await asyncio.gather(tenant.run({"url": address, "extract": EXTRACT}), neighbours())
    assert outcome.status is Status.FAILED and outcome.error is not None
    # What is unpacked slowly may run into the page's time before it runs into its memory.
    if how == "script" or outcome.error.code != "navigation_timeout":
        assert outcome.error.code == "page_crashed", outcome.error
        assert "more than 400 MiB of memory" in outcome.error.message
    assert beside == [Status.COMPLETED] * 3
    assert await tenant.restarts() == before
