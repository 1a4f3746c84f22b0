"""The tabs of one context, and which of them a person would see."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from shoal.agent.chromium.acting.tab import Tab

_WITHOUT_DOCUMENT = ("", ":")
"""Addresses, as Playwright tells them, of a new tab whose navigation ended without a document."""
_EMPTY = (*_WITHOUT_DOCUMENT, "about:blank")


class OpenTabs:
    """Follows what pages open, close and turn to. A window of the site's is a tab, too."""

    def __init__(self, first: Tab) -> None:
        self.all: list[Tab] = [first]
        self.opened = 0  # pages that the site opened, so far
        self.came = asyncio.Event()  # set with each page that comes
        self.acted = False  # an action was taken since the page was last looked at
        self._shown: list[Tab] = [first]  # all tabs, in the order in which they were active last
        self._beginning: set[asyncio.Task[None]] = set()
        self._hear(first)

    @property
    def active(self) -> Tab:
        """The tab that a person would see."""
        return self._shown[-1]

    @active.setter
    def active(self, tab: Tab) -> None:
        self._shown = [*(shown for shown in self._shown if shown is not tab), tab]

    def of(self, page: Page) -> Tab | None:
        """The tab that shows `page`."""
        return next((tab for tab in self.all if tab.page == page), None)

    def add(self, page: Page) -> Tab:
        """The new tab of a page that the site opened; active, unless a file came in its document's place."""
        opener, tab = self.active, Tab(page, self.active.connection)
        self._hear(tab)
        self.all.append(tab)
        if page.url in _WITHOUT_DOCUMENT:
            self._shown.insert(0, tab)
        else:
            self.active = tab
        self.opened += 1
        self.came.set()
        for watched in (opener, tab):  # from now on each may be sent somewhere by the other
            self.begin(_watch(watched))
        return tab

    def begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Sets something up in a tab, beside what else goes on."""
        task = asyncio.ensure_future(work)
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)
        return task

    def remove(self, tab: Tab) -> None:
        """Takes a tab out; the one that was active before it is so again."""
        self.all.remove(tab)
        self._shown.remove(tab)

    def on_closed(self, page: Page) -> None:
        """A closed tab leaves. The last one stays until another comes."""
        closed = self.of(page)
        if closed is not None and len(self.all) > 1:
            self.remove(closed)

    def on_download(self, page: Page) -> None:
        """A tab that was opened for a file alone stays empty: the one before it is active again."""
        tab = self.of(page)
        if tab is not None and page.url in _EMPTY and len(self._shown) > 1:
            self._shown = [tab, *(shown for shown in self._shown if shown is not tab)]

    def forget_closed(self) -> None:
        """Takes out what closed while it was the last tab."""
        self.all = [tab for tab in self.all if not tab.page.is_closed()] or [self.active]
        self._shown = [tab for tab in self._shown if tab in self.all]

    def _hear(self, tab: Tab) -> None:
        def called() -> None:
            # Chromium shows a tab that a link, a form or `window.open` of another page names as its target.
            if self.acted and tab in self.all:
                self.active = tab

        tab.on_called = called


async def _watch(tab: Tab) -> None:
    """Follows a tab's navigations; it may be gone before it is asked."""
    with contextlib.suppress(PlaywrightError):
        await tab.navigation()
