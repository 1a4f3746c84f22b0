"""Looking values up in what a page shows."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.read.grounding.page_text import PageText
from tests.unit.agent.model.pages import el, link, page, text

SHOWN = PageText(
    [
        page(
            text("Desk  Lamp “Ada”"),
            text("EUR 1.234,50 incl. tax, 12 of 3 456 left, -5 °C, 10 20"),
            text("Delivered on 22. November 2026"),
            text("Posted Mar 4, 2025 and 05/06/2024"),
            text("Rated 4.5/5 (1,234 votes)"),
            link("1", "Details", "../p/1#top"),
            el("2", "img", attributes={"alt": "a red lamp", "src": "/i/1.png"}),
            el("3", "select", options=(("Blue", "b", False),)),
            el("4", "input", attributes={"value": "typed", "href": "http://[broken"}),
            text("half"),
            text("way"),
        )
    ]
)


@pytest.mark.parametrize(
    "value",
    [
        "Desk Lamp \"ada\"", "desk lamp", "lamp", "Blue", "typed", "a red lamp", "half way",
        1234.5, 1234, 12, 3456, -5, 10, 20, 4.5, 5,
        "2026-11-22", "2025-03-04", "2024-06-05", "2024-05-06", "2026-11-22T10:00:00Z",
        "https://shop.example/p/1", "https://shop.example/i/1.png", "https://shop.example/list",
        ["lamp", "Blue"], {"a": "lamp", "n": 12},
    ],
)  # fmt: skip
def test_what_the_page_shows_is_found(value: Any) -> None:
    where = SHOWN.find(value)
    assert where
    assert len(where) <= 121


@pytest.mark.parametrize(
    "value",
    [
        "Floor lamp", "amp", "Des", "", "   ", None, True, False, 99, 1234.51, 0, 1020, 1e308,
        "2026-11-23", "2026-13-45", "https://shop.example/p/2", ["lamp", "no"], {"n": 99}, [], {},
    ],
)  # fmt: skip
def test_what_the_page_does_not_show_is_not(value: Any) -> None:
    assert SHOWN.find(value) is None


def test_the_whole_text_of_an_element_is_named_rather_than_its_surroundings() -> None:
    assert SHOWN.find("Blue") == "Blue"
    assert "Delivered on 22. November 2026".casefold() in str(SHOWN.find("2026-11-22")).casefold()


def test_sources_name_each_field() -> None:
    sources = SHOWN.sources({"name": "Lamp", "price": 7, "gone": None}, "model")
    assert {name: source.confirmed for name, source in sources.items()} == {"name": True, "price": False}
    assert sources["price"].where == ""
    assert SHOWN.sources(["no", "object"], "model") == {}


@given(st.text(), st.text() | st.integers() | st.floats(allow_nan=False))
def test_any_page_and_any_value(words: str, value: Any) -> None:
    shown = PageText([page(text(words), el("1", "a", words, attributes={"href": words}))])
    found = shown.find(value)
    assert found is None or isinstance(found, str)


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_a_number_is_found_however_it_is_written(number: int) -> None:
    for written in (f"{number}", f"{number:,}", f"{number:,}".replace(",", "."), f"{number:,}".replace(",", " ")):
        assert PageText([page(text(f"It is {written} today"))]).find(number), written


def test_a_long_text_of_numbers_is_read_once() -> None:
    shown = PageText([page(text(" ".join(f"a {n}" for n in range(100_000, 160_000))))])
    began = time.process_time()
    assert (shown.find(159_999) or "").endswith("a 159998 a 159999")
    assert time.process_time() - began < 3
