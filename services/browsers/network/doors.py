"""The doors of an egress proxy: the addresses that browser contexts are given, and what came in by each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_MEBIBYTE = 1 << 20
_TOLD_REFUSALS = 20
"""Of one session; the rest is counted alone."""


@dataclass(slots=True, eq=False)
class Door:
    """One address on loopback. Of a door that is lent, all that comes in belongs to one session."""

    owner: str  # a tenant; "": what belongs to none
    server: asyncio.Server
    most_bytes: int | None  # for one session, over all its connections; None: any number
    job: int | None = None  # whose session had it last: its emptied contexts still use it
    taken: int = 0  # bytes, since it was lent
    refused: int = 0  # requests, since then

    @property
    def url(self) -> str:
        """What a browser context is given as its proxy."""
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    @property
    def excess(self) -> str:
        """Why nothing more comes in, in words; "" while something may."""
        if self.most_bytes is None or self.taken <= self.most_bytes:
            return ""
        return f"the session's pages have sent more than {self.most_bytes // _MEBIBYTE:,} MiB"

    def tells_refusal(self) -> bool:
        """Counts a refused request; says whether the log is told of it: a page may make thousands a second."""
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


class Doors:
    """The doors of one proxy; some are lent, the others wait for the next session of their owner.

    Args:
        add: makes the server of a new door, which serves what comes in for that door.
        most: doors at once; beyond that the one is closed that has waited longest.
    """

    def __init__(
        self, add: Callable[[Callable[[], Door]], Awaitable[asyncio.Server]], most_bytes: int, *, most: int
    ) -> None:
        self._add = add
        self._most_bytes = most_bytes
        self._most = most
        self._waiting: list[Door] = []  # the one that has waited longest first
        self._lent: set[Door] = set()
        self._opening = asyncio.Lock()

    async def open(self, owner: str, most_bytes: int | None) -> Door:
        """A new door, which counts as lent."""
        opened: list[Door] = []
        door = Door(owner, await self._add(lambda: opened[0]), most_bytes)
        opened.append(door)
        self._lent.add(door)
        return door

    async def lend(self, owner: str, job: int | None = None) -> Door:
        """A door for one session of `owner`, as if nothing had come in by it.

        A job gets its own doors again where it can: a context that is emptied for its next session knows one address.
        """
        async with self._opening:
            mine = [door for door in self._waiting if door.owner == owner]
            same = [door for door in mine if door.job == job]
            door = same[-1] if same else mine[0] if mine else None
            if door is None:
                await self._make_room()
                door = await self.open(owner, self._most_bytes)
            else:
                self._waiting.remove(door)
        self._lent.add(door)
        door.job, door.taken, door.refused = job, 0, 0
        return door

    def give_back(self, door: Door) -> None:
        """The session is over."""
        self._lent.discard(door)
        self._waiting.append(door)

    async def _make_room(self) -> None:
        while self._waiting and len(self._waiting) + len(self._lent) >= self._most:
            oldest = self._waiting.pop(0)
            oldest.server.close()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._lent)

    def close(self) -> None:
        """None of them takes anything more."""
        for door in (*self._waiting, *self._lent):
            door.server.close()

    async def closed(self) -> None:
        """Returns once all have ended."""
        for door in (*self._waiting, *self._lent):
            await door.server.wait_closed()
