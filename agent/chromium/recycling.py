"""Contexts that serve one session after another of the same job, emptied in between.

A new context costs Chromium a renderer process and twice the time of a page that is there already. What a session can
leave behind is taken out, in an order that leaves the page's own scripts no moment to put it back; where that is not
certain (see `ChromiumContext.worn`) the context is closed instead. What stays is said in docs/isolation.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from agent.chromium.tab import Tab

_EMPTY_S = 3.0
"""A page that is not gone by then hangs: its context is closed."""
_IDLE_S = 15.0
"""How long a spare waits for the next session; an empty page holds some 30 MiB."""
_MOST = 16
"""Spares of one browser."""
_HISTORY_TRIES = 20
_HISTORY_PAUSE_S = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class Spare:
    """An emptied context with its one tab, on about:blank."""

    context: BrowserContext
    tab: Tab


class Shelf:
    """The spares of one browser, by what they may be used for."""

    def __init__(self) -> None:
        self._spares: dict[Hashable, list[Spare]] = {}
        self._order: list[tuple[Hashable, Spare]] = []  # the oldest first
        self._endings: set[asyncio.Task[None]] = set()

    def take(self, key: Hashable) -> Spare | None:
        """The spare of this key that was used last, if one is still of use."""
        while spares := self._spares.get(key):
            spare = spares[-1]
            self._remove(key, spare)
            if not spare.tab.crashed and not spare.tab.page.is_closed():
                return spare
            self._end(spare)
        return None

    def put(self, key: Hashable, spare: Spare) -> None:
        """Keeps a spare for a while."""
        self._spares.setdefault(key, []).append(spare)
        self._order.append((key, spare))
        if len(self._order) > _MOST:
            self._drop(*self._order[0])
        asyncio.get_running_loop().call_later(_IDLE_S, self._drop, key, spare)

    def _drop(self, key: Hashable, spare: Spare) -> None:
        """Ends a spare that is still here."""
        if spare in self._spares.get(key, ()):
            self._remove(key, spare)
            self._end(spare)

    def _remove(self, key: Hashable, spare: Spare) -> None:
        spares = self._spares[key]
        spares.remove(spare)
        if not spares:
            del self._spares[key]
        self._order.remove((key, spare))

    def _end(self, spare: Spare) -> None:
        task = asyncio.create_task(end(spare.context))
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def clear(self) -> None:
        """Ends every spare."""
        for key, spare in tuple(self._order):
            self._drop(key, spare)
        await asyncio.gather(*self._endings)


async def end(context: BrowserContext) -> None:
    """Closes a context; one that is gone with its browser, or hangs, is left to the browser's owner."""
    try:
        async with asyncio.timeout(_EMPTY_S):
            await context.close()
    except (PlaywrightError, TimeoutError):
        pass


async def empty(tab: Tab) -> Spare | None:
    """The context of `tab` with nothing left in it that a session saw or stored; None when that did not work."""
    context = tab.page.context
    try:
        async with asyncio.timeout(_EMPTY_S):
            session = await tab.session()
            # First the document and its workers end, so that nothing can be stored after the clearing.
            await tab.page.goto("about:blank", wait_until="commit")
            await asyncio.gather(
                session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"}),
                session.send("Network.clearBrowserCookies"),
                session.send("Runtime.evaluate", {"expression": "window.name = ''"}),
                context.clear_permissions(),
            )
            await _forget_history(tab)
            return Spare(context, await tab.renewed())
    except (PlaywrightError, TimeoutError):
        return None


async def _forget_history(tab: Tab) -> None:
    """Drops the tab's history, and with it pages that the back-forward cache holds alive."""
    session = await tab.session()
    for attempt in range(_HISTORY_TRIES):
        try:
            await session.send("Page.resetNavigationHistory")
            return
        except PlaywrightError as error:
            # The blank document has been committed, but is not yet the one that DevTools is attached to.
            if "active page" not in error.message or attempt + 1 == _HISTORY_TRIES:
                raise
        await asyncio.sleep(_HISTORY_PAUSE_S)
