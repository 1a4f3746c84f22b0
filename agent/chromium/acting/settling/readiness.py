"""Signs that a page is still loading: marks of work in progress, nothing at all, and data under way."""

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
"""Seconds that a page is to be quiet after an action before it is looked at, and the longest wait for that."""
READY_S = 2.5
"""Seconds that a page may go on loading before it is looked at as it is."""
_BLANK_S = 5.0
"""The same of one that shows nothing at all: a decision on it would be one in vain. While scripts or data are under way
it is waited for as long as may be."""
_ANSWER_S = 0.25
"""A page that answers later is at work: such time is none in which it could have gone on."""
_STILL_S = 0.8
"""A mark of a page that was opened belongs to its design if it stays the same for so long while no data are under way.
A mark that an action brought is waited for as long as anything is."""
_POLL_S = 0.1
_PAUSE_S = 0.5
"""Seconds of pause that scripts wait for, in typing or in building a page, before they go on: 0.2 to 0.5 s."""

# A spinner is known by what it does: it moves without end. A caret that blinks does so, too, but is thin.
_MARKS = Path(__file__).with_name("readiness.js").read_text(encoding="utf-8").split("\n", 2)[2]


# Numbers of timers are counted by document, for all its scripts: what the page sets meanwhile makes a gap.
_NEXT_TIMERS = """() => {
  const next = [];
  const ask = view => {
    try { next.push(view.setTimeout(() => {})); } catch { return; } // a frame of another site
    view.clearTimeout(next.at(-1));
    for (let n = 0; n < view.length; n++) ask(view[n]);
  };
  ask(window);
  return next;
}"""


class _Marks(TypedDict):
    """Marks of work in progress on a page, in its main document and the frames of its own site."""

    empty: bool  # it has scripts, and shows nothing
    titled: bool  # it has scripts, and shows a name alone
    hollow: bool  # it has scripts, and its main part shows nothing
    names: list[str]  # of the first marks
    said: int  # marks by which the page says that it is busy, and does not only look so
    count: int  # of all marks
    scripted: bool
    grown: float  # how far bars of progress are, summed up
    nodes: int


class Readiness:
    """Waits before the tabs of a context are looked at; knows what never ended there."""

    def __init__(self) -> None:
        self._endless: set[str] = set()  # addresses whose answer outlasted a wait: they are not waited for again
        self.landed = False  # a page was opened since the last look
        self.acted = False  # an action was taken since then
        self._typed_at: float | None = None  # what scripts make of text that was entered, they begin after a pause
        self._timers: list[int] = []  # the next of each document, before text was entered

    async def before(self, tab: Tab, *, types: bool, sends: bool) -> None:
        """Comes before an action.

        One that may send what was entered waits out the pause after which scripts take it: a click of a person comes
        later than that. It does so where entering set timers.
        """
        if sends and self._typed_at is not None:
            left = self._typed_at + _PAUSE_S - time.monotonic()
            if left > 0 and await tab.read(_NEXT_TIMERS) != [number + 1 for number in self._timers]:
                await asyncio.sleep(left)
            self._typed_at = None
        if types and self._typed_at is None:
            self._timers = await tab.read(_NEXT_TIMERS)

    def after(self, *, types: bool) -> None:
        """Comes after an action."""
        self.acted = True
        if types:
            self._typed_at = time.monotonic()

    async def come(self, current: Callable[[], Tab], limit_s: float) -> str:
        """Returns once what was begun since the last look has come; in words, what was still in progress.

        Args:
            current: the active tab, which may change meanwhile: an action may turn to another tab late.
            limit_s: of the wait.
        """
        if not (self.landed or self.acted):
            return ""
        landed, acted, typed_at = self.landed, self.acted, self._typed_at
        self.landed, self.acted, self._typed_at = False, False, None
        # A page that does not come to rest, or is replaced again and again, is looked at as it is.
        with contextlib.suppress(ActionError, PlaywrightError):
            if acted:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_SETTLE_S):
                        settled: Tab | None = None
                        while settled is not (tab := current()):
                            settled = tab
                            await tab.settled(_QUIET_S)
            still_s = READY_S if acted else _STILL_S
            tab = current()
            in_progress = await self._idle(tab, limit_s, still_s, (typed_at + _PAUSE_S) if typed_at else 0.0)
            if landed:  # an action waits for what it brings about
                (await tab.traffic()).forget_open()
            return in_progress
        return ""

    async def _idle(self, tab: Tab, limit_s: float, still_s: float, begins: float) -> str:
        """Returns once nothing is in progress, or it has taken too long; in words, what still was.

        Args:
            limit_s: what it may take at most.
            still_s: after so long without a change, marks belong to the page.
            begins: until when scripts may wait before they begin anything.
        """
        began = still_since = time.monotonic()
        last, busy_s = began + limit_s, 0.0
        ends, builds = began + min(READY_S, limit_s), False
        before: _Marks | None = None
        while True:
            asked = time.monotonic()
            marks: _Marks = await tab.read(_MARKS, False)
            answered = time.monotonic()
            busy_s += answered - asked if answered - asked > _ANSWER_S else 0.0
            under_way, now = self._under_way(tab), answered - busy_s
            if builds and (under_way or marks["nodes"] != (before or marks)["nodes"]):
                begins = min(now + _PAUSE_S, ends)
            unbuilt = marks["empty"] or marks["hollow"]
            builds = builds or unbuilt  # by scripts: there is more to come once something is shown
            if marks["empty"]:
                ends = min(now + READY_S, began + limit_s)
            if not unbuilt and not marks["titled"] and not marks["count"] and not under_way:
                if now >= begins or not marks["scripted"]:
                    return ""
                before = marks
                await asyncio.sleep(_POLL_S)
                continue
            if marks != before or under_way or unbuilt or marks["said"]:
                before, still_since = marks, now
            blank_ends = last if under_way else began + _BLANK_S
            over = answered >= last or now >= (blank_ends if marks["empty"] else ends)
            if over or now - still_since >= (still_s if marks["count"] or under_way else min(still_s, _STILL_S)):
                self._endless.update(under_way)
                await tab.read(_MARKS, True)
                return _describe_wait(marks, under_way) if over else ""
            await asyncio.sleep(_POLL_S)

    def _under_way(self, tab: Tab) -> tuple[str, ...]:
        return tuple(path for url in tab.open_data() if (path := url.partition("?")[0]) not in self._endless)


def _describe_wait(marks: _Marks, under_way: tuple[str, ...]) -> str:
    signs = [
        "it shows nothing yet" if marks["empty"] else "",
        "it shows its name alone" if marks["titled"] else "",
        "its main part shows nothing" if marks["hollow"] else "",
        f"marks of work in progress: {', '.join(marks['names'])}" if marks["names"] else "",
        f"data are under way from {under_way[0]}" if under_way else "",
    ]
    return "; ".join(filter(None, signs))
