"""A browser that a session is lent only when it needs one: most sessions of runs read a document, and need none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self

from shoal.agent.browser import Browser, BrowserHealth, Context, ContextOptions
from shoal.services.browsers.session_parts.browser_owner import BrowserOwner, Slots


class LazyBrowser:
    """A `Browser` that takes a slot and is lent at the first context, until the session is over.

    Args:
        slot: takes a slot, which is given back to `slots`.
        way_out: the options of the session's context, with its own way out; asked for with the browser.
    """

    def __init__(
        self,
        owner: BrowserOwner,
        slots: Slots,
        slot: Callable[[], Awaitable[None]],
        way_out: Callable[[], Awaitable[ContextOptions]],
    ) -> None:
        self._owner = owner
        self._slots = slots
        self._slot = slot
        self._way_out = way_out
        self._stack = AsyncExitStack()
        self.lent: Browser | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _browser(self) -> Browser:
        if self.lent is None:
            await self._slot()
            self._stack.callback(self._slots.give_back)
            self.lent = await self._stack.enter_async_context(self._owner.lend())
        return self.lent

    async def new_context(self, options: ContextOptions = ContextOptions()) -> Context:
        browser = await self._browser()
        return await browser.new_context(replace(options, proxy=(await self._way_out()).proxy))

    async def navigation_accept(self) -> str:
        return await (await self._browser()).navigation_accept()

    async def health(self) -> BrowserHealth:
        return await (await self._browser()).health()

    async def restrain(self, most_bytes: int) -> int:
        return 0 if self.lent is None else await self.lent.restrain(most_bytes)

    async def close(self) -> None:
        if self.lent is not None:
            await self.lent.close()
