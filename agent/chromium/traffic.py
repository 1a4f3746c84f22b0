"""A watch over the requests of a page."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from agent.chromium.devtools import DevTools

# Streams stay open as long as their page does, and pings are not waited for by anything.
_ENDLESS = frozenset({"WebSocket", "EventSource", "Ping", "CSPViolationReport", "Preflight", "Media"})


class Traffic:
    """Which requests are under way, and since when there are none."""

    def __init__(self, main_frame: str) -> None:
        self._main_frame = main_frame  # DevTools' id
        self._open: set[str] = set()
        self._last = time.monotonic()
        self._changed = asyncio.Event()

    async def follow(self, session: DevTools) -> None:
        """Begins to listen on `session`."""
        session.on("Network.requestWillBeSent", self._began)
        session.on("Network.loadingFinished", self._ended)
        session.on("Network.loadingFailed", self._ended)
        await session.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})

    def quiet_for(self) -> float:
        """Seconds without any request; 0 while one is open."""
        return 0.0 if self._open else time.monotonic() - self._last

    async def quiet(self, seconds: float) -> None:
        """Returns once there was no request for `seconds`."""
        while (left := seconds - self.quiet_for()) > 0:
            self._changed.clear()
            try:
                async with asyncio.timeout(None if self._open else left):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def _began(self, event: dict[str, Any]) -> None:
        if event.get("type") in _ENDLESS:
            return
        if event.get("type") == "Document" and event.get("frameId") == self._main_frame:
            self._open.clear()  # a new document: what the old one asked for is dropped without a word
        self._open.add(event["requestId"])
        self._touch()

    def _ended(self, event: dict[str, Any]) -> None:
        self._open.discard(event["requestId"])
        self._touch()

    def _touch(self) -> None:
        self._last = time.monotonic()
        self._changed.set()
