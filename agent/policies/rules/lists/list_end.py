"""Signs that the list of a page may go on after its last row: a failed request, rows that still load, words."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from shoal.agent.browser import Context
from shoal.agent.errors import BrowserError
from shoal.agent.policies.rules.lists.onward import is_page_of
from shoal.agent.policies.rules.page_changes import wait_for_change
from shoal.agent.read.grounding.part_claims import LOADING, cut_line, failure_line, loading_line, page_number_line
from shoal.agent.read.word_lists.page_words import RETRY_WORDS
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json
from shoal.agent.support.web_addresses import address_parts, clipped_address, same_site

LIST_END_JS = (Path(__file__).parent / "list_end.js").read_text(encoding="utf-8")

_COMING_S = 8.0
"""Seconds that rows may take which the page says are coming."""
_LOOK_S = 0.4
_BUSY = 429
_GONE = (404, 410)


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the page's scripts, as it ended last."""

    url: str
    status: int  # HTTP status; 0 where no answer came, where it was given up, or where another site does not tell

    @property
    def failed(self) -> bool:
        """Return whether nothing usable came."""
        return self.status == 0 or self.status >= 400

    def __str__(self) -> str:
        ended = f"answered {self.status}" if self.status else "failed"
        return f"the page's own request for {clipped_address(self.url)} {ended}"


@dataclass(frozen=True, slots=True)
class ListEnd:
    """A page, looked at once the last of its list was read."""

    url: str
    title: str
    text: str  # all that is in sight or could be scrolled to
    waits: str  # what says that content is still coming, in words; "" when nothing does
    retry: str  # the name of a button that loads again; "" when there is none
    requests: tuple[Request, ...]  # of its scripts, each address once

    @classmethod
    def of(cls, answer: Mapping[str, Json]) -> Self:
        """The page that the script sent."""
        # A request that was repeated counts as it ended last. jQuery numbers each with "_" to get past the cache.
        last = {_without_number(str(url)): Request(str(url), int(status)) for url, status in answer["requests"]}
        text, title, waits = str(answer["text"]), str(answer["title"]), str(answer["waits"])
        return cls(str(answer["url"]), title, text, waits, str(answer["retry"]), tuple(last.values()))

    @property
    def failed(self) -> frozenset[Request]:
        """The requests that brought nothing, whatever they were for."""
        return frozenset(request for request in self.requests if request.failed)

    def coming(self, known: Collection[str] = ()) -> str:
        """Return what says that rows are still coming, in words; "" when nothing does. `known`: as below."""
        line = loading_line(self.text, {*known, self.title})
        return self.waits or (f"the text {line!r}" if line else "")

    def cut_by(self, known: Collection[str] = ()) -> str:
        """Return what says that there may be more than was read, in words;
        "" when nothing does.

        Args:
            known: texts of the records: what one of them says is not said of the list.
        """
        if line := failure_line(self.text, known) or cut_line(self.text, known):
            return f"the page says {line!r}"
        if request := next((request for request in self.requests if self._lacks(request)), None):
            return str(request)
        if coming := self.coming(known):
            return f"the page still shows {coming}"
        if self.retry:
            return f"the page offers {self.retry!r}"
        line = page_number_line(self.text, known)
        return f"the page says {line!r}, and no way to the next page could be followed" if line else ""

    def _lacks(self, request: Request) -> bool:
        """Return whether what the request did not bring may be rows of the list.

        A site's server error may be that. A site refuses a visitor without a login the data of an account, which is no
        part of a list, and scripts give up requests whose answer they no longer need: such requests
        count where another page of the same was answered.
        """
        if not request.failed or not same_site(self.url, request.url):
            return False
        if request.status >= 500 or request.status == _BUSY:
            return True
        pages = [other for other in self.requests if not other.failed and is_page_of(other.url, request.url)]
        if request.status in _GONE:  # a number at the end of a path is as often one thing's as one page's
            pages = [other for other in pages if address_parts(other.url).path == address_parts(request.url).path]
        return bool(pages)


async def read_list_end(page: Context) -> ListEnd:
    """Return what the open page says of the end of its list, in one call;
    a page that takes no scripts says nothing.

    Raises:
        BrowserError: the page answered something else.
    """
    answer = await page.read(LIST_END_JS, {"retry": list(RETRY_WORDS), "loading": LOADING})
    parsed = readable_json(answer) if isinstance(answer, str) else answer
    if parsed is None:
        return ListEnd(page.url, "", "", "", "", ())
    if not isinstance(parsed, Mapping):
        raise BrowserError("the page answered nothing of its list")
    return ListEnd.of(parsed)


@dataclass(slots=True)
class RowWait:
    """Waits for rows of a list that its page says are coming."""

    _in_vain: bool = False  # what the page says is coming does not come

    async def wait(self, page: Context, known: Collection[str] = ()) -> bool:
        """Waits some seconds at most, and not again after a wait in vain; False where nothing was waited for."""
        if self._in_vain:
            return False
        end = await read_list_end(page)
        coming = bool(end.coming(known))
        deadline = time.monotonic() + _COMING_S
        while end.coming(known) and time.monotonic() < deadline:
            await wait_for_change(page, limit_s=_LOOK_S)
            end = await read_list_end(page)
        self._in_vain = bool(end.coming(known))
        return coming


def _without_number(url: str) -> str:
    head, mark, query = url.partition("?")
    return head + mark + "&".join(part for part in query.split("&") if not part.startswith("_="))
