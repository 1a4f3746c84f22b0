"""Places of fields on a picture: none that is in doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.sessions.field_places import FieldPlaces, with_places
from shoal.agent.support.json_value import Json
from shoal.agent.types import Box, FieldSource, Record, RecordPicture

WINDOW = Box(0, 40, 1280, 800)
SOURCE = FieldSource("given", "p.price", True)


def seen(text: str, box: tuple[float, ...] = (10, 60, 100, 20), **attributes: str) -> FieldPlaces:
    place: dict[str, Any] = {"box": list(box), "text": text, "attributes": list(attributes.items())}
    return FieldPlaces(WINDOW, {"p.price": place})


def placed(value: Json, before: FieldPlaces, after: FieldPlaces | None = None) -> Record:
    (record,) = with_places([Record({"price": value}, {"price": SOURCE})], before, after or before, "ab")
    return record


@pytest.mark.parametrize(
    ("value", "place", "known"),
    [
        (1299.5, seen("1.299,50 €"), True),
        (1299.5, seen("1.399,50 €"), False),
        ("Oslo", seen("In  OSLO"), True),
        ("Oslo", seen("Osloer Str."), False),
        ("2026-05-03", seen("3 May 2026"), True),
        ("https://x.example/a.jpg", seen("", src="https://x.example/a.jpg"), True),
        (True, seen("anything"), True),
        (None, seen("anything"), False),
    ],
)
def test_an_element_is_a_field_s_place_where_it_states_the_value(value: Json, place: FieldPlaces, known: bool) -> None:
    record = placed(value, place)
    assert (record.sources["price"].box == Box(10, 60, 100, 20)) is known
    assert record.picture == RecordPicture("ab", WINDOW)


def test_what_moved_while_the_picture_was_taken_has_no_place() -> None:
    record = placed(7, seen("7"), seen("7", (10, 90, 100, 20)))
    assert record.sources["price"].box is None and record.picture is not None
    assert placed(7, seen("7"), FieldPlaces(WINDOW, {})).sources["price"].box is None
    scrolled = replace(seen("7"), shows=Box(0, 0, 1280, 800))
    assert placed(7, seen("7"), scrolled).picture is None, "the picture may show either part of the page"


def test_records_beyond_the_first_stay_as_they_are() -> None:
    records = [Record({"price": n}, {"price": SOURCE}) for n in range(70)]
    told = with_places(records, seen("7"), seen("7"), "ab")
    assert [record.value for record in told] == [record.value for record in records]
    assert [n for n, record in enumerate(told) if record.sources["price"].box is not None] == [7]
    assert told[59].picture is not None and told[60].picture is None
