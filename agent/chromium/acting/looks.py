"""Looks at the tab that a person would see, with the titles of all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import ObserveOptions
from shoal.agent.chromium.acting.open_tabs import OpenTabs
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.devtools.screenshots import viewport_shot
from shoal.agent.chromium.devtools.worlds import Worlds
from shoal.agent.observe.tree import FrameWalk
from shoal.agent.support.printable import readable
from shoal.agent.types import TabInfo

_ANSWER_S = 0.3
"""A tab in the background may hang or have crashed: the wait for its title is short."""


@dataclass(frozen=True, slots=True)
class Look:
    """All parts are of one tab."""

    url: str
    walk: FrameWalk
    worlds: Worlds
    picture: bytes | None
    tabs: tuple[TabInfo, ...]
    active: int  # its place among them
    in_progress: str  # what the page was still busy with


class Looks:
    """Remembers each tab's last title."""

    def __init__(self, open_tabs: OpenTabs) -> None:
        self._open_tabs = open_tabs
        self._titles: WeakKeyDictionary[Tab, str] = WeakKeyDictionary()

    async def take(self, options: ObserveOptions, ready: Callable[[], Awaitable[str]]) -> Look:
        """A look at the active tab once it is `ready`; at another one where that became active meanwhile.

        A window may open, or close, at any time. Its caller limits the whole.
        """
        while True:
            in_progress = await ready()
            tab = self._open_tabs.active
            self._open_tabs.acted = False
            look = await self._of(tab, options, in_progress)
            if self._open_tabs.active is tab:
                return look

    async def _of(self, tab: Tab, options: ObserveOptions, in_progress: str) -> Look:
        # First the picture's request, then the walk: Chromium draws in another process while the walk runs.
        drawing = asyncio.ensure_future(viewport_shot(tab)) if options.screenshot or options.marks else None
        try:
            walk = await tab.walk(options)
            picture = await drawing if drawing is not None else None
            every = tuple(self._open_tabs.all)
            tabs = await self._titled(every, tab, walk.data["title"])
            worlds = await tab.worlds()
        finally:
            if drawing is not None and not drawing.done():
                drawing.cancel()
        active = every.index(tab) if tab in every else -1  # it closed meanwhile, so another is active
        return Look(tab.page.url or "about:blank", walk, worlds, picture, tabs, active, in_progress)

    async def _titled(self, tabs: Sequence[Tab], active: Tab, title: str) -> tuple[TabInfo, ...]:
        """All `tabs`; the active one was looked at already, and has this title."""
        self._titles[active] = title
        await asyncio.gather(*(self._ask(tab) for tab in tabs if tab is not active))
        return tuple(TabInfo(tab.page.url, self._titles.get(tab, "")) for tab in tabs)

    async def _ask(self, tab: Tab) -> None:
        try:
            async with asyncio.timeout(_ANSWER_S):
                self._titles[tab] = readable(await tab.page.title())
        except (PlaywrightError, TimeoutError):
            return  # what it was called before will do
