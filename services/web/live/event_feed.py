"""The feed of events, read once for all streams of a gateway: each event is asked for once and written once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import orjson
import structlog
from sse_starlette import ServerSentEvent

from shoal.services.errors import StoreAway
from shoal.services.events import LogEvent
from shoal.services.store.records import EventRow
from shoal.services.store.store import Store
from shoal.services.web.api.views.jobs import event_data

log = structlog.get_logger(__name__)

PAGE = 500
LOOK_S = 10.0
"""The feed is looked at that often though nothing woke it: a missed notification must not silence it."""
AT_MOST_EVERY_S = 0.2
"""Pause between two looks, so that a busy store is not asked for every commit."""
_MOST_PENDING = 1_000
"""Events that wait for one slow reader. It reads those beyond from the store."""


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    """One event as streams send it."""

    seq: int
    name: str
    data: bytes


def streamed_event(row: EventRow) -> StreamedEvent:
    """The event as streams send it."""
    text = orjson.dumps(event_data(row)).decode()
    return StreamedEvent(row.seq, row.name, ServerSentEvent(text, event=row.name, id=str(row.seq)).encode())


@dataclass(slots=True, eq=False)
class Follower:
    """One stream that waits for events of one job."""

    pending: list[StreamedEvent] = field(default_factory=list)
    overrun: bool = False  # more came than it may keep: it has to read the store again
    ended: bool = False  # the feed can be read no more
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, events: Sequence[StreamedEvent]) -> None:
        """Keeps what came."""
        if len(self.pending) + len(events) > _MOST_PENDING:
            self.pending, self.overrun = [], True
        else:
            self.pending += events
        self.woken.set()

    async def next(self, timeout_s: float) -> list[StreamedEvent]:
        """Return what came since the last call, as soon as there is something; nothing after `timeout_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self.woken.wait()
        self.woken.clear()
        came, self.pending = self.pending, []
        return came


class EventFeed:
    """Looks at the store's feed for as long as somebody follows a job. It reads the jobs that are followed only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followers: dict[int, set[Follower]] = {}
        self._looking = asyncio.Lock()
        self._at = 0  # the event up to which all followers were told
        self._reader: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def following(self, job: int) -> AsyncIterator[Follower]:
        """A follower of `job`. It is told of every event that the store did not have when this was entered.

        Raises:
            StoreAway: the feed cannot be read.
        """
        follower = Follower()
        self._followers.setdefault(job, set()).add(follower)
        try:
            # A look that is under way asks for the jobs that were followed when it began. Behind it no event of this
            # one is passed over.
            async with self._looking:
                if self._reader is None or self._reader.done():
                    self._at = (await self._store.feed(None, ())).seq
                    self._reader = asyncio.create_task(self._read())
            yield follower
        finally:
            self._followers[job].discard(follower)
            if not self._followers[job]:
                del self._followers[job]
            if not self._followers and self._reader is not None:
                self._reader.cancel()
                self._reader = None

    async def _read(self) -> None:
        """Tells followers what comes, until none is left or the store is away."""
        is_left = False
        try:
            seen = await self._store.changed(0.0)
            while True:
                looked_at = time.monotonic()
                while await self._look():
                    pass
                seen = await self._store.changed(LOOK_S, since=seen)
                await asyncio.sleep(max(0.0, looked_at + AT_MOST_EVERY_S - time.monotonic()))
        except StoreAway as error:
            log.warning(LogEvent.STORE_AWAY, error=error.message, doing="read the feed of events")
        except asyncio.CancelledError:
            is_left = True  # those who follow now have another reader
            raise
        finally:
            for follower in () if is_left else [each for several in self._followers.values() for each in several]:
                follower.ended = True
                follower.woken.set()

    async def _look(self) -> bool:
        """Tells what happened since the last look; whether there is more."""
        async with self._looking:
            page = await self._store.feed(self._at, tuple(self._followers), limit=PAGE)
            self._at = page.seq
            by_job: dict[int, list[StreamedEvent]] = {}
            for row in page.events:
                by_job.setdefault(row.job, []).append(streamed_event(row))
            for job, events in by_job.items():
                for follower in self._followers.get(job, ()):
                    follower.tell(events)
        return len(page.events) == PAGE
