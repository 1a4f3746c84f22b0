"""Lists that grow: while their page is scrolled, while it still loads, or on a page that shows more of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shoal.agent.browser import Context
from shoal.agent.policies.rules.lists.list_page import ListPage
from shoal.agent.read.values.phrases import squash
from shoal.agent.read.word_lists.page_words import MORE_LINKS, MORE_WORDS
from shoal.agent.support.web_addresses import canonical_address, page_address
from shoal.agent.types import Record

_STIR_S = 0.6  # a script that watches the scrolling asks for more within this time
_LOAD_S = 5.0  # for what it asks for
_TELLING = 5  # fewer values are all different by chance
_MORE = frozenset(squash(word) for word in (*MORE_WORDS, *MORE_LINKS))
_EXTENT_JS = """
() => {
  const elements = document.getElementsByTagName('*').length;
  const text = document.body ? document.body.textContent.length : 0;
  return [elements, text, document.documentElement.scrollHeight].join(' ');
}
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
    """How much the page holds; it differs once the page shows other rows."""
    return str(await page.read(_EXTENT_JS))


async def scroll_to_end(page: Context, region: str = "") -> None:
    """Looks at the end of the page, and of a region of it, and waits for what its scripts bring there.

    It is no action: nothing is pressed, and a page that is only read stays in the context that reads it.
    """
    await page.read(_TO_END_JS, region)
    await page.settle(quiet_s=_STIR_S, budget_s=_LOAD_S)


def longer_page(page: ListPage, opened: set[str]) -> str:
    """The address of the one link that is called "more"; "" where there is none, or several lead to different pages.

    Args:
        opened: the keys of pages that are known.
    """
    links = [control.link for control in page.usable_controls if control.link and squash(control.text) in _MORE]
    pages = {canonical_address(link): page_address(link) for link in links}
    return next(iter(pages.values())) if len(pages) == 1 and not pages.keys() & opened else ""


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
    """Whether a field that tells the rows from each other has the same values in the same order."""
    if len(before) < _TELLING:
        return False
    for name in before[0].value:
        values = [repr(record.value.get(name)) for record in before]
        if len({*values}) == len(values) and values == [repr(record.value.get(name)) for record in now[: len(before)]]:
            return True
    return False
