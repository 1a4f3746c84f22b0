"""The deadline of a call into a page, and what its failure means: the same for both kinds of context."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol

from playwright.async_api import Error as PlaywrightError

from shoal.agent.actions.registry import Limit
from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.faults import CRASH_S, GONE_S, action_error
from shoal.agent.errors import ActionError, ActionTimeout, AgentError, BrowserGone, PageHangs, ReadTimeout
from shoal.agent.types import Action

_ANSWER_S = 5.0
"""Seconds that a browser, or a page, may take for an answer that needs no work."""
_PERFORMED = re.compile(r"performing \w+ action")
"""In Playwright's log of a call that points at an element: its click or its hover was sent to the page."""


class BrowserProcess(Protocol):
    """The state of a browser's process that calls into a page need."""

    @property
    def alive(self) -> bool: ...

    @property
    def crash_note(self) -> str:
        """Return what is known of why some page crashed just now, to be told behind that one did;
        "" where nothing is.
        """
        ...

    async def ended(self, *, within_s: float) -> bool:
        """Return whether the process is gone, or becomes so within `within_s`."""
        ...

    async def answers(self, *, within_s: float) -> bool:
        """Return whether the browser answers a question that needs no page."""
        ...


class CallDeadlines:
    """One context's."""

    def __init__(
        self,
        browser: BrowserProcess,
        end: Callable[[], AgentError | None],
        crashes: Callable[[float], Awaitable[None]],
        page_answers: Callable[[], Awaitable[object]],
    ) -> None:
        """Takes how a context tells of itself.

        Args:
            end: why it is of no further use.
            crashes: waits so many seconds for its page's crash.
            page_answers: asks its page for something small; where that is answered, only another call is slow.
        """
        self._browser = browser
        self._end = end
        self._crashes = crashes
        self._page_answers = page_answers
        self._running: set[asyncio.Timeout] = set()
        self._waiting: dict[asyncio.Timeout, float] | None = None  # what each has left, while no time counts

    def check(self) -> None:
        """Raises what ended the context, where it is of no further use."""
        if (end := self._end()) is not None:
            raise end

    @asynccontextmanager
    async def guard(self, seconds: float, what: str) -> AsyncIterator[asyncio.Timeout]:
        """Runs a call with a deadline, which it gives, and says what its failure means.

        Raises:
            ActionError: the call failed; its kinds say how.
            PageCrashed, BrowserGone: the context is of no further use.
        """
        self.check()
        try:
            async with asyncio.timeout(seconds) as deadline:
                self._running.add(deadline)
                if self._waiting is not None:
                    self._stop(deadline, self._waiting)
                try:
                    yield deadline
                finally:
                    self._running.discard(deadline)
        except TimeoutError as error:
            raise self._end() or ActionTimeout(f"{what} took longer than {seconds:g} s") from error
        except PlaywrightError as error:
            raise await self.meaning(error) or action_error(error) from error

    def end_calls(self) -> None:
        """Ends the calls under way where the context is of no further use: nothing will answer them."""
        if self._end() is None:
            return  # a tab crashed that no call works in
        if self._waiting is not None:
            self._waiting.clear()
        now = asyncio.get_running_loop().time()
        for deadline in self._running:
            if not deadline.expired():
                deadline.reschedule(now)

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """While a person is asked something for which the page stands still: no call into it is late."""
        if self._waiting is not None:
            yield  # the time is stopped already
            return
        waiting: dict[asyncio.Timeout, float] = {}
        self._waiting = waiting
        for deadline in self._running:
            self._stop(deadline, waiting)
        try:
            yield
        finally:
            self._waiting = None
            now = asyncio.get_running_loop().time()
            for deadline, left_s in waiting.items():
                if deadline in self._running and not deadline.expired():
                    deadline.reschedule(now + left_s)

    @staticmethod
    def _stop(deadline: asyncio.Timeout, waiting: dict[asyncio.Timeout, float]) -> None:
        ends = deadline.when()
        if ends is not None and not deadline.expired():
            waiting[deadline] = max(0.0, ends - asyncio.get_running_loop().time())
            deadline.reschedule(None)

    @asynccontextmanager
    async def looking(self, seconds: float, what: str) -> AsyncIterator[asyncio.Timeout]:
        """The same for a call that every page answers in time which is well; else it says who hangs.

        Raises:
            ReadTimeout: the call is slow, and neither the page nor the browser hangs.
            PageHangs: the browser answers, the page does not.
            ActionError, PageCrashed, BrowserGone: as above; a browser that hangs is of no further use either.
        """
        try:
            async with self.guard(seconds, what) as deadline:
                yield deadline
        except ActionTimeout as error:
            if not await self._browser.answers(within_s=_ANSWER_S):
                raise BrowserGone(f"the browser does not answer: {error.message}") from error
            if await _done(self._page_answers(), _ANSWER_S):
                raise ReadTimeout(error.message) from error
            raise PageHangs(f"the page does not answer, while its browser does: {error.message}") from error

    async def meaning(self, error: PlaywrightError) -> AgentError | None:
        """Return what `error` means where it tells of a page or a browser that ended, else None."""
        end = self._end()
        if end is None and "ERR_ABORTED" in error.message:
            await self._crashes(CRASH_S)
            return self._end()
        if end is not None or "closed" not in error.message.lower():
            return end
        # A killed process is known to be gone a moment after the calls into it are cut off.
        if await self._browser.ended(within_s=GONE_S):
            return self._end()
        return ActionError("the tab was closed", performed=_PERFORMED.search(error.message) is not None)


async def _done(call: Awaitable[object], within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            await call
    except (TimeoutError, PlaywrightError):
        return False
    return True


@contextmanager
def uncounted(deadline: asyncio.Timeout) -> Iterator[None]:
    """Time that is not the call's own, such as a wait for a page's turn: its deadline moves on by as much."""
    clock = asyncio.get_running_loop().time
    began, ends = clock(), deadline.when()
    deadline.reschedule(None)
    try:
        yield
    finally:
        if ends is not None and not deadline.expired():
            deadline.reschedule(ends + clock() - began)


def left_ms(ends: float) -> float:
    """Return what is left until then; never 0, which would stand for no limit."""
    return max(1.0, (ends - time.monotonic()) * 1000)


def limit_of(action: Action, kind: Limit, options: ContextOptions) -> float:
    """Seconds that an action may take."""
    if kind == "wait":
        asked = action.args.get("timeout") or float(action.args.get("wait_ms", 0)) / 1000
        return options.action_timeout_s + float(asked)
    limits = {
        "navigation": options.navigation_timeout_s,
        "download": options.action_timeout_s + options.download_timeout_s,
        "human": options.human_timeout_s,
    }
    return limits.get(kind, options.action_timeout_s)
