"""The records of a list that goes on over several pages, by link or by script: read until all are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from shoal.agent.browser import Context
from shoal.agent.errors import PlaceMissing
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.lists.growing import EndOfPage, extent, further, larger_page, longer_page, unshown_end
from shoal.agent.policies.rules.lists.halting import halted
from shoal.agent.policies.rules.lists.inner_scroll import InnerList, inner_list
from shoal.agent.policies.rules.lists.list_end import ListEnd, RowWait, read_list_end
from shoal.agent.policies.rules.lists.list_page import read_ways_on
from shoal.agent.policies.rules.lists.onward import (
    Onward,
    goes_on_with,
    is_pager,
    leads_on,
    next_step,
    open_next,
    press,
    requested_step,
    same_list,
)
from shoal.agent.policies.rules.lists.seams import repeated_at_seam, shift_message, value_texts
from shoal.agent.policies.rules.page_changes import wait_for_change
from shoal.agent.read.grounding.claims import texts_of
from shoal.agent.read.grounding.part_claims import end_line, is_last_page
from shoal.agent.read.links.list_page import ListPage
from shoal.agent.support.sites.sites import is_other_site
from shoal.agent.support.web_addresses import canonical_address
from shoal.agent.types import Action, Record

Read = Callable[[SessionState], Awaitable[Extraction]]

MAX_PAGES = 100
"""As many pages as a loop collects its items from, where the job says nothing else."""
_SETTLE_S, _QUIET_S = 5.0, 0.3
_LOOKS = 4  # at a page that was told to go on, until it counts as unchanged
_CHANGE_S = 1.5  # until a page that was pressed or scrolled begins to show more
_TWINS = "rows that read alike cannot be told apart in a list that is drawn while it is scrolled"
_IN_SIGHT = "the page draws other rows while it is scrolled, and not all of them were read"
_NO_WAY = "the page shows no way to the rest of the list that could be followed"


async def read_whole_list(
    state: SessionState, read: Read, *, asked: str | None = None, most: int = MAX_PAGES
) -> Extraction:
    """The records of the page and of the pages that go on with its list.

    Args:
        read: reads the page as it stands.
        asked: the caller's selector or words of the way on; it is taken at its word.
        most: so many pages are read at most.

    Raises:
        NavigationError: a next page cannot be opened now, and another attempt may read the whole list.
    """
    held = await extent(state.page)
    first, row_wait = await read(state), RowWait()
    known = texts_of(first.records)
    if first.records and not _is_whole(first, len(first.records)) and await row_wait.wait(state.page, known):
        first = await read(state)
    if not first.records:
        return await doubted(state.page, first)
    if _is_whole(first, len(first.records)):
        return first
    following = _Following(state, read, first, asked, held, row_wait)
    while following.pages < most and not _is_whole(following.first, len(following.records)):
        try:
            if not await following.go_on() and not await following.look_again():
                break
        except PlaceMissing as error:
            following.why = f"page {following.pages + 1:,} shows no records: {error.message}"
            break
    return await following.outcome(most)


async def doubted(page: Context, read: Extraction) -> Extraction:
    """Return what was read of a list, not called complete where the open page says that there may be more."""
    if not read.complete or (read.records and _is_whole(read, len(read.records))):
        return read
    why = (await read_list_end(page)).cut_by(texts_of(read.records))
    return replace(read, complete=False, empty=False, why=why) if why else read


async def goes_on(page: Context, asked: str | None) -> bool:
    """Return whether the page shows a way to further records of its list; it is not taken."""
    list_page = await read_ways_on(page, asked)
    if asked:
        return requested_step(list_page, asked) is not None
    step = next_step(list_page, None)
    return step is not None and is_pager(list_page, step)


def _is_whole(first: Extraction, count: int) -> bool:
    return first.shown is not None and count >= first.shown


@dataclass(slots=True)
class _Following:
    """One list while its pages are read."""

    state: SessionState
    read: Read
    first: Extraction
    asked: str | None
    held: str  # how much the page held before it was read last
    _row_wait: RowWait
    pages: int = 1
    records: list[Record] = field(default_factory=list)
    _page: Sequence[Record] = ()  # the records of the page that was read last
    _readings: set[tuple[str, ...]] = field(default_factory=set)
    _addresses: set[str] = field(default_factory=set)  # of the pages that were read, as keys
    _start: ListPage | None = None  # the first page
    _cut: bool = False  # a page showed more than was read of it
    _others: bool = False  # the next page is another item's
    _part: Extraction | None = None  # what was read last
    _of_page: Counter[str] = field(default_factory=Counter)  # the records of the page that is open
    _inner: InnerList | None = None  # the region of the page in which the list is scrolled
    _grew: bool = False  # scrolling brought further records, so a link to more of them brings no others
    _batches: list[int] = field(default_factory=list)  # how many records the page had, and each scrolling brought
    _looked_again: bool = False  # at the first page, after it came to rest
    _halted: str = ""  # why the last way on brought nothing, where that may not be the list's end
    _not_its: set[str] = field(default_factory=set)  # buttons that turned something else on the page
    _turned: bool = False  # a button brought other records: it is the list's own
    _looked: Extraction | None = None  # what was read after the last action, whether there was anything new in it
    _at_rest: bool = True  # the requests of the last action ended
    _scrolled: bool = False  # the page that is open was scrolled to the end of that region, or has none
    why: str = ""  # why the way on did not lead to the list's end
    _again: list[tuple[int, Sequence[Record]]] = field(default_factory=list)  # left out at seams, each with its place
    _shifted: str = ""  # why that may mean that others are missing
    _last_shown: int | None = None  # how many records the page that was read last says that there are

    def __post_init__(self) -> None:
        self.records = list(self.first.records)
        self._page, self._part = self.first.records, self.first
        texts = value_texts(self.first.records)
        self._of_page = Counter(texts)
        self._readings.add(texts)
        self._batches.append(len(texts))
        self._cut = self.first.is_cut

    async def go_on(self) -> bool:
        """Moves to further records and reads them; False when there are none."""
        page = await read_ways_on(self.state.page, self.asked)
        self._start = self._start or page
        self._addresses.add(page.key)
        if page.scripted and await self._next_rows():
            return True
        if self.asked:
            return await self._follow_requested_step(page, self.asked)
        step = next_step(page, None)
        if step is None or step.button in self._not_its:
            return await self._without_step(page)
        if not (self._short or is_pager(page, step) or (self._turned and not step.url)):
            return await self._without_step(page) or await self._try_step(page, step)
        if step.url:
            return await self._open(page, step)
        if step.sends == "post":
            return False
        return await self._turn(page, step) or (step.button in self._not_its and await self._without_step(page))

    async def _without_step(self, page: ListPage) -> bool:
        """Moves on where no link or button leads to a next page."""
        return await self._larger_page(page) or await self._scroll(page) or await self._longer_page(page)

    async def look_again(self) -> bool:
        """Return whether the first page shows by now how long its list is, or a way on:
        scripts draw rows before a pager.
        """
        start = self._start
        if self._looked_again or self.pages > 1 or self._others or self._short or start is None or not start.scripted:
            return False
        self._looked_again = True
        await self.state.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)
        shown = (await self.read(self.state)).shown
        if shown is not None and shown != self.first.shown:
            self.first = replace(self.first, shown=shown)
            return self._short
        page = await read_ways_on(self.state.page, self.asked)
        step = requested_step(page, self.asked) if self.asked else next_step(page, None)
        return step is not None and (bool(self.asked) or is_pager(page, step))

    async def _follow_requested_step(self, page: ListPage, asked: str) -> bool:
        """Goes on by the link or button that the caller named; what keeps it from there is noted."""
        step = requested_step(page, asked)
        if step is None:
            return False
        if step.sends == "post":
            self.why = f"{asked} sends a form by POST after page {self.pages:,}, and a list is not read by sending"
            return False
        if step.url and canonical_address(step.url) != page.key:
            return await self._open(page, step)
        if await press(self.state, step) and await self._take_changed(looks=_LOOKS):
            return True
        self.why = f"{asked} brought no other records after page {self.pages:,}"
        return False

    async def _turn(self, page: ListPage, step: Onward) -> bool:
        """Presses what leads on, and reads what that brought; what keeps it from the list's end is noted."""
        before = await read_list_end(self.state.page)
        if not await press(self.state, step):
            if self._turned or step.select:  # elsewhere a button of that name may be hidden, or another thing's
                self._halt(f"{step.button!r} takes no click after page {self.pages:,}")
            return False
        if await self._take_changed() or await self._take_late(step):
            self._turned = True
            return True
        self._halt(await self._why(step, before))
        return False

    async def _try_step(self, page: ListPage, step: Onward) -> bool:
        """Takes a way on that may not be the list's own: pictures and articles have a next one, too.

        A page that actions led to is not left: it may not be there again under its address.
        """
        if step.url and not self.state.has_acted:
            return await self._open(page, step, is_own=False)
        if step.url:
            self._halt(f"{step.url}, the next page, was not looked at, and may go on with the list")
            return False
        self._not_its.add(step.button)
        if step.sends or not await press(self.state, step):
            return False
        self._at_rest = await self.state.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)
        if not same_list(page, await read_ways_on(self.state.page, None)):
            if self.state.has_acted:
                self._halt(f"{step.button!r} led to another page")
            else:
                await self.state.page.goto(page.address)
        elif await self._take_changed():
            self._not_its.remove(step.button)
            self._turned = True
            return True
        elif self._looked is not None and not self._looked.records:
            self._halt(f"the page shows no records after {step.button!r}")
        return False

    async def _take_late(self, step: Onward) -> bool:
        """Reads what comes late after a press that took the button away; one that is still there tells it itself."""
        page = self.state.page
        if (
            step.url
            or next_step(await read_ways_on(page, None), None) is not None
            or is_last_page((await read_list_end(page)).text)
        ):
            return False
        end = await EndOfPage.of(page, await extent(page), can_scroll=True, rests=True)
        return await end.changes() and await self._take_changed()

    async def _why(self, step: Onward, before: ListEnd) -> str:
        """Why the press that was just made is not the list's end, as far as the page tells."""
        texts, own = value_texts(self._looked.records) if self._looked is not None else (), value_texts(self._page)
        halt = await halted(
            self.state.page,
            step,
            before,
            self.pages,
            known=texts_of(self.records),
            lost="" if texts == own else "the page shows other or no records after it",
            anew=texts != own and texts in self._readings,
            at_rest=self._at_rest,
            turned=self._turned,
        )
        if halt.not_its:
            self._not_its.add(step.button)
        return halt.why

    def _halt(self, why: str) -> None:
        """Keeps why a way on did not lead to further records; the first reason stands until some come."""
        self._halted = self._halted or why

    async def _next_rows(self) -> bool:
        """Reads further rows of a region that scrolls by itself, of which a grid draws only those in sight."""
        if self._scrolled:
            return False
        if self._inner is None and self._part is not None and len(self._part.records) > 1:
            places = (source.where for record in self._part.records for source in record.sources.values())
            self._inner = await inner_list(self.state, places)
        inner = self._inner
        while inner is not None and (self._short or not inner.drawn) and await inner.scroll_on(self.state):
            if self._take_rows(await self.read(self.state)):
                return True
        self._scrolled = True
        self._halt(inner.why if inner is not None else "")
        if inner is not None and inner.scrolls and inner.twins:
            self._cut, self.why = True, _TWINS
        return False

    async def outcome(self, most: int) -> Extraction:
        """All records, and whether they are all that there are."""
        shown = self.first.shown
        self._keep_twins(shown)
        count = len(self.records)
        if self._others:  # this page is a part of the list, and was asked for as a part
            return replace(self.first, complete=not self._cut, shown=None)
        whole = not self._cut and (shown is None or count >= shown)
        why = "" if whole else self.first.why or _NO_WAY
        halt = self.why or self._halted
        if halt and not (shown is not None and count >= shown):
            whole, why = False, halt
        if self.pages >= most and not (shown is not None and count >= shown):
            whole, why = False, f"the list was read up to page {self.pages:,}, which is as far as was asked for"
        if self._shifted and not (whole and shown is not None and self._last_shown == shown):
            whole, why = False, why or self._shifted
        read = replace(self.first, records=tuple(self.records), complete=whole, why=why)
        return await doubted(self.state.page, read)

    @property
    def _short(self) -> bool:
        """Return whether the page says that there are more than were read."""
        return self.first.shown is not None and self.first.shown > len(self.records)

    async def _open(self, page: ListPage, step: Onward, *, is_own: bool = True) -> bool:
        """Opens and reads the next page; one whose link may not be the list's own is looked at, and not taken."""
        assert self._start is not None
        if canonical_address(step.url) in self._addresses:
            return False
        if self._is_an_item(step.url):
            self._others = True
            return False
        if not self.asked and is_other_site(page.address, step.url):
            self._halt(f"{step.url}, the next page, is on another site" if leads_on(page, step.url) else "")
            return False
        if fault := await open_next(self.state, step.url):
            self._halt(fault)
            return False
        self._inner = None
        after = await read_ways_on(self.state.page, self.asked)
        goes_on = bool(self.asked) or goes_on_with(self._start, page, after, step.url)
        if not is_own:
            self._halt(f"{step.url}, the next page, may go on with the list" if goes_on else "")
        if not (goes_on and is_own):
            await self.state.page.goto(page.address)  # what ends here is the first list, on its own page
            if leads_on(page, step.url):
                self._halt(f"{step.url}, the next page, shows {after.title or after.heading!r} instead of the list")
            return False
        part = await self.read(self.state)
        if part.records and await self._rest():
            part = await self.read(self.state)
        if self._take(part):
            return True
        self._halt(self._nothing_there(part, after, step.url))
        return False

    def _nothing_there(self, part: Extraction, after: ListPage, url: str) -> str:
        """Why a next page without further records is not the list's end; "" where it says or shows that it is."""
        if not part.records:
            return "" if part.empty else f"{url}, the next page, shows no records"
        step = requested_step(after, self.asked) if self.asked else next_step(after, None)
        goes_on = step is not None and canonical_address(step.url) not in {*self._addresses, after.key}
        return f"{url}, the next page, shows the same records again" if goes_on else ""

    async def _rest(self) -> bool:
        """Waits for rows that the page says are coming; False where it says nothing of the kind."""
        return await self._row_wait.wait(self.state.page, texts_of(self.records))

    def _is_an_item(self, url: str) -> bool:
        """Return whether the next page is one of the loop's values: then another session reads it."""
        loop = self.state.spec.loop
        return self.state.item is not None and loop is not None and url in (loop.values or ())

    async def _larger_page(self, page: ListPage) -> bool:
        """Opens the list with more records on its page, where it is said to be short and such a link is there."""
        if not self._short or self.pages > 1:
            return False
        url = larger_page(page, len(self.records))
        if not url:
            return False
        if fault := await open_next(self.state, url):
            self._halt(fault)
            return False
        part = await self.read(self.state)
        if len(part.records) <= len(self.records):
            return False
        self.records, self._page, self.pages = [], (), self.pages + 1
        return self._take(part)

    async def _scroll(self, page: ListPage) -> bool:
        """Scrolls to the end of a page that may load more: one that is said to be short, or does not say its size."""
        if not page.scripted or (self._short and not page.scrolls):
            return False
        if not self._short and self._inner is not None and not self._inner.drawn:
            return False
        before = await read_list_end(self.state.page)
        can_scroll = page.scrolls or self._inner is not None
        rests = not self._grew and not end_line(before.text)
        end = await EndOfPage.of(self.state.page, self.held, can_scroll=can_scroll, rests=rests)
        if self._short:  # some pages listen to the wheel alone
            action = Action("scroll", {"dx": 0, "dy": page.height}, "further records may load")
            if (await self.state.turn_page(action)).error is not None:
                return False
        else:
            await end.scroll(self._inner.region if self._inner is not None else "")
        while await end.changes() or await self._rest():
            part = await self.read(self.state)
            self.held = end.held
            if not self._short and further(self._page, part.records) is None:
                self.why = _IN_SIGHT
                return False
            count = len(self.records)
            if self._take(part):
                self._grew = True
                self._batches.append(len(self.records) - count)
                return True
        after = await read_list_end(self.state.page)
        cut = after.cut_by(texts_of(self.records))
        self._halt(end.why or cut or unshown_end(self._batches, before, after))
        return False

    async def _longer_page(self, page: ListPage) -> bool:
        """Opens the page that a link called "more" leads to, where it shows these records and further ones."""
        url = "" if self._grew else longer_page(page, self._addresses)
        if not url:
            return False
        self._addresses.add(canonical_address(url))
        if fault := await open_next(self.state, url):
            self._halt(fault)
            return False
        after = await read_ways_on(self.state.page, None)
        part = await self.read(self.state) if same_list(page, after) else None
        if part is not None and further(self._page, part.records):
            return self._take(part)
        await self.state.page.goto(page.address)
        return False

    async def _take_changed(self, looks: int = 1) -> bool:
        """Reads what an action brought; waits for it, and looks again, where it is not there yet."""
        self._at_rest = await self.state.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)
        await self._rest()
        if self._inner is not None:
            await self._inner.to_top(self.state)
        part = await self.read(self.state)
        for _ in range(looks):
            if value_texts(part.records) not in self._readings:
                break
            await wait_for_change(self.state.page, limit_s=_CHANGE_S)
            self._at_rest = await self.state.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)
            await self._rest()
            part = await self.read(self.state)
        self._looked = part
        return self._take(part)

    def _take_rows(self, part: Extraction) -> bool:
        """Adds the records of rows that came into sight; False when there are none."""
        before, new = Counter(self._of_page), []
        for record, text in zip(part.records, value_texts(part.records), strict=True):
            if before[text] > 0:
                before[text] -= 1
            else:
                new.append(record)
        self.records += new
        self._of_page |= Counter(value_texts(part.records))
        self._part = part
        return bool(new)

    def _join(self, records: Sequence[Record], texts: Sequence[str]) -> None:
        """Puts records behind the others; of a page that was turned, none that the page before ended with.

        Args:
            texts: what tells the records of a turned page apart; empty for rows that were added to the open page.
        """
        again = repeated_at_seam(value_texts(self._page), texts)
        if again:
            self._again.append((len(self.records), records[:again]))
            self._shifted = self._shifted or shift_message(again, self.pages + 1)
        self.records += records[again:]

    def _keep_twins(self, shown: int | None) -> None:
        """Gives back the records that stood at a seam twice, where the page's own count says that each is its own."""
        left_out = sum(len(records) for _, records in self._again)
        if left_out and len(self.records) + left_out == shown:
            for place, records in reversed(self._again):
                self.records[place:place] = records
            self._shifted = ""

    def _take(self, part: Extraction) -> bool:
        """Adds the records that are new; False when there are none."""
        texts = value_texts(part.records)
        if not texts or texts in self._readings:
            return False
        self._readings.add(texts)
        # A page that grew shows the earlier ones still; one that was turned shows others, perhaps with equal values.
        new = further(self._page, part.records) if len(part.records) > len(self._page) else None
        self._join(part.records if new is None else new, texts if new is None else ())
        self._page, self._part, self._last_shown = part.records, part, part.shown
        self._of_page, self._scrolled = Counter(texts), False
        if part.is_cut:
            self._cut, self.why = True, self.why or part.why
        self._halted = ""
        self.pages += 1
        return True
