"""The DevTools pipe between Playwright's driver and its browser, shared with a client of our own.

Chromium has one pipe for one client, and its other way in is a port, which every user of the machine may reach. So the
browser's starter hands the ends that it was given over (`shoal.agent.chromium.process.pipe_handover`) and gets others
for them. What the driver and the browser say passes through here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from shoal.agent.chromium.wire.connection import Connection

_MESSAGE_END = b"\0"


class SharedPipe:
    """One browser's pipe while both run: the driver's messages pass, and `connection` is our own client."""

    def __init__(self) -> None:
        self.connection = Connection(lambda message: self._to_browser.write(message + _MESSAGE_END))
        self._to_driver: asyncio.WriteTransport
        self._to_browser: asyncio.WriteTransport
        self._transports: list[asyncio.BaseTransport] = []

    async def open(self, driver: tuple[int, int], browser: tuple[int, int]) -> None:
        """Begins to pass messages on.

        Args:
            driver: the ends at which the driver's calls come, and at which it waits for answers.
            browser: the ends at which the browser's answers come, and at which it waits for calls.
        """
        self._to_driver = await _writer(driver[1])
        self._to_browser = await _writer(browser[1])
        self._transports += [self._to_driver, self._to_browser]
        self._transports.append(await _reader(browser[0], self._from_browser, self.close))
        # A browser ends when its pipe does.
        self._transports.append(await _reader(driver[0], self._from_driver, self._to_browser.close))

    def _from_driver(self, messages: list[bytes]) -> None:
        self._to_browser.write(_joined(messages))

    def _from_browser(self, messages: list[bytes]) -> None:
        others = []
        for message in messages:
            if self.connection.takes(message):
                self.connection.hear(message)
            else:
                others.append(message)
        if others:
            self._to_driver.write(_joined(others))

    def close(self) -> None:
        """Ends all of it; the browser ends by that, where it still runs."""
        self.connection.lose()
        for transport in self._transports:
            transport.close()


def _joined(messages: list[bytes]) -> bytes:
    return _MESSAGE_END.join((*messages, b""))


class _Messages(asyncio.Protocol):
    """Cuts what comes into messages, and gives those that are whole."""

    def __init__(self, take: Callable[[list[bytes]], None], ended: Callable[[], None]) -> None:
        self._take = take
        self._ended = ended
        self._begun: list[bytes] = []  # parts of the message that is not whole yet

    def data_received(self, data: bytes) -> None:
        first, *rest = data.split(_MESSAGE_END)
        self._begun.append(first)
        if rest:
            whole = [b"".join(self._begun), *rest[:-1]]
            self._begun = [rest[-1]]
            self._take(whole)

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()


async def _reader(end: int, take: Callable[[list[bytes]], None], ended: Callable[[], None]) -> asyncio.ReadTransport:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: _Messages(take, ended), os.fdopen(end, "rb", 0))
    return transport


async def _writer(end: int) -> asyncio.WriteTransport:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(end, "wb", 0))
    return transport
