"""Contexts that serve one session after another of the same job, emptied in between.

A new context costs Chromium a renderer process and twice the time of a page that is there already. What a session can
leave behind is taken out, in an order that leaves the page's own scripts no moment to put it back; where that is not
certain (see `ActingContext.not_reusable`) the context is closed instead. What stays is said in docs/isolation.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.context_reset import EMPTY_S, clear_traces, close_quietly

_IDLE_S = 15.0
"""Seconds that a spare waits for the next session; an empty page holds some 30 MiB."""
_MOST = 16
"""Spares of one browser."""
_MOST_KEYS = 4
"""Sites of one job, or other settings, for which spares are kept."""


class PooledContext(Protocol):
    """A context with its one tab, emptied, that waits for the next session."""

    @property
    def usable(self) -> bool:
        """Return whether its page is still there."""
        ...

    async def end(self) -> None:
        """Closes it; never raises."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SpareContext:
    """One that Playwright knows, on about:blank."""

    context: BrowserContext
    tab: Tab

    @property
    def usable(self) -> bool:
        return not self.tab.crashed and not self.tab.page.is_closed()

    async def end(self) -> None:
        await close_quietly(self.context.close())


Kind = TypeVar("Kind", bound=PooledContext)
Key = tuple[Hashable, ...]
"""Values that two sessions must share to use the same spare context; their job comes first."""


class ContextPool(Generic[Kind]):
    """The spares of one browser, by what they may be used for."""

    def __init__(self) -> None:
        self._spares: dict[Key, list[Kind]] = {}
        self._order: list[tuple[Key, Kind]] = []  # the oldest first
        self._endings: set[asyncio.Task[None]] = set()

    def take(self, key: Key) -> Kind | None:
        """The spare of this key that was used last, if one is still of use."""
        while spares := self._spares.get(key):
            spare = spares[-1]
            self._remove(key, spare)
            if spare.usable:
                return spare
            self._end(spare)
        return None

    def put(self, key: Key, spare: Kind) -> None:
        """Keeps a spare for a while; of a job with items on many sites those of the sites that it used last."""
        self._spares.setdefault(key, []).append(spare)
        self._order.append((key, spare))
        used = dict.fromkeys(other for other, _ in reversed(self._order) if other[0] == key[0])
        for other in tuple(used)[_MOST_KEYS:]:
            for old in tuple(self._spares[other]):
                self._drop(other, old)
        if len(self._order) > _MOST:
            self._drop(*self._order[0])
        asyncio.get_running_loop().call_later(_IDLE_S, self._drop, key, spare)

    def _drop(self, key: Key, spare: Kind) -> None:
        """Ends a spare that is still here."""
        if spare in self._spares.get(key, ()):
            self._remove(key, spare)
            self._end(spare)

    def _remove(self, key: Key, spare: Kind) -> None:
        spares = self._spares[key]
        spares.remove(spare)
        if not spares:
            del self._spares[key]
        self._order.remove((key, spare))

    def _end(self, spare: Kind) -> None:
        task = asyncio.create_task(spare.end())
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def clear(self) -> None:
        """Ends every spare."""
        for key, spare in tuple(self._order):
            self._drop(key, spare)
        await asyncio.gather(*self._endings)


async def empty(tab: Tab) -> SpareContext | None:
    """The context of `tab` with nothing left in it that a session saw or stored; None when that did not work."""
    context = tab.page.context
    try:
        async with asyncio.timeout(EMPTY_S):
            session = await tab.session()
            # First the document and its workers end, so that nothing can be stored after the clearing.
            await tab.page.goto("about:blank", wait_until="commit")
            await asyncio.gather(clear_traces(session), context.clear_permissions())
            return SpareContext(context, await tab.renewed())
    except (PlaywrightError, TimeoutError):
        return None
