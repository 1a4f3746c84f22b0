"""A watch over the requests of a page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from typing import Any, NamedTuple
from weakref import WeakSet

from shoal.agent.chromium.wire.connection import Session

# Streams stay open as long as their page does, and pings are not waited for by anything.
_ENDLESS = frozenset({"WebSocket", "EventSource", "Ping", "CSPViolationReport", "Preflight", "Media"})
# What brings data, or scripts that draw them; pictures and styles bring no rows of a list.
_DATA = frozenset({"XHR", "Fetch", "Script", "Document"})


class _Request(NamedTuple):
    """A request that is under way."""

    session: Session  # that tells of it
    url: str
    kind: str  # DevTools' resource type


class NetworkTraffic:
    """Which requests are under way, and since when there are none."""

    def __init__(self, main_frame: str) -> None:
        self._main_frame = main_frame  # DevTools' id
        self._open: dict[str, _Request] = {}  # by DevTools' id
        self._last = time.monotonic()
        self._changed = asyncio.Event()
        self._followed: WeakSet[Session] = WeakSet()

    async def follow(self, session: Session, *, enabled: bool = False) -> None:
        """Begins to listen on `session`, unless it does so already. `enabled`: it tells of requests already."""
        if session in self._followed:
            return
        self._followed.add(session)
        session.on("Network.requestWillBeSent", lambda event: self._began(event, session))
        session.on("Network.loadingFinished", self._ended)
        session.on("Network.loadingFailed", self._ended)
        if not enabled:
            await session.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})

    def keep_to(self, sessions: Collection[Session]) -> None:
        """Waits no longer for what others than `sessions` began: with their frames they are gone."""
        self._open = {name: request for name, request in self._open.items() if request.session in sessions}

    def forget_open(self) -> None:
        """Waits no longer for what is under way now."""
        self._open.clear()
        self._touch()

    def open_data(self) -> tuple[str, ...]:
        """Addresses from which data or scripts are under way."""
        return tuple(request.url for request in self._open.values() if request.kind in _DATA)

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

    def _began(self, event: dict[str, Any], session: Session) -> None:
        if event.get("type") in _ENDLESS:
            return
        if event.get("type") == "Document" and event.get("frameId") == self._main_frame:
            self._open.clear()  # a new document: what the old one asked for is dropped without a word
        url, kind = str(event["request"]["url"]), str(event.get("type", ""))
        self._open[event["requestId"]] = _Request(session, url, kind)
        self._touch()

    def _ended(self, event: dict[str, Any]) -> None:
        self._open.pop(event["requestId"], None)
        self._touch()

    def _touch(self) -> None:
        self._last = time.monotonic()
        self._changed.set()
