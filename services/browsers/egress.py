"""The way out of a browser: a forward proxy on loopback that keeps it from private addresses.

Chromium is started with this proxy, `--proxy-bypass-list=<-loopback>` and `CHROMIUM_FLAGS`, so that every request of
every page, frame, worker, redirect and web socket passes here. The proxy resolves the name itself, asks `Reach`, and
connects to the very address that was asked about: a name that resolves differently the next moment (DNS rebinding)
gains nothing.

Plain HTTP comes in absolute form and is passed on one request per connection; HTTPS and web sockets come as CONNECT and
are passed on as bytes. A refusal is a 403, another failure a 502 or 504; both carry the header `X-Shoal-Egress`.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import struct
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import structlog

from services.addresses import HostNames, Reach, literal_address, plain_host
from services.events import LogEvent

log = structlog.get_logger(__name__)

OUTCOME_HEADER = "X-Shoal-Egress"
"""On every answer of the proxy's own; its value is `refused`, `unreachable`, `timeout` or `invalid`."""

REFUSED_REASON = "Refused by Shoal"
"""The reason phrase of a refusal: all that clients see of the answer to a CONNECT."""

CHROMIUM_FLAGS = ("--force-webrtc-ip-handling-policy=disable_non_proxied_udp",)
"""What Chromium needs besides the proxy: WebRTC would send UDP straight to any address that a page names."""

_CHUNK = 64 * 1024
_LINGER_S = 1.0
_ORIGIN = re.compile(rb"^http://[^/?#]*", re.IGNORECASE)
_HOP_BY_HOP = frozenset({b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive"})


@dataclass(frozen=True, slots=True)
class EgressLimits:
    """Everything that waits here has an end."""

    connections: int = 1024  # at once; more are closed at once
    head_bytes: int = 64 * 1024  # of one request's or response's head
    first_request_s: float = 300.0  # browsers open connections ahead of need
    connect_s: float = 15.0  # name, check and connection
    idle_s: float = 600.0  # no byte in either direction; web sockets are quiet for long


class EgressRefused(Exception):
    """The destination is not allowed; the text says why."""


class _BadRequest(Exception):
    """What came in is no proxy request."""


class EgressProxy:
    """A running proxy between `async with`; its address is `url`. One for each browser worker."""

    def __init__(self, reach: Reach, *, names: HostNames | None = None, limits: EgressLimits = EgressLimits()) -> None:
        self._reach = reach
        self._names = names or HostNames()
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.outcomes: Counter[str] = Counter()
        """How many requests were `passed`, `refused`, `unreachable`, `timeout`, `invalid`."""

    @property
    def url(self) -> str:
        """The proxy's address, for Chromium and httpx."""
        assert self._server is not None, "the proxy is not running"
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=self._limits.head_bytes)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def checked(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses of `host` that may be connected to; empty when the name does not resolve.

        Raises:
            EgressRefused: one of them is forbidden, or the name itself is.
        """
        literal = literal_address(plain_host(host))
        addresses = (str(literal),) if literal is not None else await self._names.addresses(host)
        reason = self._reach.refusal(host, port, addresses)
        if reason is not None:
            raise EgressRefused(f"Shoal does not let browsers reach {host}: the address is {reason}")
        return addresses

    # --- one connection -------------------------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            if len(self._open) <= self._limits.connections:
                await self._serve(reader, writer)
        except asyncio.IncompleteReadError:
            pass  # a connection that was opened ahead of need and never used
        except (ConnectionError, TimeoutError):
            _reset(writer)  # one side went away or fell silent: the other must not take that for a good end
        except asyncio.CancelledError:
            _reset(writer)  # the proxy ends; raised again, asyncio would report it as an error
        except Exception:
            log.exception(LogEvent.LOOP_FAILED, loop="egress")
            _reset(writer)
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._limits.first_request_s):
                head = await reader.readuntil(b"\r\n\r\n")
            request = _parsed(head)
        except (asyncio.LimitOverrunError, _BadRequest):
            await self._answer((reader, writer), 400, "invalid", "This is no request that a proxy can pass on.")
            return
        try:
            async with asyncio.timeout(self._limits.connect_s):
                upstream_reader, upstream = await self._connect(request)
        except EgressRefused as refusal:
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
            await self._pass_on(request, (reader, writer), (upstream_reader, upstream))
        finally:
            upstream.close()

    async def _connect(self, request: _Request) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        addresses = await self.checked(request.host, request.port)
        failure = OSError(f"no address is known for {request.host}")
        for address in addresses:
            try:
                return await asyncio.open_connection(address, request.port, limit=self._limits.head_bytes)
            except OSError as error:
                failure = error
        raise failure

    async def _answer(self, browser: _Streams, status: int, outcome: str, text: str) -> None:
        """An answer of the proxy's own, and the end of the connection."""
        self.outcomes[outcome] += 1
        body = f"{text}\n".encode()
        reader, writer = browser
        reasons = {400: "Bad Request", 403: REFUSED_REASON, 502: "Bad Gateway", 504: "Gateway Timeout"}
        writer.write(
            f"HTTP/1.1 {status} {reasons[status]}\r\n{OUTCOME_HEADER}: {outcome}\r\n"
            f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        writer.write_eof()
        # Closing with a request's body unread would reset the connection before the browser has read the answer.
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(_LINGER_S):
                while await reader.read(_CHUNK):
                    pass

    async def _pass_on(self, request: _Request, browser: _Streams, site: _Streams) -> None:
        """Bytes in both directions until one side ends, or nothing came for too long.

        Raises:
            ConnectionError, TimeoutError: the site or the browser did not end well.
        """
        traffic = _Traffic(self._limits.idle_s)
        up = asyncio.create_task(traffic.copy(browser[0], site[1]))
        down = asyncio.create_task(self._answer_of_site(request, site[0], browser[1], traffic))
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
        self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, traffic: _Traffic
    ) -> None:
        if not request.tunnel:
            async with asyncio.timeout(self._limits.idle_s):
                await _pass_response_head(reader, writer)
        await traffic.copy(reader, writer)


_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def _reset(writer: asyncio.StreamWriter) -> None:
    """Ends a connection so that the other side sees an error. A mere close would look like the good end of a response
    that has no length."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class _Traffic:
    """Copies the two directions of one connection; both count as life of the other."""

    def __init__(self, idle_s: float) -> None:
        self._idle_s = idle_s
        self._clock = asyncio.get_running_loop().time
        self._alive_at = self._clock()

    async def read(self, reader: asyncio.StreamReader) -> bytes:
        """The next bytes; none at the end.

        Raises:
            TimeoutError: nothing came for too long, in neither direction.
        """
        while True:
            left_s = self._alive_at + self._idle_s - self._clock()
            if left_s <= 0:
                raise TimeoutError
            try:
                async with asyncio.timeout(left_s):
                    data = await reader.read(_CHUNK)
            except TimeoutError:
                continue  # the other direction may have been alive meanwhile
            self._alive_at = self._clock()
            return data

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Everything to the end, no faster than `writer` takes it."""
        while data := await self.read(reader):
            writer.write(data)
            await writer.drain()


async def _pass_response_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Passes a response's head on with `Connection: close`, since the next request may be for another host.

    What does not look like a head (ancient or broken servers) passes unchanged: browsers know what to do with it.
    """
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            writer.write(error.partial)
            return
        except asyncio.LimitOverrunError:
            return
        if not head.startswith(b"HTTP/1."):
            writer.write(head)
            return
        if head[9:10] == b"1":  # 103 Early Hints and the like: the response itself follows
            writer.write(head)
            continue
        first, _, fields = head.partition(b"\r\n")
        writer.write(first + b"\r\n" + b"".join(_kept(fields)) + b"Connection: close\r\n\r\n")
        await writer.drain()
        return


@dataclass(frozen=True, slots=True)
class _Request:
    """What a browser wants from its proxy."""

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
            b"".join(_kept(self.fields)),
        )


def _kept(fields: bytes) -> list[bytes]:
    """Header lines that are not about this very connection."""
    lines = [line + b"\r\n" for line in fields.split(b"\r\n") if line]
    return [line for line in lines if line.partition(b":")[0].strip().lower() not in _HOP_BY_HOP]


def _parsed(head: bytes) -> _Request:
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
    return _Request(method, host, port or 80, path, fields)
