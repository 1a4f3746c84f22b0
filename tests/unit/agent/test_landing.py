"""Headers of an answer about coming back."""

from __future__ import annotations

import email.utils
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.chromium.landing import landing_from

YEAR = 31_536_000.0


def wait(header: str, **more: str) -> float | None:
    return landing_from("http://a.example/", 503, {"retry-after": header, **more}).retry_after_s


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7), (" 7 ", 7), ("²", None), ("-3", None), ("9" * 400, YEAR), ("soon", None)]
)
def test_seconds(header: str, seconds: float | None) -> None:
    assert wait(header) == seconds


def test_dates() -> None:
    told = wait(email.utils.formatdate(time.time() + 60, usegmt=True))
    assert told is not None
    assert 57 < told <= 60
    assert wait("Mon, 01 Jan 2001 00:00:00 GMT") == 0
    assert wait("Fri, 31 Dec 9999 23:59:59 GMT") == YEAR


@pytest.mark.parametrize("ahead_s", [600, -600])
def test_a_date_counts_from_the_server_s_own_date_and_not_from_our_clock(ahead_s: float) -> None:
    there = time.time() + ahead_s
    told = wait(email.utils.formatdate(there + 60, usegmt=True), date=email.utils.formatdate(there, usegmt=True))
    assert told == 60
    assert wait(email.utils.formatdate(there - 5, usegmt=True), date=email.utils.formatdate(there, usegmt=True)) == 0


@pytest.mark.parametrize("date", ["", "today", "9" * 400])
def test_where_the_server_s_date_is_none_our_clock_has_to_do(date: str) -> None:
    told = wait(email.utils.formatdate(time.time() + 60, usegmt=True), date=date)
    assert told is not None and 57 < told <= 60


@pytest.mark.parametrize(
    ("url", "header", "egress"),
    [
        ("http://a.example/", "refused", "refused"),
        ("http://a.example/", "nonsense", ""),
        ("https://a.example/", "refused", ""),  # the filter passes https on unread: the site has written this
    ],
)
def test_an_answer_of_the_egress_filter_is_told_from_the_sites(url: str, header: str, egress: str) -> None:
    assert landing_from(url, 403, {"x-shoal-egress": header}).egress == egress


@given(st.one_of(st.text(max_size=20), st.text("0123456789 ,:GMTMonJan-+²", max_size=20)))
def test_whatever_a_server_says_it_is_a_time_to_wait_or_none(header: str) -> None:
    told = wait(header)
    assert told is None or (math.isfinite(told) and 0 <= told <= YEAR)
