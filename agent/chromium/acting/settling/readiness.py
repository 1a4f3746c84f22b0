"""Whether a page shows that it is still loading: marks of work in progress, nothing at all, and data under way."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.errors import ActionError

_QUIET_S, _SETTLE_S = 0.05, 1.5
"""How long a page is to be quiet after an action before it is looked at, and how long that is waited for."""
READY_S = 2.5
"""How long a page may go on with what it loads before it is looked at as it is."""
_STILL_S = 0.8
"""A mark of a page that was opened belongs to its design if it stays the same for so long while no data are under way.
A mark that an action brought is waited for as long as anything is."""
_POLL_S = 0.1

# A spinner or a skeleton is known by what it does: it moves without end. A caret that blinks does so, too, but is thin.
_MARKS = (Path(__file__).with_name("readiness.js")).read_text(encoding="utf-8").partition("\n")[2]


class _Marks(TypedDict):
    """What a page shows of work in progress, in its main document."""

    empty: bool  # it has scripts, and shows nothing
    names: list[str]  # of the first marks
    count: int  # of all of them
    nodes: int


class Readiness:
    """Waits before the tabs of a context are looked at; knows what never ended there."""

    def __init__(self) -> None:
        self._endless: set[str] = set()  # addresses whose answer outlasted a wait: they are not waited for again
        self.landed = False  # a page was opened since the last look
        self.acted = False  # an action was taken since then

    async def come(self, current: Callable[[], Tab], limit_s: float) -> str:
        """Returns once what was begun since the last look has come; in words, what was still in progress.

        Args:
            current: the active tab, which may change meanwhile: an action may turn to another tab late.
            limit_s: of the whole look.
        """
        if not (self.landed or self.acted):
            return ""
        acted, self.landed, self.acted = self.acted, False, False
        # A page that does not come to rest, or is replaced again and again, is looked at as it is.
        with contextlib.suppress(ActionError, PlaywrightError):
            if acted:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_SETTLE_S):
                        settled: Tab | None = None
                        while settled is not (tab := current()):
                            settled = tab
                            await tab.settled(_QUIET_S)
            budget_s = min(READY_S, limit_s / 2)
            return await self._idle(current(), budget_s, budget_s if acted else _STILL_S)
        return ""

    async def _idle(self, tab: Tab, budget_s: float, still_s: float) -> str:
        """Returns once nothing is in progress or changes for `still_s`, or after `budget_s`; told is what still was."""
        ends, still_since = time.monotonic() + budget_s, time.monotonic()
        before: _Marks | None = None
        while True:
            marks: _Marks = await tab.read(_MARKS, False)
            under_way = self._under_way(tab)
            if not marks["empty"] and not marks["count"] and not under_way:
                return ""
            now = time.monotonic()
            if marks != before or under_way or marks["empty"]:
                before, still_since = marks, now
            if now >= ends or now - still_since >= still_s:
                self._endless.update(under_way)
                await tab.read(_MARKS, True)
                return _told(marks, under_way) if now >= ends else ""
            await asyncio.sleep(_POLL_S)

    def _under_way(self, tab: Tab) -> tuple[str, ...]:
        return tuple(path for url in tab.open_data() if (path := url.partition("?")[0]) not in self._endless)


def _told(marks: _Marks, under_way: tuple[str, ...]) -> str:
    said = [
        "it shows nothing yet" if marks["empty"] else "",
        f"marks of work in progress: {', '.join(marks['names'])}" if marks["names"] else "",
        f"data are under way from {under_way[0]}" if under_way else "",
    ]
    return "; ".join(filter(None, said))
