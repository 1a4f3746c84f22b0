"""The pages that a session has looked at, as texts in which values are looked up."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from shoal.agent.grounding.page_text import PageText
from shoal.agent.support.json_value import Json
from shoal.agent.types import Observation

_MOST_PAGES = 40
_MOST_CHARS = 2_000_000
"""Of all pages together; what was seen longest ago goes first."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands."""

    url: str
    where: str  # the page's text around it


class SessionPages:
    """Remembers what pages said; a page that changed is remembered as it was, too."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, str], PageText] = OrderedDict()

    def add(self, seen: Observation) -> PageText:
        """Remembers the page; its text."""
        page = PageText([seen])
        key = (seen.url, page.whole)
        self._pages[key] = page
        self._pages.move_to_end(key)
        while len(self._pages) > _MOST_PAGES or (len(self._pages) > 1 and self._chars() > _MOST_CHARS):
            self._pages.popitem(last=False)
        return page

    def _chars(self) -> int:
        return sum(len(text) for _, text in self._pages)

    @property
    def texts(self) -> tuple[str, ...]:
        """What each page says, in lower case; the newest last."""
        return tuple(text for _, text in self._pages)

    def find(self, value: Json) -> Place | None:
        """The newest page that shows `value`, and where on it."""
        for (url, _), page in reversed(self._pages.items()):
            if (where := page.find(value)) is not None:
                return Place(url, where)
        return None
