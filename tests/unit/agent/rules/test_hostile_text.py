"""Texts of a page that are meant to keep its reader busy: each is read in a time that grows with its length."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from shoal.agent.read.grounding.written_values import dates_in, numbers_in, quantities_in
from shoal.agent.read.values.currencies import read_currency
from shoal.agent.read.values.numbers import read_rating

LENGTH = 200_000
TEXTS = ["1", "1,", "1.", "111 ", "1 ", "12 of ", "1-", "1/", "€ ", "a ", "1 EUR ", "-"]
READERS: list[Callable[[str], object]] = [
    read_rating,
    read_currency,
    lambda text: list(quantities_in(text)),
    lambda text: list(numbers_in(text)),
    lambda text: list(dates_in(text)),
]
NAMES = ["rating", "currency", "quantities", "numbers", "dates"]


@pytest.mark.parametrize("read", READERS, ids=NAMES)
@pytest.mark.parametrize("again", TEXTS)
def test_no_text_keeps_its_reader_busy(read: Callable[[str], object], again: str) -> None:
    text = again * (LENGTH // len(again))
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 2.0


def test_quantities_are_found_where_numbers_stand_beside_each_other() -> None:
    found = quantities_in("5 10 kg, 1.5 kg and 1 234 567 g, x5cm, 1,234.5 m")
    assert [one.readings for one in found] == [
        frozenset({("mass", 10_000.0)}),
        frozenset({("mass", 1_500.0)}),
        frozenset({("mass", 1_234_567.0)}),
        frozenset({("length", 0.05)}),
        frozenset({("length", 1_234.5)}),
    ]
