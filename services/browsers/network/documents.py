"""Documents without a browser: kept connections, within the same rules for where they may lead as a browser's."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import AddrInfoType, ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from shoal.agent.documents.document import MOST_BYTES, RawDocument
from shoal.agent.documents.fetching import FetchFailed
from shoal.agent.support.bounded_answers import AnswerUnreadable, beginning
from shoal.agent.support.sites.sites import literal_address
from shoal.services.browsers.network.egress import EgressProxy, EgressRefused

_CONNECT_S = 15.0
_IDLE_S = 15.0
"""A kept connection that was not used for so long is closed."""
_MOST_CONNECTIONS = 64
"""Of one tenant, in one worker."""
_MOST_TENANTS = 64
_LONGEST_LINE = 64 * 1024
"""Bytes of a header: some sites set cookies that are longer than clients usually take."""
_OPENED = frozenset({"http", "https"})


class Documents:
    """The clients of one worker: one for each tenant, so that no tenant uses connections of another."""

    def __init__(self, egress: EgressProxy) -> None:
        self._egress = egress
        self._clients: OrderedDict[str, TenantDocuments] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()
        self._tls = ssl.create_default_context()

    def of(self, tenant: str) -> TenantDocuments:
        """The tenant's client; that of the tenant who asked longest ago is closed beyond a limit."""
        client = self._clients.get(tenant)
        if client is None:
            client = self._clients[tenant] = TenantDocuments(self._egress, tenant, self._tls)
        self._clients.move_to_end(tenant)
        while len(self._clients) > _MOST_TENANTS:
            task = asyncio.ensure_future(self._clients.popitem(last=False)[1].close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        return client

    async def close(self) -> None:
        """Ends all connections."""
        await asyncio.gather(*self._closing, *(client.close() for client in self._clients.values()))
        self._clients.clear()


class TenantDocuments:
    """A `DocumentClient` that connects to those addresses alone that the tenant's browsers may reach."""

    def __init__(self, egress: EgressProxy, tenant: str, tls: ssl.SSLContext) -> None:
        self._egress = egress
        self._tenant = tenant
        self._allowed: set[str] = set()  # addresses that were asked about
        connector = TCPConnector(
            resolver=_CheckedNames(self._checked),
            socket_factory=self._socket,
            use_dns_cache=False,
            ssl=tls,
            limit=_MOST_CONNECTIONS,
            keepalive_timeout=_IDLE_S,
        )
        self._session = ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent"),
            timeout=ClientTimeout(total=None, sock_connect=_CONNECT_S),
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )

    async def _checked(self, host: str, port: int) -> tuple[str, ...]:
        addresses = await self._egress.checked(host, port, self._tenant)
        self._allowed.update(addresses)
        return addresses

    def _socket(self, target: AddrInfoType) -> socket.socket:
        """A socket to an address that was asked about: which hosts are names is read differently by each library."""
        family, kind, protocol, _, (address, *_) = target
        if str(address) not in self._allowed:
            raise OSError(f"the address {address} was not asked about")
        return socket.socket(family, kind, protocol)

    async def get(
        self, url: str, headers: Mapping[str, str], timeout_s: float, most_bytes: int = MOST_BYTES
    ) -> RawDocument:
        """Return what the server answers to one request;
        at most one byte more than `most_bytes` is read.

        Raises:
            FetchFailed: there was no whole answer in time, or the address may not be reached.
        """
        if url.partition(":")[0] not in _OPENED:
            raise FetchFailed(f"{url} is no web address")
        try:
            async with asyncio.timeout(timeout_s):
                return await self._answer(url, {**headers, "Accept-Encoding": "gzip"}, most_bytes)
        except TimeoutError as error:
            raise FetchFailed(f"{url} did not answer within {timeout_s:g} s") from error
        except (ClientError, EgressRefused) as error:
            raise FetchFailed(f"{url}: {error or type(error).__name__}") from error
        except (AnswerUnreadable, OSError, ValueError) as error:
            raise FetchFailed(f"{url}: {error}") from error

    async def _answer(self, url: str, headers: Mapping[str, str], most_bytes: int) -> RawDocument:
        address = URL(url, encoded=True)  # as it is: it is normal already
        if address.host and literal_address(address.host) is not None:  # no name, so that the resolver is not asked
            await self._checked(address.host, address.port or 80)
        async with self._session.get(address, headers=headers, allow_redirects=False) as answer:
            answer_headers: dict[str, str] = {}
            for name, value in answer.raw_headers:
                key = name.decode("ascii", "replace").lower()
                text = value.decode("latin-1")
                answer_headers[key] = f"{answer_headers[key]}, {text}" if key in answer_headers else text
            chunks = answer.content.iter_any()
            body, more = await beginning(chunks, answer_headers.get("content-encoding", ""), most_bytes + 1)
            if more:
                answer.close()  # the rest is not waited for
        return RawDocument(url, answer.status, answer_headers, body + b"\0" * more)

    async def close(self) -> None:
        """Ends the connections."""
        await self._session.close()


class _CheckedNames(AbstractResolver):
    """Gives the very addresses that were asked about: a name that resolves otherwise the next moment gains nothing.

    Connections are kept, and the rules for addresses do not change while a worker runs.
    """

    def __init__(self, checked: Callable[[str, int], Awaitable[tuple[str, ...]]]) -> None:
        self._checked = checked

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._checked(host, port)
        if not addresses:
            raise OSError(f"no address is known for {host}")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Holds nothing."""
