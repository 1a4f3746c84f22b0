"""The titles of a context's tabs, also of those that do not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.support.printable import readable
from shoal.agent.types import TabInfo

_ANSWER_S = 0.3
"""A tab in the background may hang or have crashed: the wait for its title is short."""


class Titles:
    """Remembers each tab's last title."""

    def __init__(self) -> None:
        self._last: WeakKeyDictionary[Tab, str] = WeakKeyDictionary()

    async def of(self, tabs: Sequence[Tab], active: Tab, title: str) -> tuple[TabInfo, ...]:
        """All `tabs`; the active one was looked at already, and has this title."""
        self._last[active] = title
        await asyncio.gather(*(self._ask(tab) for tab in tabs if tab is not active))
        return tuple(TabInfo(tab.page.url, self._last.get(tab, "")) for tab in tabs)

    async def _ask(self, tab: Tab) -> None:
        try:
            async with asyncio.timeout(_ANSWER_S):
                self._last[tab] = readable(await tab.page.title())
        except (PlaywrightError, TimeoutError):
            return  # what it was called before will do
