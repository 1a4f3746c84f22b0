"""Dates, numbers and quantities are compared by what they say, never by how they are written."""

from __future__ import annotations

from datetime import date

import pytest

from shoal.agent.policies.model.checks.evidence import allowed_values
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.read.grounding.written_values import dates_in, numbers_in, quantities_in
from shoal.agent.spec import JobSpec
from tests.unit.agent.model.pages import URL, page, scene_of, text

DAY = date(2024, 3, 14)


@pytest.mark.parametrize(
    "written",
    [
        *(
            "14 March 2024",
            "March 14, 2024",
            "14. März 2024",
            "14 mars 2024",
            "14 de marzo de 2024",
            "14th of March 2024",
        ),
        *("2024-03-14", "14.03.2024", "14/3/2024", "03/14/2024", "14-Mar-2024", "2024/03/14", "14.3.24"),
    ],
)
def test_a_day_is_one_day_in_every_notation(written: str) -> None:
    found = list(dates_in(f"on {written}, at noon"))
    assert [DAY in one.readings for one in found] == [True], found


@pytest.mark.parametrize("words", ["Order 2024-033", "version 1.2.3", "192.168.10.12", "31.02.2024", "in March 2024"])
def test_what_is_no_day_is_none(words: str) -> None:
    assert list(dates_in(words)) == []


@pytest.mark.parametrize(
    ("written", "number"), [("1.299,00", 1299), ("1,299.00", 1299), ("1 299", 1299), ("12.5", 12.5), ("-4", -4)]
)
def test_a_number_is_one_number_in_every_notation(written: str, number: float) -> None:
    assert any(number in one.readings for one in numbers_in(f"it is {written} now"))


@pytest.mark.parametrize(
    ("one", "other"), [("1.5 kg", "1500 g"), ("90 min", "1.5 hours"), ("2 km", "2,000 m"), ("0.5 l", "50 cl")]
)
def test_an_amount_is_one_amount_in_every_unit(one: str, other: str) -> None:
    said, meant = (next(iter(quantities_in(text))).readings for text in (one, other))
    assert said & meant


GOAL = "Book a table for 14 March 2024, for 1.5 hours, at most 1,299.00 EUR; code AB-12"


@pytest.mark.parametrize(
    "typed", ["2024-03-14", "03/14/2024", "14.03.2024", "1299", "1.299,00", "90 min", "ab12", "Table, 14.3.2024"]
)
def test_a_value_in_another_notation_is_given(typed: str) -> None:
    state = scene_of(page(text("x")), JobSpec(url=URL, goal=GOAL))
    assert allowed_values(state, PageText([])).gives(typed)


@pytest.mark.parametrize("typed", ["2024-03-15", "15.03.2024", "1399", "95 min", "2023-03-14", "zz99"])
def test_an_invented_value_is_not(typed: str) -> None:
    state = scene_of(page(text("x")), JobSpec(url=URL, goal=GOAL))
    assert not allowed_values(state, PageText([])).gives(typed)


def test_pages_of_earlier_steps_are_known() -> None:
    state = scene_of(page(text("x")), JobSpec(url=URL, goal="Send the parcel"))
    state.pages.add(page(text("Tracking: QX 4711 Ravensburg"), url=f"{URL}/parcel"))
    assert allowed_values(state, PageText([])).gives("QX4711 Ravensburg")
    assert not allowed_values(state, PageText([])).gives("QX4712 Tettnang")
