"""Documents without a browser: kept connections, within the same rules for where they may lead as a browser's."""

from __future__ import annotations

import asyncio
import ssl
from collections import OrderedDict
from collections.abc import Iterable, Mapping

import httpcore

from shoal.agent.documents.document import MOST_BYTES, RawDocument
from shoal.agent.documents.fetching import FetchFailed
from shoal.agent.support.bounded_answers import AnswerUnreadable, beginning
from shoal.services.browsers.network.egress import EgressProxy, EgressRefused

_CONNECT_S = 15.0
_IDLE_S = 15.0
"""A kept connection that was not used for so long is closed."""
_MOST_CONNECTIONS = 64
"""Of one tenant, in one worker."""
_MOST_TENANTS = 64
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
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=_MOST_CONNECTIONS,
            keepalive_expiry=_IDLE_S,
            network_backend=_CheckedBackend(egress, tenant),
        )

    async def get(self, url: str, headers: Mapping[str, str], timeout_s: float) -> RawDocument:
        """What the server answers to one request; at most one byte more than a document may have is read.

        Raises:
            FetchFailed: there was no whole answer in time, or the address may not be reached.
        """
        if url.partition(":")[0] not in _OPENED:
            raise FetchFailed(f"{url} is no web address")
        sent = [(name.encode("ascii", "replace"), value.encode("utf-8")) for name, value in headers.items()]
        try:
            async with asyncio.timeout(timeout_s):
                return await self._answer(url, [*sent, (b"Accept-Encoding", b"gzip")])
        except TimeoutError as error:
            raise FetchFailed(f"{url} did not answer within {timeout_s:g} s") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, EgressRefused) as error:
            raise FetchFailed(f"{url}: {error or type(error).__name__}") from error
        except (httpcore.UnsupportedProtocol, AnswerUnreadable, OSError, UnicodeError) as error:
            raise FetchFailed(f"{url}: {error}") from error

    async def _answer(self, url: str, headers: list[tuple[bytes, bytes]]) -> RawDocument:
        async with self._pool.stream("GET", url, headers=headers) as answer:
            said: dict[str, str] = {}
            for name, value in answer.headers:
                key = name.decode("ascii", "replace").lower()
                text = value.decode("latin-1")
                said[key] = f"{said[key]}, {text}" if key in said else text
            body, more = await beginning(answer.aiter_stream(), said.get("content-encoding", ""), MOST_BYTES + 1)
        return RawDocument(url, answer.status, said, body + b"\0" * more)

    async def close(self) -> None:
        """Ends the connections."""
        await self._pool.aclose()


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to the very address that was asked about: a name that resolves otherwise the next moment gains nothing.

    Connections are kept, and the rules for addresses do not change while a worker runs.
    """

    def __init__(self, egress: EgressProxy, tenant: str) -> None:
        self._egress = egress
        self._tenant = tenant
        self._plain = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._egress.checked(host, port, self._tenant)
        if not addresses:
            raise httpcore.ConnectError(f"no address is known for {host}")
        failure: Exception = httpcore.ConnectError(f"{host} does not accept connections")
        for address in addresses:
            try:
                return await self._plain.connect_tcp(
                    address, port, _CONNECT_S / len(addresses), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await self._plain.sleep(seconds)
