"""Lists that grow while their page is scrolled: when they have ended, and when that was only not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from shoal.agent.browser import Context
from shoal.agent.policies.rules.lists import growing
from shoal.agent.policies.rules.lists.growing import EndOfPage, unshown_end
from shoal.agent.policies.rules.lists.list_end import ListEnd, Request
from shoal.agent.read.grounding.part_claims import end_line

ROWS = "http://a.example/rows?page="


def end(text: str = "", pages: Sequence[int] = (), status: int = 200) -> ListEnd:
    return ListEnd("http://a.example/", "", text, "", "", tuple(Request(f"{ROWS}{n}", status) for n in pages))


@pytest.mark.parametrize(
    ("batches", "before", "after", "shown"),
    [
        ([20], end(), end(), True),
        ([20, 20], end(), end(), False),
        ([20, 20, 20], end(pages=[1, 2, 3]), end(pages=[1, 2, 3]), False),
        ([20, 20, 7], end(), end(), True),
        ([10, 20], end(), end(), False),
        ([12, 45], end(), end(), True),
        ([20, 20], end(pages=[1, 2]), end(pages=[1, 2, 3]), True),
        ([20, 20], end(), end("Lamps\nNo more results\nImprint"), True),
        ([20, 20], end(), ListEnd("", "", "", "", "", (Request("http://a.example/seen", 200),)), False),
    ],
)
def test_the_end_of_a_list_that_grew_is_seen(batches: list[int], before: ListEnd, after: ListEnd, shown: bool) -> None:
    """By a smaller last batch, an answer without further rows, or words. A list that never grew has no such end."""
    why = unshown_end(batches, before, after)
    assert (why == "") is shown
    assert shown or f"nothing further after {sum(batches)}" in why


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("No more results", True),
        ("There are no more items to show.", True),
        ("You've reached the end of the list", True),
        ("You have reached the end!", True),
        ("That's all folks", True),
        ("All 57 products are shown", True),
        ("Keine weiteren Ergebnisse", True),
        ("End of season sale", False),
        ("No more waiting: order today", False),
        ("All products", False),
    ],
)
def test_words_that_say_that_all_is_shown(line: str, says: bool) -> None:
    assert bool(end_line(f"Lamps\n{line}\nImprint")) is says


class Page:
    """A page at whose end something changes, and requests are under way, look by look."""

    def __init__(self, *looks: tuple[bool, Sequence[str]], before: Sequence[str] = ()) -> None:
        self.looks, self.open, self.seen = list(looks), before, 0

    async def open_requests(self) -> Sequence[str]:
        return self.open

    async def read(self, script: str, arg: Any = None) -> Any:
        if not isinstance(arg, dict):
            return str(self.seen)
        changed, self.open = self.looks[min(self.seen, len(self.looks) - 1)]
        self.seen += 1
        return changed

    async def settle(self, **_: float) -> bool:
        return True


async def looked(page: Page, most: int = 20) -> tuple[list[bool], str]:
    """Return what each wait gave, until one was in vain, and why it was."""
    found = await EndOfPage.of(cast(Context, page), "0", can_scroll=True)
    told = []
    while len(told) < most and (not told or told[-1]):
        told.append(await found.changes())
    return told, found.why


NOTHING = (False, ())
WAITS = (False, (f"{ROWS}2",))


async def test_a_list_has_not_ended_while_a_request_of_the_scrolling_is_open() -> None:
    assert await looked(Page(WAITS, WAITS, WAITS, WAITS, (True, ()), NOTHING)) == ([True, False], "")
    page = Page(WAITS, NOTHING, (True, ()), NOTHING)
    assert await looked(page) == ([True, False], ""), "an answer is there before its rows are drawn"


async def test_a_request_that_was_open_before_is_not_waited_for() -> None:
    page = Page((False, ("http://a.example/poll",)), before=["http://a.example/poll"])
    assert await looked(page) == ([False], "")


async def test_a_request_without_an_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "_LOAD_S", 0.0)
    told, why = await looked(Page(WAITS))
    assert told == [False]
    assert f"{ROWS}2 had no answer" in why


async def test_a_page_that_changes_for_ever_is_not_looked_at_for_ever() -> None:
    told, why = await looked(Page((True, ())))
    assert (told, why) == ([True, True, True, False], "")
