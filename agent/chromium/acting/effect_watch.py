"""Watching for an action's effect: the page is looked at before the action, and watched after it until the effect has
come.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from typing import Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from shoal.agent.chromium.acting import appearances
from shoal.agent.chromium.acting.appearances import Appearances
from shoal.agent.chromium.acting.effects import Moment, Watched, effect, moment
from shoal.agent.chromium.acting.open_tabs import OpenTabs
from shoal.agent.chromium.acting.playwright_actions import ChromiumActionContext, split_bid
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.call_deadlines import CallDeadlines
from shoal.agent.types import Effect

LOOK_S = 5.0
"""Seconds that a look at the page may take, before an action or after it."""
_EFFECT_S, _EFFECT_PAUSE_S = 0.3, 0.05
"""Seconds for which an action that changed nothing is watched for a late effect, and seconds between two looks."""


class ActedOn(Watched, Protocol):
    """The context whose actions are watched."""

    open_tabs: OpenTabs
    limits: CallDeadlines


class EffectWatch:
    """Watches what the actions of one context change."""

    def __init__(self, context: ActedOn, action_context: ChromiumActionContext) -> None:
        self._context = context
        self._action_context = action_context

    async def moment(self, bid: str | None, inside: bool, *, first: bool = False) -> Moment:
        """The page now; with `first` what appears from now on is noted, too."""
        async with self._context.limits.guard(LOOK_S, "looking for the effect"):
            now = moment(self._context, self._action_context, bid, inside=inside)
            if not first or not inside:
                return await now
            taken, _ = await asyncio.gather(now, appearances.begin(self._context.tab, split_bid(bid)[0] if bid else ""))
            return taken

    async def changes(
        self, before: Moment, after: Moment | None, bid: str | None, *, inside: bool, waits: bool
    ) -> Effect:
        """Return what the action changed. Where that is nothing yet, a moment more is waited for it."""
        ends = time.monotonic() + _EFFECT_S
        while True:
            after = after or await self.moment(bid, inside)
            seen = Appearances()
            if inside and after.main and (before.tab, before.document) == (after.tab, after.document):
                async with self._context.limits.guard(LOOK_S, "looking for the effect"):
                    number = split_bid(bid)[1] if bid else 0
                    seen = await appearances.read_appearances(self._context.tab, before.prefix, number)
            changes = effect(before, after, bid, seen)
            if not changes.unchanged or not waits:
                return replace(changes, unchanged=changes.unchanged and waits)
            if time.monotonic() >= ends:  # what is asked of a server may still come
                waiting = (await before.tab.traffic()).quiet_for() <= 0
                return replace(changes, unchanged=not waiting)
            await asyncio.sleep(_EFFECT_PAUSE_S)
            self._action_context.forget()
            after = None

    async def follow_up(self, before: Moment, bid: str | None) -> Moment | None:
        """After an action: lets a navigation that it began come to its document, and a new tab to its page.

        Gives the moment after it when the page is still the same.
        """
        tab = self._context.tab
        if tab is before.tab:
            navigation = await tab.navigation()
            # What the action began is known once this is answered.
            after = await moment(self._context, self._action_context, bid)
            if navigation.windows > before.windows and self._context.open_tabs.opened == before.opened:
                await self._new_tab_comes()
            elif navigation.under_way:
                await self._arrives(tab)
            elif self._context.tab is tab and tab.page.url == before.url:
                return after
        if self._context.tab is not before.tab:
            await self._arrives(self._context.tab)
        tab = self._context.tab
        try:
            await tab.page.wait_for_load_state("domcontentloaded", timeout=self._action_context.left_ms)
        except PlaywrightTimeout:
            return None
        except PlaywrightError:
            if tab is before.tab or not tab.page.is_closed():
                raise  # else a window that the site opened closed again: the action is done
        return None

    async def _arrives(self, tab: Tab) -> None:
        """Returns once the tab is at its document or closed, or when the action's time is over."""
        with contextlib.suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(self._action_context.left_ms / 1000):
                await (await tab.navigation()).arrival()

    async def _new_tab_comes(self) -> None:
        """The page said that it opens a window: Playwright's event comes a moment later, or never if it is blocked."""
        self._context.open_tabs.came.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await self._context.open_tabs.came.wait()
