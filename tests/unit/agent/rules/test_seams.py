"""Pages of a list and what joins them: records that stand on two pages, and addresses that lead on."""

from __future__ import annotations

import pytest

from shoal.agent.policies.rules.lists.onward import numbers_page
from shoal.agent.policies.rules.lists.seams import repeated_at_seam, shift_message


@pytest.mark.parametrize(
    ("before", "now", "again"),
    [
        ("abcd", "efgh", 0),
        ("abcd", "defg", 1),
        ("abcd", "cdef", 2),
        ("abcd", "cd", 2),
        ("abcd", "abcdef", 0),
        ("abcd", "abcd", 0),
        ("abcd", "dcef", 1),
        ("abcd", "cexf", 0),
        ("abbd", "defg", 0),
        ("abcd", "deff", 0),
        ("a", "ab", 0),
        ("", "ab", 0),
        ("ab", "", 0),
    ],
)
def test_records_that_end_one_page_and_begin_the_next_are_the_same(before: str, now: str, again: int) -> None:
    """A page with two equal records tells nothing: the next may begin with a third. A page that grew is no next."""
    assert repeated_at_seam(tuple(before), tuple(now)) == again


def test_a_shift_is_told_with_its_page() -> None:
    assert "page 3 began with the last 2 records of the page before" in shift_message(2, 3)


@pytest.mark.parametrize(
    ("url", "numbered"),
    [
        ("http://a.example/browse?page=2", True),
        ("http://a.example/browse?q=lamp&offset=20", True),
        ("http://a.example/list?cursor=eyJpZCI6Nn0", True),
        ("http://a.example/archive/page/2/", True),
        ("http://a.example/lamps/seite-3.html", True),
        ("http://a.example/manual/configuration.html", False),
        ("http://a.example/manual/p2", False),
        ("http://a.example/post/2026", False),
    ],
)
def test_an_address_says_that_it_is_one_page_of_several(url: str, numbered: bool) -> None:
    assert numbers_page(url) is numbered
