"""The way out of a browser: a forward proxy on loopback that keeps it from private addresses.

Chromium is started with this proxy, `--proxy-bypass-list=<-loopback>` and `CHROMIUM_FLAGS`, so that every request of
every page, frame, worker, redirect and web socket passes here. The proxy resolves the name itself, asks `Reach`, and
connects to the very address that was asked about: a name that resolves differently the next moment (DNS rebinding)
gains nothing.

Each session has a listener of its own, an address that its contexts are given. So what its pages take in has a bound,
however many connections they open. Look-ups and connections are counted for its tenant: a page that names a hundred
hosts which never answer keeps no other tenant's pages waiting.

Plain HTTP comes in absolute form and is passed on one request per connection; HTTPS and web sockets come as CONNECT and
are passed on as bytes. A refusal is a 403, another failure a 502 or 504; both carry `EGRESS_HEADER`, which no answer of
a site that comes by plain HTTP keeps.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import structlog

from shoal.agent.fault_table import EGRESS_HEADER
from shoal.agent.support.sites.sites import literal_address, plain_host
from shoal.services.addresses import Reach
from shoal.services.browsers.network.proxy_listeners import ProxyListener, ProxyListeners
from shoal.services.browsers.network.relay import (
    BadAnswer,
    Bound,
    RelayTraffic,
    Streams,
    end_to_end_fields,
    pass_response_head,
    reset,
)
from shoal.services.demo import shop
from shoal.services.events import LogEvent
from shoal.services.names import HostNames

log = structlog.get_logger(__name__)

REFUSED_REASON = "Refused by Shoal"
"""The reason phrase of a refusal: all that clients see of the answer to a CONNECT."""

CHROMIUM_FLAGS = ("--force-webrtc-ip-handling-policy=disable_non_proxied_udp",)
"""Chromium's flags besides the proxy: WebRTC would send UDP straight to any address that a page names."""

_CHUNK = 64 * 1024
_BATCH_DELAY_S = 1.0
_MOST_DOORS = 1024
"""Open at once, those included that wait for the next session of their tenant."""
_ORIGIN = re.compile(rb"^http://[^/?#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EgressLimits:
    """Everything that waits here has an end."""

    connections: int = 1024  # at once; one listener may hold as many as are free besides; more are closed at once
    head_bytes: int = 64 * 1024  # of one request's head, and of a response's with those of 103 and the like before it
    connection_bytes: int = 1024**3  # from a site over one connection; endless answers end there
    session_bytes: int = 4 * 1024**3  # from all sites over all connections of one session
    first_request_s: float = 300.0  # browsers open connections ahead of need
    connect_s: float = 15.0  # name, check and connection
    idle_s: float = 600.0  # no byte in either direction; web sockets are quiet for long


class EgressRefused(Exception):
    """The destination is not allowed; the text says why."""


class _BadRequest(Exception):
    """The bytes that came in are no proxy request."""


class EgressProxy:
    """A running proxy between `async with`; its address is `url`. One for each browser worker."""

    def __init__(self, reach: Reach, *, names: HostNames | None = None, limits: EgressLimits = EgressLimits()) -> None:
        self._reach = reach
        self._names = names or HostNames()
        self._limits = limits
        self._listeners = ProxyListeners(self._listen, limits.session_bytes, most=_MOST_DOORS)
        self._open: dict[asyncio.Task[None], str] = {}  # connections, with their owners
        self.outcomes: Counter[str] = Counter()
        """Counts of requests by outcome: `passed`, `refused`, `unreachable`, `timeout`, `invalid`."""

    @property
    def url(self) -> str:
        """The address of the first listener, for what belongs to no tenant."""
        return self._first.url

    async def lend(self, owner: str, job: int | None = None) -> ProxyListener:
        """A listener for the browser contexts of one session of `owner`; `give_back` ends that."""
        return await self._listeners.lend(owner, job)

    def give_back(self, listener: ProxyListener) -> None:
        """The session that had the listener is over."""
        self._listeners.give_back(listener)

    async def _listen(self, listener: Callable[[], ProxyListener]) -> asyncio.Server:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._accept(listener(), reader, writer)

        return await asyncio.start_server(accept, "127.0.0.1", 0, limit=self._limits.head_bytes)

    async def __aenter__(self) -> Self:
        self._first = await self._listeners.open("", None)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listeners.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._listeners.closed()

    async def checked(self, host: str, port: int, owner: str = "") -> tuple[str, ...]:
        """The addresses of `host` that `owner` may connect to; empty when the name does not resolve.

        Raises:
            EgressRefused: one of them is forbidden, or the name itself is.
        """
        if host == shop.HOST:
            return ()  # it has no address: the proxy itself answers
        literal = literal_address(plain_host(host))
        addresses = (str(literal),) if literal is not None else await self._names.addresses(host, owner)
        reason = self._reach.refusal(host, port, addresses)
        if reason is not None:
            raise EgressRefused(f"Shoal does not let browsers reach {host}: the address is {reason}")
        return addresses

    # --- one connection -------------------------------------------------------------------------------

    async def _accept(
        self, listener: ProxyListener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        held = sum(other == listener.owner for other in self._open.values())
        room = held < self._limits.connections - len(self._open)
        self._open[task] = listener.owner
        try:
            if room:
                await self._serve(listener, reader, writer)
        except asyncio.IncompleteReadError:
            pass  # a connection that was opened ahead of need and never used
        except (ConnectionError, TimeoutError):
            reset(writer)  # one side went away or fell silent: the other must not take that for a good end
        except asyncio.CancelledError:
            reset(writer)  # the proxy ends; raised again, asyncio would report it as an error
        except Exception:
            log.exception(LogEvent.LOOP_FAILED, loop="egress")
            reset(writer)
        finally:
            del self._open[task]
            writer.close()

    async def _serve(self, listener: ProxyListener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._limits.first_request_s):
                head = await reader.readuntil(b"\r\n\r\n")
            request = _parsed(head)
        except (asyncio.LimitOverrunError, _BadRequest):
            await self._answer((reader, writer), 400, "invalid", "This is no request that a proxy can pass on.")
            return
        if request.host == shop.HOST and not request.tunnel:
            self.outcomes["passed"] += 1
            status, page = shop.answer(request.path.decode("ascii"))
            await self._send((reader, writer), f"{status.value} {status.phrase}", "text/html", page)
            return
        try:
            if listener.excess:
                raise EgressRefused(f"Shoal lets nothing more in: {listener.excess}")
            async with asyncio.timeout(self._limits.connect_s):
                upstream_reader, upstream = await self._connect(request, listener.owner)
        except EgressRefused as refusal:
            if listener.count_refusal():
                log.info(LogEvent.EGRESS_REFUSED, host=request.host, port=request.port, reason=str(refusal))
            await self._answer((reader, writer), 403, "refused", str(refusal))
            return
        except TimeoutError:
            await self._answer((reader, writer), 504, "timeout", f"{request.host} did not accept a connection in time.")
            return
        except OSError as error:
            await self._answer(
                (reader, writer), 502, "unreachable", f"{request.host} cannot be reached: {error.strerror or error}"
            )
            return
        self.outcomes["passed"] += 1
        try:
            if request.tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream.write(request.head())
            await self._pass_on(request, (reader, writer), (upstream_reader, upstream), listener)
        except BadAnswer as error:
            await self._answer((reader, writer), 502, "invalid", f"{request.host}: {error}")
        finally:
            upstream.close()

    async def _connect(self, request: _ProxyRequest, owner: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the first address that takes one. An address that is cut off leaves time for the others.

        Raises:
            EgressRefused, OSError: TimeoutError where no address answered.
        """
        until = asyncio.get_running_loop().time() + self._limits.connect_s
        addresses = await self.checked(request.host, request.port, owner)
        failure = OSError(f"no address is known for {request.host}")
        for place, address in enumerate(addresses):
            left_s = until - asyncio.get_running_loop().time()
            try:
                async with asyncio.timeout(left_s / (len(addresses) - place)):
                    return await asyncio.open_connection(address, request.port, limit=self._limits.head_bytes)
            except OSError as error:
                failure = error
        raise failure

    async def _answer(self, browser: Streams, status: int, outcome: str, text: str) -> None:
        """An answer of the proxy's own, and the end of the connection."""
        self.outcomes[outcome] += 1
        reasons = {400: "Bad Request", 403: REFUSED_REASON, 502: "Bad Gateway", 504: "Gateway Timeout"}
        head = f"{status} {reasons[status]}\r\n{EGRESS_HEADER}: {outcome}"
        await self._send(browser, head, "text/plain", f"{text}\n")

    async def _send(self, browser: Streams, head: str, media_type: str, text: str) -> None:
        """An answer that no site gave, and the end of the connection."""
        body = text.encode()
        reader, writer = browser
        writer.write(
            f"HTTP/1.1 {head}\r\nContent-Type: {media_type}; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        # Closing with a request's body unread would reset the connection before the browser has read the answer.
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(_BATCH_DELAY_S):
                await writer.drain()
                writer.write_eof()
                while await reader.read(_CHUNK):
                    pass

    async def _pass_on(self, request: _ProxyRequest, browser: Streams, site: Streams, listener: ProxyListener) -> None:
        """Bytes in both directions until one side ends, or nothing moved for too long.

        Raises:
            ConnectionError, TimeoutError: the site or the browser did not end well, or too much came.
            BadAnswer: the site's answer has no end of heads.
        """
        traffic = RelayTraffic(self._limits.idle_s)
        up = asyncio.create_task(traffic.copy(browser[0], site[1]))
        bound = Bound(self._limits.connection_bytes, listener.count)
        down = asyncio.create_task(self._answer_of_site(request, (site[0], browser[1]), traffic, bound))
        try:
            await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
            # A browser that ends its side has gone. A site that takes no more of an upload may still answer.
            if down.done() or up.exception() is not None:
                await down
        finally:
            for copying in (up, down):
                copying.cancel()
            await asyncio.gather(up, down, return_exceptions=True)

    async def _answer_of_site(
        self, request: _ProxyRequest, streams: Streams, traffic: RelayTraffic, bound: Bound
    ) -> None:
        reader, writer = streams
        if not request.tunnel:
            async with asyncio.timeout(self._limits.idle_s):
                came = await pass_response_head(reader, writer, self._limits.head_bytes)
            bound.count(came)
        await traffic.copy(reader, writer, bound)


@dataclass(frozen=True, slots=True)
class _ProxyRequest:
    """A browser's request to its proxy."""

    method: bytes
    host: str
    port: int
    path: bytes  # with the query; empty for a tunnel
    fields: bytes  # the header lines as they came

    @property
    def tunnel(self) -> bool:
        return self.method == b"CONNECT"

    def head(self) -> bytes:
        """The request as the site gets it."""
        return b"%s %s HTTP/1.1\r\n%sConnection: close\r\n\r\n" % (
            self.method,
            self.path,
            b"".join(end_to_end_fields(self.fields)),
        )


def _parsed(head: bytes) -> _ProxyRequest:
    first, _, fields = head.removesuffix(b"\r\n").partition(b"\r\n")
    parts = first.split(b" ")
    if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
        raise _BadRequest
    method, target, _version = parts
    tunnel = method == b"CONNECT"
    try:
        url = urlsplit(("//" if tunnel else "") + target.decode("ascii"))
        host, port = url.hostname, url.port
    except ValueError as error:
        raise _BadRequest from error
    if not host or (tunnel and port is None) or (not tunnel and url.scheme != "http"):
        raise _BadRequest
    path = b"" if tunnel else _ORIGIN.sub(b"", target)
    if not tunnel and not path.startswith(b"/"):
        path = b"/" + path
    return _ProxyRequest(method, host, port or 80, path, fields)
