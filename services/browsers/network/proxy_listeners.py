"""The listeners of an egress proxy: the addresses that browser contexts are given, and the traffic of each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_MEBIBYTE = 1 << 20
_TOLD_REFUSALS = 20
"""Of one session; the rest is counted alone."""


@dataclass(slots=True, eq=False)
class ProxyListener:
    """One address on loopback. Of a listener that is lent, all that comes in belongs to one session."""

    owner: str  # a tenant; "": what belongs to none
    server: asyncio.Server
    most_bytes: int | None  # for one session, over all its connections; None: any number
    job: int | None = None  # whose session had it last: its emptied contexts still use it
    taken: int = 0  # bytes, since it was lent
    refused: int = 0  # requests, since then

    @property
    def url(self) -> str:
        """Return what a browser context is given as its proxy."""
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    @property
    def excess(self) -> str:
        """Why nothing more comes in, in words; "" while something may."""
        if self.most_bytes is None or self.taken <= self.most_bytes:
            return ""
        return f"the session's pages have sent more than {self.most_bytes // _MEBIBYTE:,} MiB"

    def count_refusal(self) -> bool:
        """Count a refused request; return whether it is logged: a page may make thousands a second."""
        self.refused += 1
        return not self.excess and (not self.owner or self.refused <= _TOLD_REFUSALS)

    def count(self, n: int) -> None:
        """So many bytes come in.

        Raises:
            ConnectionError: they are too many.
        """
        self.taken += n
        if self.excess:
            raise ConnectionError(self.excess)


class ProxyListeners:
    """The listeners of one proxy; some are lent, the others wait for the next session of their owner.

    Args:
        add: makes the server of a new listener, which serves what comes in for that listener.
        most: listeners at once; beyond that the one is closed that has waited longest.
    """

    def __init__(
        self, add: Callable[[Callable[[], ProxyListener]], Awaitable[asyncio.Server]], most_bytes: int, *, most: int
    ) -> None:
        self._add = add
        self._most_bytes = most_bytes
        self._most = most
        self._waiting: list[ProxyListener] = []  # the one that has waited longest first
        self._lent: set[ProxyListener] = set()
        self._opening = asyncio.Lock()

    async def open(self, owner: str, most_bytes: int | None) -> ProxyListener:
        """A new listener, which counts as lent."""
        opened: list[ProxyListener] = []
        listener = ProxyListener(owner, await self._add(lambda: opened[0]), most_bytes)
        opened.append(listener)
        self._lent.add(listener)
        return listener

    async def lend(self, owner: str, job: int | None = None) -> ProxyListener:
        """A listener for one session of `owner`, as if nothing had come in by it.

        A job gets its own listeners again where it can: a context that is emptied for its next session knows one
        address.
        """
        async with self._opening:
            mine = [listener for listener in self._waiting if listener.owner == owner]
            same = [listener for listener in mine if listener.job == job]
            listener = same[-1] if same else mine[0] if mine else None
            if listener is None:
                await self._make_room()
                listener = await self.open(owner, self._most_bytes)
            else:
                self._waiting.remove(listener)
        self._lent.add(listener)
        listener.job, listener.taken, listener.refused = job, 0, 0
        return listener

    def give_back(self, listener: ProxyListener) -> None:
        """The session is over."""
        self._lent.discard(listener)
        self._waiting.append(listener)

    async def _make_room(self) -> None:
        while self._waiting and len(self._waiting) + len(self._lent) >= self._most:
            oldest = self._waiting.pop(0)
            oldest.server.close()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._lent)

    def close(self) -> None:
        """None of them takes anything more."""
        for listener in (*self._waiting, *self._lent):
            listener.server.close()

    async def closed(self) -> None:
        """Returns once all have ended."""
        for listener in (*self._waiting, *self._lent):
            await listener.server.wait_closed()
