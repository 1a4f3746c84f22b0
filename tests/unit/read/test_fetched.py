"""Which fetched JSON is about the page: what is named as its heading, and borne out by a second value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.browser import FetchedJson
from shoal.agent.read.facts.facts import Facts
from shoal.agent.read.facts.fetched import subject_values
from shoal.agent.read.facts.page_parts import Heading

HEADING = Heading(1, "Blue lamp", "h1", order=1)


def stock(path: str, *objects: dict[str, Any], text: str = "Blue lamp") -> object:
    """Return what the objects say of the stock of the page at `path`; None where they say nothing of it."""
    facts = Facts(f"https://shop.example{path}", headings=[HEADING], plain_text=text)
    answers = [FetchedJson("https://shop.example/api", json.dumps(each)) for each in objects]
    return next((told.value for told in subject_values(answers, facts) if told.path == "stock"), None)


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/lamps/12", {"id": 12}),
        ("/lamps/12/", {"lampNumber": "12"}),
        ("/lamps?page=3&id=12", {"id": 12}),
        ("/#/lamps/12", {"id": 12}),
        ("/lamps/blue-lamp", {"slug": "blue-lamp"}),
        ("/lamps/blue-lamp", {"url": "https://shop.example/lamps/blue-lamp/"}),
        ("/lamps/12", {"path": "/lamps/12"}),
    ],
)
def test_an_object_that_the_address_names_is_about_the_page(path: str, more: dict[str, Any]) -> None:
    assert stock(path, {"name": "Blue lamp", "stock": 7, **more}) == 7


def test_an_object_whose_second_value_the_text_states_is_about_the_page() -> None:
    lamp = {"name": "Blue lamp", "stock": 7, "maker": "Acme Lights"}
    assert stock("/lamps/blue-lamp", lamp, text="Blue lamp by Acme Lights") == 7
    assert stock("/lamps/blue-lamp", {**lamp, "id": 12}, text="Blue lamp by Acme Lights") == 7


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/lamps/blue-lamp", {}),  # the address says the name once more, and nothing else
        ("/lamps/blue-lamp", {"group": "lamp"}),
        ("/lamps/12", {"id": 13, "maker": "Acme Lights"}),
        ("/lamps/12", {"url": "/lamps/13", "maker": "Acme Lights"}),
        ("/lamps/12", {"stock": 12}),  # no number of it
    ],
)
def test_another_object_of_the_same_name_is_not(path: str, more: dict[str, Any]) -> None:
    other = {"name": "Blue lamp", "stock": 7, **more}
    assert stock(path, other, text="Blue lamp by Acme Lights") is None


def test_objects_of_the_page_that_differ_say_nothing() -> None:
    lamp = {"id": 12, "name": "Blue lamp", "stock": 7}
    assert stock("/lamps/12", lamp, lamp) == 7
    assert stock("/lamps/12", lamp, {"more": [{**lamp, "stock": 3}]}) is None
