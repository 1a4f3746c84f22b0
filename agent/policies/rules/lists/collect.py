"""The values of a loop: links or texts, page after page, in page order, none twice."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from shoal.agent.browser import Context
from shoal.agent.errors import BadSelector
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.lists.embedded import find_embedded, open_embedded
from shoal.agent.policies.rules.lists.empty_list import states_empty_list
from shoal.agent.policies.rules.lists.growing import EndOfPage, extent, longer_page, unshown_end
from shoal.agent.policies.rules.lists.halting import halted
from shoal.agent.policies.rules.lists.list_end import RowWait, read_list_end
from shoal.agent.policies.rules.lists.list_page import read_list_page
from shoal.agent.policies.rules.lists.onward import (
    Onward,
    certainly_css,
    goes_on_with,
    leads_on,
    next_step,
    open_next,
    press,
    same_list,
)
from shoal.agent.policies.rules.lists.seams import repeated_at_seam, shift_message
from shoal.agent.policies.rules.page_changes import wait_for_change
from shoal.agent.policies.rules.planning import is_address
from shoal.agent.read.grounding.claims import stated_count, stated_part
from shoal.agent.read.grounding.part_claims import failure_line
from shoal.agent.read.links.choosing import choose_group, content_words, distinct
from shoal.agent.read.links.link_groups import LinkGroup
from shoal.agent.read.links.list_page import ListPage
from shoal.agent.read.links.page_links import ListRow
from shoal.agent.read.values.phrases import NEUTRAL_WORDS, phrase, squash
from shoal.agent.spec import LoopSpec
from shoal.agent.support.sites.sites import is_other_site
from shoal.agent.support.web_addresses import canonical_address, link_key
from shoal.agent.types import Action, LoopItem

_MEANT_AS_CSS = re.compile(r"[\[\]>{}]|^\s*[.#][A-Za-z_]|:[a-z-]+\(")
"""Words do not contain these signs: text that has them and is no CSS is CSS with a fault."""
_SETTLE_S = 5.0  # for what scripts still bring
_QUIET_S = 0.3
_CHANGE_S = 1.5  # until a page that was scrolled or pressed begins to show more


@dataclass(slots=True)
class Collector:
    """One collection: where it stands and what it has seen."""

    state: SessionState
    loop: LoopSpec
    _seen: set[str] = field(default_factory=set)
    _texts: set[str] = field(default_factory=set)  # of the items
    _pages: set[str] = field(default_factory=set)
    _count: int = 0
    _group: str = ""  # the group that the first page settled on
    _astray: set[str] = field(default_factory=set)  # links that lead off the web, as the page writes them
    _first: ListPage | None = None  # the first page
    _address: str = ""  # of the page that was looked at last
    _turns: int = 0  # how often scripts turned it, or made it grow, under that address
    _rows_there: int = 0  # in the group of the page that was looked at last
    _rows_seen: int = 0  # over all pages, items that are told twice included
    _stated: int | None = None  # how many items the first page says that there are
    _grew: bool = False  # scrolling brought further items, so a link to more of them brings no others
    _batches: list[int] = field(default_factory=list)  # how many items each look at the list brought
    _unshown: str = ""  # why the end of a list that grows was not seen
    _row_wait: RowWait = field(default_factory=RowWait)
    _is_next: bool = False  # the page was opened by a link whose address numbers the pages of the list
    _at_rest: bool = True  # the requests of the last action ended
    _turned: bool = False  # a button brought further items: it is the list's own
    _paged: bool = False  # a link to a next page was followed: the list has pages and does not grow
    _before: ListPage | None = None  # the page that was read last
    _asked_for: str = ""  # the link that led to the page that is open
    _keys: list[str] = field(default_factory=list)  # of the items of the page that was read last
    _shifted: str = ""  # why items may be missing that came in while the list was paged

    async def items(self) -> AsyncIterator[LoopItem]:
        """The items, page after page, until nothing new comes or a limit is reached."""
        source = self.loop.source
        if source is None:
            for item in self._value_items():
                yield item
            return
        for number in range(1, source.max_pages + 1):
            page = await self._read_page()
            if number == 1 and not self._rows(page):
                page = await self._embedded_page() or page
            if self._is_foreign(page):
                if self._is_next:
                    self.state.cut = f"{page.address}, the next page, shows {page.title or page.heading!r}"
                return
            if self._is_next and not self._rows(page) and not await states_empty_list(self.state):
                self.state.cut = f"{page.address}, the next page, shows no items"
            self._pages.add(page.key)
            # A page that scripts turn mostly keeps its address: its rows are found again by turning it as often.
            address = page.url.rstrip("#")
            same = number > 1 and address == self._address
            self._turns, self._address = self._turns + 1 if same else 0, address
            self._note_shift(page, number)
            fresh = list(self._fresh(page))
            self._batches.append(len(fresh))
            self._note_count(page)
            for item in fresh:
                yield item
            if self._full:
                return
            failed = failure_line(page.text, {row.text for row in self._rows(page)})
            if failed:
                self.state.cut = f"{page.address} says {failed!r}"
            if page.cut:
                self.state.cut = f"{page.address} shows more than {page.cut:,} things; the rest was not read"
            if number == source.max_pages:
                if await self._goes_on(page, bool(fresh)):
                    self.state.cut_after(number)
                return
            if not await self._go_on(page, bool(fresh)):
                await self._note_end()
                return

    async def _note_end(self) -> None:
        """Keeps what the page says of there being more than was collected, where its own count does not settle that."""
        if self.state.cut or (self._stated is not None and self.state.listed is None):
            return
        end = await read_list_end(self.state.page)
        self.state.cut = end.cut_by(self._texts) or self._shifted or self._unshown

    def _is_foreign(self, page: ListPage) -> bool:
        """Return whether the next page that was opened shows another list.
        The caller's own `next` is taken at its word.
        """
        first, before, self._before = self._first, self._before, page
        if first is None or before is None:
            self._first = page
            return False
        source = self.loop.source
        own = source is not None and source.next is not None
        return self._paged and not own and not goes_on_with(first, before, page, self._asked_for)

    def _note_shift(self, page: ListPage, number: int) -> None:
        """Keeps that a page that was turned to begins with the items that the page before ended with."""
        keys = [self._key(row) for row in distinct(self._rows(page), self.loop.is_link)]
        again = repeated_at_seam(self._keys, keys)
        if again:
            self._shifted = self._shifted or shift_message(again, number)
        self._keys = keys

    def _note_count(self, page: ListPage) -> None:
        """Keeps how many items the list says that it has, as long as fewer were seen."""
        rows = len(page.matched or ()) or self._rows_there
        self._rows_seen = self._rows_seen + rows if self._paged else max(self._rows_seen, rows)
        if page is self._first:
            self._stated = self._stated_by(page.text, rows)
        short = self._stated is not None and self._stated > max(self._rows_seen, self._count)
        self.state.listed = self._stated if short else None

    def _stated_by(self, text: str, rows: int) -> int | None:
        """Return how many items the first page says that there are: of this list, not of another on the page."""
        assert self.loop.source is not None
        part = stated_part(text)
        if part is not None:
            first, last, total = part
            return total if rows == last - first + 1 else None
        asked = content_words(self.loop.source.select)
        return stated_count(text, things=asked) if asked else None

    @property
    def _goal(self) -> str:
        return self.state.spec.goal or ""

    @property
    def _full(self) -> bool:
        return self.loop.max_items is not None and self._count >= self.loop.max_items

    def _value_items(self) -> Iterator[LoopItem]:
        for value in self.loop.values or ():
            if self._full:
                return
            link = self.loop.is_link if self.loop.is_link is not None else is_address(value)
            yield LoopItem(self._count, value, link)
            self._count += 1

    async def _read_page(self) -> ListPage:
        """The page's links; read again once settled when they, or some of them, seem not to be there yet."""
        page = await read_links(self.state.page, self.loop, counts=True)
        there = bool(self._rows(page))
        if not (page.scripted or page.busy or not page.loaded):
            return page
        coming = await self._row_wait.wait(self.state.page, {row.text for row in self._rows(page)})
        if there and not coming:
            return page
        await self.state.page.settle(budget_s=_SETTLE_S)
        return await read_links(self.state.page, self.loop, counts=True)

    async def _embedded_page(self) -> ListPage | None:
        """The links of the frame that a page without any embeds, open in its place; None where it has none of them.

        Texts are looked for on the loop's own page, so they are not taken from elsewhere.
        """
        outer = self.state.page.url
        if self.loop.is_link is False or await states_empty_list(self.state):
            return None
        address = await find_embedded(self.state)
        if not address:
            return None
        if not await open_embedded(self.state, address):
            page = await self._read_page()
            rows = self._rows(page)
            if rows and all(row.link for row in rows):
                return page
        await self.state.page.goto(outer)
        return None

    def _rows(self, page: ListPage) -> Sequence[ListRow]:
        assert self.loop.source is not None
        self._leave_out(page.astray)
        if page.matched:
            return self._on_the_web(page.matched)
        if page.matched is not None and certainly_css(self.loop.source.select):
            return ()  # a selector that finds nothing is no words
        chosen = choose_group(page.groups, self.loop.source.select, self._goal, self._group)
        if chosen is None or not (self._group or self._matches_words(chosen, page)):
            return ()
        self._group = self._group or chosen.kind
        self._leave_out(chosen.astray)
        self._rows_there = chosen.size + len(chosen.astray)
        return chosen.rows

    def _on_the_web(self, rows: Sequence[ListRow]) -> Sequence[ListRow]:
        """The rows without those whose link leads off the web; their texts are items only where texts are asked for."""
        if self.loop.is_link is False:
            return rows
        self._leave_out(row.astray for row in rows if row.astray)
        return [row for row in rows if not row.astray]

    def _leave_out(self, links: Iterable[str]) -> None:
        """Counts links that lead off the web, each once: a list is looked at several times."""
        new = {*links} - self._astray
        self._astray |= new
        self.state.left_out += len(new)

    def _matches_words(self, chosen: LinkGroup, page: ListPage) -> bool:
        """Return whether the words may mean the list that structure chose.
        Where they hardly do, `state.doubt` says so.

        A page about books seldom calls its list "books". But words that stand nowhere on it name nothing there.
        """
        assert self.loop.source is not None
        select = self.loop.source.select
        asked = set(content_words(select)) - NEUTRAL_WORDS
        called = phrase(f"{chosen.heading} {chosen.words} {chosen.caption} {page.about}")
        self.state.doubt = ""
        if not asked or not asked.isdisjoint(called):
            return True
        named = sum(not asked.isdisjoint(phrase(row.text)) for row in chosen.rows)
        if 2 * named >= len(chosen.rows):
            return True
        if not named and not asked & page.heard:
            self.state.doubt = f"nothing there is called {select!r}"
            return False
        taken = f"one of {chosen.size:,} links, such as {chosen.rows[0].text!r}"
        self.state.doubt = f"no list there is called {select!r}; taken was {taken}"
        return True

    def _fresh(self, page: ListPage) -> Iterator[LoopItem]:
        for row in distinct(self._rows(page), self.loop.is_link):
            if self._full:
                return
            link = bool(row.link) and self.loop.is_link is not False
            value = row.link if link else row.text
            key = self._key(row)
            known = not self._seen.isdisjoint({key, canonical_address(row.link) if link else key})
            self._seen.add(key)
            if known or not value:
                continue
            self._texts.add(row.text)
            yield LoopItem(self._count, value, link, row.text, turns=0 if link else self._turns)
            self._count += 1

    # --- to the next page ---------------------------------------------------------------------------

    async def _goes_on(self, page: ListPage, found_new: bool) -> bool:
        """Return whether there are more items. A page that is only linked is not opened for it."""
        assert self.loop.source is not None
        step = next_step(page, self.loop.source.next)
        if step is not None and step.url:
            return canonical_address(step.url) not in self._pages
        return await self._go_on(page, found_new)

    async def _go_on(self, page: ListPage, found_new: bool) -> bool:
        """Moves to more items; False when there are none."""
        assert self.loop.source is not None
        step = next_step(page, self.loop.source.next)
        if step is not None and step.url:
            if canonical_address(step.url) in self._pages:
                return False
            self._is_next, self._asked_for = leads_on(page, step.url), step.url
            if self.loop.source.next is None and is_other_site(page.address, step.url):
                cut = f"{step.url}, the next page, is on another site" if self._is_next else ""
                self.state.cut = self.state.cut or cut
                return False
            if fault := await open_next(self.state, step.url):
                self.state.cut = self.state.cut or fault
                return False
            self._paged = True
            return True
        if not found_new or (step is None and self._paged):
            return False
        if step is not None and not await self._turn(page, step):
            return False
        return step is not None or await self._scroll(page) or await self._longer_page(page)

    async def _turn(self, page: ListPage, step: Onward) -> bool:
        """Presses what leads on; False where that brought no further items, and what keeps it from there is noted."""
        before = await read_list_end(self.state.page)
        if not await press(self.state, step):
            if self._turned or step.select:  # elsewhere a button of that name may be hidden, or another thing's
                self.state.cut = self.state.cut or f"{step.button!r} takes no click after page {self._turns + 1:,}"
            return False
        if await self._something_new():
            self._turned = True
            return True
        own = [self._key(row) for row in self._rows(page)]
        now = [self._key(row) for row in self._rows(await read_links(self.state.page, self.loop))]
        halt = await halted(
            self.state.page,
            step,
            before,
            self._turns + 1,
            known=self._texts,
            lost="" if now == own else "the page shows other or no items after it",
            anew=bool(now) and now != own and self._seen.issuperset(now),
            at_rest=self._at_rest,
            turned=self._turned,
        )
        self.state.cut = self.state.cut or halt.why
        return False

    async def _longer_page(self, page: ListPage) -> bool:
        """Opens the page that a link called "more" leads to; False where it does not show these items and others."""
        url = "" if self._grew else longer_page(page, self._pages)
        if not url:
            return False
        await open_next(self.state, url)
        after = await read_links(self.state.page, self.loop)
        keys = {self._key(row) for row in self._rows(after)}
        if same_list(page, after) and {self._key(row) for row in self._rows(page)} < keys and not keys <= self._seen:
            return True
        await self.state.page.goto(page.address)
        return False

    async def _scroll(self, page: ListPage) -> bool:
        """Scrolls to the end of the page; True when that brought items. A page may fill its window by itself, too."""
        if not page.scripted:
            return False
        before = await read_list_end(self.state.page)
        held = await extent(self.state.page)
        end = await EndOfPage.of(self.state.page, held, can_scroll=page.scrolls)
        if page.scrolls:
            action = Action("scroll", {"dx": 0, "dy": page.height}, "further items may load")
            if (await self.state.turn_page(action)).error is not None:
                return False
        else:
            await end.scroll()
        while not await self._has_new():
            if not (await end.changes() or await self._row_wait.wait(self.state.page, self._texts)):
                after = await read_list_end(self.state.page)
                self._unshown = end.why or (unshown_end(self._batches, before, after) if self._grew else "")
                return False
        await self.state.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)  # the rest of what came with them
        self._grew = True
        return True

    async def _something_new(self) -> bool:
        """Return whether items come that were not there before the last action."""
        if not await self._has_new():
            await wait_for_change(self.state.page, limit_s=_CHANGE_S)
        self._at_rest = await self.state.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)
        return await self._has_new()

    async def _has_new(self) -> bool:
        page = await read_links(self.state.page, self.loop)
        return any(self._key(row) not in self._seen for row in self._rows(page))

    def _key(self, row: ListRow) -> str:
        """By which a row is known to be an item that was seen."""
        link = bool(row.link) and self.loop.is_link is not False
        return link_key(row.link, squash(row.text)) if link else squash(row.text)


async def read_links(page: Context, loop: LoopSpec, *, counts: bool = False) -> ListPage:
    """Return what the page offers to loop over,
    in one call.

    Raises:
        BadSelector: `select` or `next` is meant as CSS and is none: as words it would give other things.
    """
    source = loop.source
    if source is None:
        return await read_list_page(page, counts=counts)
    find = {"select": source.select, **({"next": source.next} if source.next else {})}
    list_page = await read_list_page(page, find, words=content_words(source.select), counts=counts)
    for name in list_page.unread:
        text = str(getattr(source, name))
        if _MEANT_AS_CSS.search(text):
            raise BadSelector(f"loop.from.{name} is no valid CSS selector: {text}", field=f"loop.from.{name}")
    return list_page
