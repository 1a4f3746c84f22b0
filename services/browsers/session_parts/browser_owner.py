"""Owns one Chromium at a time: starts it when it is needed, replaces it when it is due, dead, hanging or idle."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from shoal.agent.browser import Browser
from shoal.agent.errors import BrowserError, NoBrowser
from shoal.services.browsers.config import BrowserLimits
from shoal.services.events import LogEvent
from shoal.services.metrics_delta import MetricsDelta

log = structlog.get_logger()

_LOOK_EVERY_S = 5.0
"""Seconds between two looks at memory, age and idleness."""

_RESTRAIN_EVERY_S = 2.0
"""Seconds between two checks of pages' memory: a page may take a gibibyte in a second."""

_BOUNDLESS = 1.5
"""Times the memory at which a browser is replaced: one that holds so much is ended with its sessions. What pages store
lies in processes that all of them share, so no single page can be ended for it."""

_ANSWER_S = 15.0
"""A browser under suspicion that opens no plain context within this time hangs."""

Launch = Callable[[], Awaitable[Browser]]


@dataclass(slots=True, eq=False)
class _Process:
    browser: Browser
    started_at: float
    users: int = 0
    sessions: int = 0
    used_at: float = 0.0
    retired: str = ""  # why it gets no new sessions, "" while it does
    lost: bool = False  # it is being ended with its sessions


class BrowserOwner:
    """Lends one browser to many sessions.

    A browser that is due for replacement gets no new sessions and is closed when its last one ends; until then the
    next browser runs beside it. One that died or hangs is replaced at the next loan, and ended with what its sessions
    do in it.
    """

    def __init__(
        self, launch: Launch, limits: BrowserLimits, *, worker: str = "", metrics_delta: MetricsDelta | None = None
    ) -> None:
        self._launch = launch
        self._limits = limits
        self._worker = worker
        self._metrics_delta = metrics_delta or MetricsDelta()
        self._current: _Process | None = None
        self._old: set[_Process] = set()
        self._lock = asyncio.Lock()  # one launch at a time
        self._maintenance: asyncio.Task[None] | None = None
        self._restrainer: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self.restarts = 0  # browsers replaced because they died or hung

    @property
    def oldest_s(self) -> float | None:
        """Seconds since the oldest of its browsers was started; None: none runs."""
        processes = {*self._old, *filter(None, (self._current,))}
        return max((time.monotonic() - process.started_at for process in processes), default=None)

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Browser]:
        """A running browser for one session.

        Raises:
            NoBrowser: none could be started.
        """
        process = await self._take()
        try:
            yield process.browser
        finally:
            process.users -= 1
            process.used_at = time.monotonic()
            if process.retired and process.users == 0:
                await self._dispose(process)

    async def _take(self) -> _Process:
        async with self._lock:
            if self._maintenance is None:
                self._maintenance = asyncio.create_task(self._maintain())
                self._restrainer = asyncio.create_task(self._restrain())
            if self._current is not None and self._current.sessions >= self._limits.max_sessions:
                await self._retire(self._current, "sessions")
            if self._current is None:
                browser = await self._started()
                self._current = _Process(browser, time.monotonic(), used_at=time.monotonic())
                log.info(LogEvent.BROWSER_STARTED, worker=self._worker)
            self._current.users += 1
            self._current.sessions += 1
            return self._current

    async def _started(self) -> Browser:
        """A fresh browser. That none starts is no session's fault: all are launched alike."""
        try:
            return await self._launch()
        except (BrowserError, OSError) as error:
            message = error.message if isinstance(error, BrowserError) else f"{type(error).__name__}: {error}"
            raise NoBrowser(f"no browser could be started: {message}") from error

    async def suspect(self, browser: Browser) -> None:
        """A session failed as if this browser were gone: when it is dead or hangs, the next loan starts another.

        Loans wait until that is known.
        """
        async with self._lock:
            process = self._current
            if process is None or process.browser is not browser:
                return
            if not (await browser.health()).alive:
                await self._lose(process, "dead")
            elif not await _answers(browser):
                await self._lose(process, "hung")

    async def _lose(self, process: _Process, why: str) -> None:
        """Ends `process` now: its sessions would only wait, each for its own deadline."""
        process.lost = True
        self.restarts += 1
        self._metrics_delta.add("shoal_browser_restarts")
        log.warning(LogEvent.BROWSER_LOST, worker=self._worker, why=why, sessions=process.users)
        if process.users:
            task = asyncio.create_task(process.browser.close(), name="end-browser")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        await self._retire(process, why)

    async def _retire(self, process: _Process, why: str) -> None:
        """No new sessions for `process`; closed now when it has none."""
        process.retired = why
        if self._current is process:
            self._current = None
        self._old.add(process)
        log.info(LogEvent.BROWSER_RECYCLED, worker=self._worker, why=why, sessions=process.sessions)
        if process.users == 0:
            await self._dispose(process)

    async def _dispose(self, process: _Process) -> None:
        self._old.discard(process)
        await process.browser.close()

    async def _maintain(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            try:
                await self._look()
            except Exception:  # the top of a loop
                log.exception(LogEvent.LOOP_FAILED, loop="maintain-browsers", worker=self._worker)

    async def _restrain(self) -> None:
        """Keeps the pages of all browsers that run from taking the machine from each other."""
        while True:
            await asyncio.sleep(_RESTRAIN_EVERY_S)
            for process in [*self._old, *([self._current] if self._current else [])]:
                try:
                    ended = await process.browser.restrain(self._limits.page_bytes)
                except Exception:  # the top of a loop
                    log.exception(LogEvent.LOOP_FAILED, loop="restrain-pages", worker=self._worker)
                    continue
                if ended:
                    log.warning(LogEvent.PAGES_ENDED, worker=self._worker, pages=ended, why="memory")

    async def _look(self) -> None:
        """Replaces the browser when it is due, dead or idle; ends those that take the machine's memory."""
        for old in tuple(self._old):
            if not old.lost and self._is_boundless((await old.browser.health()).rss_bytes):
                async with self._lock:
                    await self._lose(old, "boundless")
        process = self._current
        why = await self._worn(process) if process is not None else ""
        if process is None or not why:
            return
        async with self._lock:
            if self._current is process and (why != "idle" or process.users == 0):
                await (self._lose if why in ("dead", "boundless") else self._retire)(process, why)

    async def _worn(self, process: _Process) -> str:
        """Why `process` should be replaced, "" when it should not."""
        now = time.monotonic()
        if process.users == 0 and now - process.used_at > self._limits.idle_s:
            return "idle"
        if now - process.started_at > self._limits.max_age_s:
            return "age"
        health = await process.browser.health()
        if not health.alive:
            return "dead"
        if self._is_boundless(health.rss_bytes):
            return "boundless"
        return "memory" if health.rss_bytes > self._limits.max_rss_bytes else ""

    def _is_boundless(self, rss_bytes: int) -> bool:
        return rss_bytes > _BOUNDLESS * self._limits.max_rss_bytes

    @property
    def running(self) -> int:
        """Browser processes that are up."""
        return len(self._old) + (self._current is not None)

    async def close(self) -> None:
        """Ends every browser; the sessions in them see `BrowserGone`."""
        for task in (self._maintenance, self._restrainer):
            if task is not None:
                task.cancel()
        self._maintenance = self._restrainer = None
        processes = [*self._old, *([self._current] if self._current else [])]
        self._current = None
        for process in processes:
            await self._dispose(process)
        await asyncio.gather(*self._ending)


class Slots:
    """Places for sessions: those of a browser, or of one job at its site. Some sessions wait in line for one."""

    def __init__(self, n: int) -> None:
        self._free = n
        self._all = n
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._all - self._free

    def resize(self, n: int) -> None:
        """There are `n` from now on. Those in use beyond that stay so until they are given back."""
        self._free += n - self._all
        self._all = n
        self._serve()

    def take(self) -> bool:
        """Takes a free slot that no session waits for; False where there is none."""
        if self._free <= 0 or self._line:
            return False
        self._free -= 1
        return True

    def take_anyway(self) -> None:
        """Takes a slot even where none is free, for one that gives it back at once."""
        self._free -= 1

    async def wait(self) -> None:
        """Takes the next slot that gets free."""
        if self.take():
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give_back()  # it was given just now
            elif place in self._line:
                self._line.remove(place)
            raise

    def give_back(self) -> None:
        """A slot is free again."""
        self._free += 1
        self._serve()

    def _serve(self) -> None:
        while self._line and self._free > 0:
            place = self._line.popleft()
            if not place.done():
                self._free -= 1
                place.set_result(None)


async def _answers(browser: Browser) -> bool:
    """Return whether a browser whose process is there still does what it is there for."""
    try:
        async with asyncio.timeout(_ANSWER_S):
            context = await browser.new_context()
    except (BrowserError, TimeoutError):
        return False
    await context.close()
    return True
