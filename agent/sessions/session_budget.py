"""The time and tokens that a running session may still take of its job's."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from shoal.agent.worker_messages import JobLimits


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """Time limits of a session."""

    session_s: float = 900.0  # one attempt of one session


class SessionBudget:
    """One session's budget; the worker may change it while the session runs.

    Made when the session arrives where it is to run: its deadline counts from then on, by the clock of the event loop,
    which no administrator sets. A deadline as a time of day would come an hour early on a machine whose clock is an
    hour ahead.
    """

    def __init__(self, limits: JobLimits) -> None:
        self.spent: Callable[[], int] = lambda: 0  # model tokens of this attempt so far; the session supplies it
        self.on_change: Callable[[], None] = lambda: None  # called after each change; the session's too
        self._running: asyncio.Timeout | None = None
        self._latest = 0.0
        self.change(limits)

    def change(self, limits: JobLimits) -> None:
        """Set what holds from now on."""
        now = asyncio.get_running_loop().time()
        self._ends_at = None if limits.seconds_left is None else now + max(0.0, limits.seconds_left)
        self.job_tokens = limits.job_tokens
        self.others = max(0, limits.spent - self.spent())  # model tokens that the job's other attempts have spent
        self._reschedule()
        self.on_change()

    @asynccontextmanager
    async def running(self, session_s: float) -> AsyncIterator[None]:
        """The time in which the session may run: `session_s`, or what the job's deadline leaves of it.

        Raises:
            TimeoutError: it is over.
        """
        self._latest = asyncio.get_running_loop().time() + session_s
        try:
            async with asyncio.timeout_at(self._end) as self._running:
                yield
        finally:
            self._running = None

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """While a person has the session's page: its own time stands still, the job's deadline does not."""
        clock = asyncio.get_running_loop().time
        began, latest = clock(), self._latest
        self._latest = math.inf
        self._reschedule()
        try:
            yield
        finally:
            self._latest = latest + clock() - began
            self._reschedule()

    def _reschedule(self) -> None:
        if self._running is not None and not self._running.expired():
            self._running.reschedule(None if math.isinf(self._end) else self._end)

    @property
    def _end(self) -> float:
        return self._latest if self._ends_at is None else min(self._latest, self._ends_at)
