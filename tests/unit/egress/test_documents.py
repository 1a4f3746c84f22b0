"""Fetching documents without a browser reaches no address that the egress rules refuse, however it is spelled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shoal.agent.documents.fetching import FetchFailed
from shoal.services.addresses import Reach
from shoal.services.browsers.network.documents import Documents
from shoal.services.browsers.network.egress import EgressProxy
from tests.unit.egress.test_egress import FixedNames, hello, site

HOSTS = (
    *("127.0.0.1", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.0.0.1.", "0", "0.0.0.0"),
    *("①②⑦.0.0.1", "１２７.0.0.1", "²¹³⁰⁷⁰⁶⁴³³", "127.0.0.1%2e", "localhost", "LOCALHOST."),
    *("[::1]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "[::1%25lo]", "[::]", "[::127.0.0.1]"),
)


@asynccontextmanager
async def documents(reach: Reach, **names: list[tuple[str, ...]]) -> AsyncIterator[Documents]:
    async with EgressProxy(reach, names=FixedNames(**names) if names else None) as egress:
        opened = Documents(egress)
        try:
            yield opened
        finally:
            await opened.close()


@pytest.mark.parametrize("host", HOSTS)
async def test_a_refused_address_is_not_connected_to_in_any_spelling(host: str) -> None:
    async with site(hello) as port, documents(Reach()) as client:
        with pytest.raises(FetchFailed):
            await client.of("t").get(f"http://{host}:{port}/", {}, 20)


async def test_the_same_address_is_reached_where_the_rules_allow_it() -> None:
    async with site(hello) as port, documents(Reach(allow_private=True)) as client:
        for host in ("127.0.0.1", "localhost"):
            assert (await client.of("t").get(f"http://{host}:{port}/", {}, 20)).status == 200


async def test_what_was_not_asked_about_is_not_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own reading of a host, which is not ours, decides nothing."""
    async with site(hello) as port, documents(Reach(), inner_example=[("93.184.216.34",)]) as client:
        monkeypatch.setattr("aiohttp.connector.is_ip_address", lambda host: host == "inner.example")
        monkeypatch.setattr("aiohttp.connector.is_canonical_ipv4_address", lambda host: True)
        monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", port))])
        with pytest.raises(FetchFailed, match="Cannot connect"):
            await client.of("t").get(f"http://inner.example:{port}/", {}, 20)
