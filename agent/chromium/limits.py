"""The deadline of a call into a page, and what its failure means: the same for both kinds of context."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from agent.chromium.faults import CRASH_S, GONE_S, action_error
from agent.errors import ActionError, ActionTimeout, AgentError

if TYPE_CHECKING:
    from agent.chromium.browser import ChromiumBrowser


class Limits:
    """One context's."""

    def __init__(
        self,
        browser: ChromiumBrowser,
        end: Callable[[], AgentError | None],
        crashes: Callable[[float], Awaitable[None]],
    ) -> None:
        """`end` says why the context is of no further use; `crashes` waits so many seconds for its page's crash."""
        self._browser = browser
        self._end = end
        self._crashes = crashes

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
                yield deadline
        except TimeoutError as error:
            raise self._end() or ActionTimeout(f"{what} took longer than {seconds:g} s") from error
        except PlaywrightError as error:
            raise await self.meaning(error) or action_error(error) from error

    async def meaning(self, error: PlaywrightError) -> AgentError | None:
        """What `error` means where it tells of a page or a browser that ended, else None."""
        end = self._end()
        if end is None and "ERR_ABORTED" in error.message:
            await self._crashes(CRASH_S)
            return self._end()
        if end is not None or "closed" not in error.message.lower():
            return end
        # A killed process is known to be gone a moment after the calls into it are cut off.
        if await self._browser.ended(within_s=GONE_S):
            return self._end()
        return ActionError("the tab was closed")


@contextmanager
def uncounted(deadline: asyncio.Timeout) -> Iterator[None]:
    """Time that is not the call's own, such as a wait for a page's turn: its deadline moves on by as much."""
    clock = asyncio.get_running_loop().time
    began, ends = clock(), deadline.when()
    deadline.reschedule(None)
    try:
        yield
    finally:
        if ends is not None:
            deadline.reschedule(ends + clock() - began)
