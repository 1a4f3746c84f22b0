"""Relay of the egress proxy between a site and a browser: bounded in memory, and with an end."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass

from shoal.agent.fault_table import EGRESS_HEADER

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_CHUNK = 64 * 1024
_HEAD = b"HTTP/1."
_NOT_PASSED = frozenset(
    {
        *(b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive"),
        EGRESS_HEADER.lower().encode(),  # on answers of the proxy's own: a site must not pose as it
    }
)


class BadAnswer(Exception):
    """The bytes that a site sent are no answer; the text says why."""


def reset(writer: asyncio.StreamWriter) -> None:
    """Ends a connection so that the other side sees an error. A mere close would look like the good end of a response
    that has no length."""
    if writer.get_extra_info("socket").fileno() >= 0:  # it may be closed already, by the other side's error
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@dataclass(slots=True)
class Bound:
    """The limit on bytes over one connection."""

    most_bytes: int
    also: Callable[[int], None] = lambda _: None  # hears of each piece before it is passed on; raises to end it
    came: int = 0

    def count(self, n: int) -> None:
        """So many bytes come.

        Raises:
            ConnectionError: they are too many.
        """
        self.came += n
        if self.came > self.most_bytes:
            raise ConnectionError(f"more than {self.most_bytes} bytes came over one connection")
        self.also(n)


class RelayTraffic:
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

    async def copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bound: Bound | None = None
    ) -> None:
        """Everything to the end, no faster than `writer` takes it.

        Raises:
            ConnectionError: there are more than `bound` allows.
            TimeoutError: as `read`, or `writer` took nothing for too long, though its connection stands.
        """
        while data := await self.read(reader):
            if bound is not None:
                bound.count(len(data))
            writer.write(data)
            async with asyncio.timeout(self._idle_s):
                await writer.drain()


async def pass_response_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most_bytes: int) -> int:
    """Passes a response's head on with `Connection: close`, since the next request may be for another host.

    Gives how many bytes came: the head, with all heads before it.

    What does not look like a head (ancient or broken servers) passes unchanged: browsers know what to do with it.

    Raises:
        BadAnswer: the head, with all that came before it (103 Early Hints and the like), is longer than `most_bytes`.
    """
    passed = 0
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            writer.write(error.partial)
            return passed + len(error.partial)
        except asyncio.LimitOverrunError as error:
            start = await reader.readexactly(len(_HEAD))
            if start == _HEAD:
                raise BadAnswer(f"the head of the answer has more than {most_bytes} bytes") from error
            writer.write(start)
            return passed + len(start)
        if not head.startswith(_HEAD):
            writer.write(head)
            return passed + len(head)
        passed += len(head)
        if passed > most_bytes:
            raise BadAnswer(f"the heads of the answer have more than {most_bytes} bytes")
        if head[9:10] == b"1":  # 103 Early Hints and the like: the response itself follows
            writer.write(head)
            await writer.drain()
            continue
        first, _, fields = head.partition(b"\r\n")
        writer.write(first + b"\r\n" + b"".join(end_to_end_fields(fields)) + b"Connection: close\r\n\r\n")
        await writer.drain()
        return passed


def end_to_end_fields(fields: bytes) -> list[bytes]:
    """Header lines without those about this very connection, and those that only the proxy itself may write."""
    lines = [line + b"\r\n" for line in fields.split(b"\r\n") if line]
    return [line for line in lines if line.partition(b":")[0].strip().lower() not in _NOT_PASSED]
