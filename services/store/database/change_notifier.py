"""Notifies callers that wait for a change: of this process, and of others by LISTEN/NOTIFY or a look at the file."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sqlalchemy import Engine

from shoal.services.store.database.file_events import forget_events, watch_folder

_LOOK_S = 0.05
"""Seconds between two looks at SQLite's file for writes of other processes, unless it rests."""
_SAME_TICK_S = 0.02
"""Two writes so near each other may leave a file with one time: the clock of files ticks every few milliseconds."""
_UNASKED_S = 1.0
"""Seconds after which the database is asked whatever the log says. A writer changes the log first, and then the index
in which others see the change: one that has to wait for a core between the two leaves a log that was looked at.
"""


class ChangeNotifier:
    """Counts what happened; `wait` returns once there was more than the caller knew."""

    def __init__(self) -> None:
        self._count = 0
        self._ended = False
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._lock = threading.Lock()

    def notify(self) -> None:
        """Something happened. For any thread."""
        with self._lock:
            self._count += 1
            for loop, event in self._waiting:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)

    async def wait(self, timeout_s: float, since: int | None) -> int:
        """The count, as soon as it is above `since` (default: what it is now), or after `timeout_s`."""
        known = self._count if since is None else since
        me = (asyncio.get_running_loop(), asyncio.Event())
        ends = time.monotonic() + timeout_s
        with self._lock:
            self._waiting.add(me)
        try:
            while self._count <= known and not self._ended and (left := ends - time.monotonic()) > 0:
                await self._sleep(me[1], left)
        finally:
            with self._lock:
                self._waiting.discard(me)
        return self._count

    async def _sleep(self, event: asyncio.Event, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass

    def close(self) -> None:
        """Wakes all waiters, for good."""
        self._ended = True
        self.notify()


class PollingNotifier(ChangeNotifier):
    """SQLite: asks the writer's connection whether *another* one has written, for as long as somebody waits.

    Every commit writes to the log beside the file, so the database is seldom asked while that has not changed. Where
    the system tells of writes, the log is not looked at either while it rests.
    """

    def __init__(self, writer: Engine, thread: ThreadPoolExecutor) -> None:
        super().__init__()
        self._writer = writer
        self._thread = thread
        self._looked = self._asked = 0.0
        self._version: int | None = None
        self._log = f"{writer.url.database}-wal" if writer.url.database else ""  # no other process sees one in memory
        self._log_was: tuple[int, int] | None = None
        self._watch = watch_folder(Path(self._log).absolute().parent) if self._log else None
        self._resting: asyncio.AbstractEventLoop | None = None  # the loop that hears of the next write

    async def _sleep(self, event: asyncio.Event, seconds: float) -> None:
        known = self._count
        await super()._sleep(event, min(seconds, _UNASKED_S if self._rests() else _LOOK_S))
        if self._count != known or self._ended:
            return
        event.clear()  # a write woke it: whether it is another process's is asked now, or with the next look
        if not self._log or time.monotonic() - self._looked <= _LOOK_S / 2:
            return
        self._looked = time.monotonic()
        self._rest()  # before the look, so that what is written after it is told
        log_is = self._settled_log()
        if log_is is not None and log_is == self._log_was and self._looked - self._asked < _UNASKED_S:
            return
        settled = False
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._look, log_is)
            settled = log_is is not None
        except RuntimeError:  # the thread was ended under us
            if not self._ended:
                raise
        finally:
            if not settled:
                self._stir()

    def _rests(self) -> bool:
        """Return whether this loop hears of the next write."""
        return self._resting is asyncio.get_running_loop()

    def _rest(self) -> None:
        """Lets this loop hear of the next write, where none does."""
        with self._lock:
            if self._ended or self._watch is None or (self._resting is not None and not self._resting.is_closed()):
                return
            forget_events(self._watch)
            self._resting = asyncio.get_running_loop()
            self._resting.add_reader(self._watch, self._written)

    def _written(self) -> None:
        """Has all waiters look again and again until the log rests."""
        self._stir()
        with self._lock:
            for _, event in self._waiting:
                event.set()

    def _stir(self) -> None:
        """Ends what `_rest` began in this loop. While much is written there is nothing to hear of each write."""
        if self._watch is not None and self._rests():
            asyncio.get_running_loop().remove_reader(self._watch)
            self._resting = None

    def close(self) -> None:
        """Wakes all waiters, for good; in any thread."""
        super().close()
        with self._lock:
            resting = self._resting
        if resting is None or resting.is_closed():
            self._leave()
        else:
            resting.call_soon_threadsafe(self._leave)

    def _leave(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            if self._resting is not None and not self._resting.is_closed():
                self._resting.remove_reader(watch)
            os.close(watch)

    def _settled_log(self) -> tuple[int, int] | None:
        """Time and size of the log; None while they say nothing: the next write may leave them as they are."""
        try:
            log_stat = os.stat(self._log)  # noqa: PTH116  twenty times a second
        except FileNotFoundError:  # nothing was written yet
            return None
        return (log_stat.st_mtime_ns, log_stat.st_size) if time.time() - log_stat.st_mtime > _SAME_TICK_S else None

    def _look(self, log_is: tuple[int, int] | None) -> None:
        connection = self._writer.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute("pragma data_version")
            row = cursor.fetchone()
            version = row[0] if row else None
            cursor.close()
        finally:
            connection.close()
        self._asked = time.monotonic()
        self._log_was = log_is  # only now: the caller may have been canceled while this waited for its turn
        if version != self._version:
            self._version = version
            self.notify()
