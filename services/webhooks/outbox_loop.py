"""The loop that empties an outbox of the store: it waits for what is due, claims it, and makes attempts beside each
other. Several may run over one database."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import structlog

from shoal.services.errors import StoreAway
from shoal.services.events import LogEvent
from shoal.services.store.store import Store

log = structlog.get_logger(__name__)

_LOOK_S = 30.0
"""Longest pause between two looks, should nothing wake it."""
_AT_MOST_EVERY_S = 0.2
"""Pause between two looks, so that a busy store is not asked after every commit."""
_AGAIN_S = 1.0


class OfTenant(Protocol):
    """An entry of an outbox, with its tenant."""

    @property
    def tenant(self) -> str: ...


RowT = TypeVar("RowT", bound=OfTenant)


class OutboxLoop(ABC, Generic[RowT]):
    """Makes attempts until it is canceled. What it holds may be lost: the store gives it out again.

    Args:
        name: of what it empties, for logs.
        at_once: attempts of this process beside each other.
        failed: the log event of an attempt that ended by an error of ours.
    """

    def __init__(self, store: Store, name: str, at_once: int, failed: LogEvent) -> None:
        self._store = store
        self._name = name
        self._at_once = at_once
        self._failed = failed
        self._flights: dict[asyncio.Task[None], str] = {}  # with their tenants
        self._landed = asyncio.Event()  # a flight has ended: there is room, and perhaps another attempt to come

    @abstractmethod
    async def _due_in_s(self) -> float | None:
        """Seconds until something is due; None when nothing waits."""

    @abstractmethod
    async def _claim(self, room: int, under_way: Mapping[str, int]) -> Sequence[RowT]:
        """Up to `room` rows that are due; `under_way`: how many this process holds already, by tenant."""

    @abstractmethod
    async def _fly(self, row: RowT) -> None:
        """One attempt, with its end written to the store."""

    async def _between(self) -> None:
        """Do nothing before each look."""

    async def run(self) -> None:
        """Makes attempts at what is due, for ever; ends with what is under way when it is canceled."""
        try:
            while True:
                try:
                    await self._work()
                except StoreAway:  # the gateway's readiness and metrics say so
                    await asyncio.sleep(_AGAIN_S)
                except Exception:  # the top of a loop
                    log.exception(LogEvent.LOOP_FAILED, loop=self._name)
                    await asyncio.sleep(_AGAIN_S)
        finally:
            for flight in self._flights:
                flight.cancel()
            await asyncio.gather(*self._flights, return_exceptions=True)

    async def _work(self) -> None:
        seen = await self._store.changed(0.0)
        while True:
            looked_at = time.monotonic()
            await self._between()
            due_in_s = await self._due_in_s()
            if due_in_s == 0.0 and await self._depart():
                continue
            seen = await self._wait(min(_LOOK_S, due_in_s or _LOOK_S), seen)
            await asyncio.sleep(max(0.0, looked_at + _AT_MOST_EVERY_S - time.monotonic()))

    async def _wait(self, pause_s: float, seen: int) -> int:
        """Until something was committed, an attempt ended, or the time is over."""
        change = asyncio.create_task(self._store.changed(pause_s, since=seen))
        landing = asyncio.create_task(self._landed.wait())
        try:
            await asyncio.wait((change, landing), return_when=asyncio.FIRST_COMPLETED)
            self._landed.clear()
            return change.result() if change.done() else seen
        finally:
            change.cancel()
            landing.cancel()

    async def _depart(self) -> bool:
        """Claims and starts what there is room for; False when nothing was to be had."""
        room = self._at_once - len(self._flights)
        if room <= 0:
            return False
        rows = await self._claim(room, Counter(self._flights.values()))
        for row in rows:
            flight = asyncio.create_task(self._fly(row), name=f"{self._name}-attempt")
            self._flights[flight] = row.tenant
            flight.add_done_callback(self._land)
        return bool(rows)

    def _land(self, flight: asyncio.Task[None]) -> None:
        del self._flights[flight]
        self._landed.set()
        if not flight.cancelled() and (error := flight.exception()) is not None:
            log.error(self._failed, exc_info=error)
