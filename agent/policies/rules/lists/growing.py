"""Lists that grow: while their page is scrolled, while it still loads, or on a page that shows more of them."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from shoal.agent.browser import Context
from shoal.agent.policies.rules.lists.list_end import ListEnd
from shoal.agent.policies.rules.lists.onward import is_page_of
from shoal.agent.read.grounding.part_claims import end_line
from shoal.agent.read.links.list_page import ListPage
from shoal.agent.read.values.phrases import squash
from shoal.agent.read.word_lists.page_words import MORE_LINKS, MORE_WORDS
from shoal.agent.support.web_addresses import canonical_address, clipped_address, page_address
from shoal.agent.types import Record

_STIR_S = 2.0  # a script that watches the scrolling asks for more within this time: some wait a second before they do
_REST_S = 5.0  # the same where nothing but the rest of the page says that its list has ended
_STILL_S = 0.6  # the same of a page that cannot be scrolled, and fills its window by itself
_LOAD_S = 15.0  # for what it asks for
_DRAW_S = 5.0  # for what comes then, until the page changes no more
_QUIET_S = 0.3
_SURE_LOOKS = 3  # so many changes of a page may be further rows, though no request of its own is under way
_TELLING = 5  # fewer values are all different by chance
_PAGE_SIZES = frozenset({20, 24, 25, 30, 40, 48, 50, 60, 75, 96, 100, 120, 150, 200, 250, 500, 1000})
_ALL = frozenset(squash(word) for word in ("all", "show all", "view all", "alle", "alle anzeigen", "tout", "todos"))
_MORE = frozenset(squash(word) for word in (*MORE_WORDS, *MORE_LINKS))
_EXTENT = """
  const elements = document.getElementsByTagName('*').length;
  const text = document.body ? document.body.textContent.length : 0;
  return [elements, text, document.documentElement.scrollHeight].join(' ');
"""
_EXTENT_JS = f"() => {{{_EXTENT}}}"
# By the page's own clock: what its timers bring within that time has come before, however busy the machine is.
_OTHER_EXTENT_JS = f"""
(arg) => new Promise((done) => {{
  const extent = () => {{{_EXTENT}}};
  const began = performance.now(), other = () => extent() !== arg.held;
  const timer = setInterval(() => {{
    const changed = other();
    if (!changed && performance.now() - began < arg.ms) return;
    clearInterval(timer);
    done(changed);
  }}, 100);
}})
"""
_TO_END_JS = """
(region) => {
  const inner = region && document.querySelector(region);
  for (const one of [document.documentElement, inner].filter(Boolean)) {
    one.scrollTo({top: one.scrollHeight, behavior: 'instant'});
  }
}
"""


async def extent(page: Context) -> str:
    """Return a text that differs once the page shows other rows."""
    return str(await page.read(_EXTENT_JS))


@dataclass(slots=True)
class EndOfPage:
    """The end of a page that was scrolled to, while its scripts may bring more there."""

    page: Context
    held: str  # how much the page held when it was looked at last
    stirs_s: float  # how long its scripts may take until they ask for more
    _before: Counter[str]  # the requests that were under way before it was scrolled
    _deadline: float = 0.0
    _looks: int = 0  # how often it was looked at
    _asks: bool = False  # its scripts waited for an answer at the last look
    why: str = ""  # why the wait for more ended before its end was seen

    @classmethod
    async def of(
        cls, page: Context, held: str, *, can_scroll: bool, rests: bool = False, before: Sequence[str] | None = None
    ) -> Self:
        """The end of a page that is about to be scrolled.

        Args:
            held: how much it held when its list was read.
            can_scroll: it is longer than its window, or a region of it is.
            rests: that it stays as it is will be all that says that its list has ended.
            before: the requests that were under way before it was scrolled for the first time; None: those of now.
        """
        others = Counter(await page.open_requests() if before is None else before)
        stirs_s = _REST_S if rests else _STIR_S
        return cls(page, held, stirs_s if can_scroll else _STILL_S, others, time.monotonic() + _LOAD_S)

    async def scroll(self, region: str = "") -> None:
        """Looks at the end of the page, and of a region of it.

        It is no action: nothing is pressed, and a page that is only read stays in the context that reads it.
        """
        await self.page.read(_TO_END_JS, region)

    async def changes(self) -> bool:
        """Waits until the page holds other than before; False once its scripts bring nothing, or take too long."""
        while True:
            self._looks += 1
            changed = await self._holds_other()
            open_ = tuple((Counter(await self.page.open_requests()) - self._before).elements())
            waits, self._asks = bool(open_) or self._asks, bool(open_)
            if changed and (self._looks <= _SURE_LOOKS or (waits and time.monotonic() < self._deadline)):
                return True
            if not waits or (changed and not open_):  # a clock on a page changes it for ever
                return False
            if open_ and time.monotonic() > self._deadline:
                self.why = f"the page's own request for {clipped_address(open_[0])} had no answer after {_LOAD_S:g} s"
                return False

    async def _holds_other(self) -> bool:
        changed = await self.page.read(_OTHER_EXTENT_JS, {"held": self.held, "ms": self.stirs_s * 1000})
        if changed:
            await self.page.settle(quiet_s=_QUIET_S, budget_s=_DRAW_S)
            self.held = await extent(self.page)
        return bool(changed)


def unshown_end(batches: Sequence[int], before: ListEnd, after: ListEnd) -> str:
    """Why a list that grew while it was scrolled may go on; "" where its end is shown, or where it never grew.

    Its end is shown by its page's words, by an answer that brought no further rows, and by a last batch of rows that is
    smaller than the one before, or no multiple of the smallest: several may have come at once.

    Args:
        batches: how many rows each look at the page brought.
        before: the page before it was scrolled last.
        after: the same page once that had brought nothing.
    """
    if len(batches) < 2 or batches[-1] < batches[-2] or batches[-1] % min(batches) or end_line(after.text):
        return ""
    known = [request for request in before.requests if not request.failed]
    answered = {request.url for request in after.requests if not request.failed} - {request.url for request in known}
    if any(is_page_of(request.url, url) for url in answered for request in known):
        return ""
    return f"scrolling brought nothing further after {sum(batches):,}, and the page does not say that these are all"


def longer_page(page: ListPage, opened: set[str]) -> str:
    """The address of the one link that is called "more"; "" where there is none, or several lead to different pages.

    Args:
        opened: the keys of pages that are known.
    """
    links = [control.link for control in page.usable_controls if control.link and squash(control.text) in _MORE]
    pages = {canonical_address(link): page_address(link) for link in links}
    return next(iter(pages.values())) if len(pages) == 1 and not pages.keys() & opened else ""


def larger_page(page: ListPage, count: int) -> str:
    """The address of the list with most records on its page, more than `count`; "" where no link promises that."""
    larger = [
        (number, control.link)
        for control in page.controls
        if control.link and not control.disabled and is_page_of(page.address, control.link)
        for number in [_page_size(control.text)]
        if number > count
    ]
    return max(larger)[1] if larger else ""


def _page_size(text: str) -> int:
    """Return how many records a link to a larger page promises; 0 when it is none."""
    if squash(text) in _ALL:
        return 1_000_000
    number = int(text) if re.fullmatch(r"\d{2,4}", text) else 0
    return number if number in _PAGE_SIZES else 0


def further(before: Sequence[Record], now: Sequence[Record]) -> list[Record] | None:
    """The records of `now` that come beside those of `before`; None where those are not shown any more.

    A row counts as the same one, too, where a script has changed a part of it: an age, a countdown.
    """
    if len(now) < len(before):
        return None
    left = Counter(repr(record.value) for record in before)
    new = []
    for record in now:
        if left[repr(record.value)] > 0:
            left[repr(record.value)] -= 1
        else:
            new.append(record)
    if not +left:
        return new
    return list(now[len(before) :]) if _are_same_rows(before, now) else None


def _are_same_rows(before: Sequence[Record], now: Sequence[Record]) -> bool:
    """Return whether a field that tells the rows from each other has the same values in the same order."""
    if len(before) < _TELLING:
        return False
    for name in before[0].value:
        values = [repr(record.value.get(name)) for record in before]
        if len({*values}) == len(values) and values == [repr(record.value.get(name)) for record in now[: len(before)]]:
            return True
    return False
