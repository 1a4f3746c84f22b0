"""Fields matched with the shown places of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.read.facts.facts import Facts
from shoal.agent.read.facts.page_parts import Anchor, LabeledValue, NamedElement
from shoal.agent.read.grounding.claims import stated_count
from shoal.agent.read.grounding.part_claims import failure_line, is_last_page, page_number_line, partial_list_message
from shoal.agent.read.schema import Property, properties_of
from shoal.agent.read.shown.reader import page_fields
from shoal.agent.read.values.phrases import likeness, phrase


def named(css: str, text: str, **more: Any) -> NamedElement:
    return NamedElement("div", css, (), text, (), f".{css}", font_size=16, order=1)._replace(**more)


def pair(label: str, text: str, **more: Any) -> LabeledValue:
    return LabeledValue("table", label, text, "td", order=1)._replace(**more)


def read(properties: dict[str, Any], **facts: Any) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Values, sources, and names of the fields that are not given."""
    asked = properties_of({"type": "object", "properties": properties})
    reader = page_fields(Facts(**{"url": "http://example.test/p", "said_lang": "en", **facts}))
    reader.expect(asked)
    answers = {prop.name: reader.read(prop).filter_by_sureness("likely") for prop in asked}
    given = {name: told for name, told in answers.items() if told.source is not None}
    values = {name: told.value for name, told in given.items()}
    return values, {name: told.source for name, told in given.items()}, [name for name in answers if name not in given]


def test_likeness_of_names() -> None:
    assert likeness(phrase("battery_life_hours"), phrase("Battery life")) >= 0.9
    assert likeness(phrase("price"), phrase("product-price")) > 0.9
    assert likeness(phrase("price"), phrase("old price")) == 0
    assert likeness(phrase("325"), phrase("$1,325.50")) == 0, "a number that stands in a price does not name it"
    assert likeness(phrase("2024"), phrase("Year 2024")) > 0.9
    assert likeness(phrase("price"), phrase("basket total")) == 0
    assert phrase("inStock") == phrase("in-stock") == ("in", "stock")
    assert phrase("Größen") == ("grossen",)


def test_a_page_cannot_fill_the_memory_of_names_by_long_labels() -> None:
    before = likeness.cache_info().currsize  # type: ignore[attr-defined]
    many = [phrase(f"price {' '.join(f'w{i}x{n}' for n in range(30))}") for i in range(50)]
    assert {likeness(phrase("price"), label) for label in many} == {0.3}
    assert likeness.cache_info().currsize == before  # type: ignore[attr-defined]
    assert len(phrase("picture" * 10_000)[0]) == 60


def test_old_prices_and_prices_of_others_are_no_prices() -> None:
    number = {"price": {"type": "number"}}
    assert read(number, named=[named("price", "€5"), named("price", "€9", struck=True)])[0] == {"price": 5}
    assert read(number, named=[named("cart-total", "€9"), named("shipping-price", "€4")])[2] == ["price"]
    assert read(number, named=[named("price", "€9", around="related-items grid")])[2] == ["price"]


def test_two_equally_good_values_are_no_answer_unless_one_is_shown_larger() -> None:
    number = {"price": {"type": "number"}}
    assert read(number, named=[named("price", "€5"), named("price", "€9")])[2] == ["price"]
    assert read(number, named=[named("price", "€5", font_size=28), named("price", "€9")])[0] == {"price": 5}


def test_an_amount_of_money_is_no_code() -> None:
    sku = {"sku": {"type": "string"}}
    for text in ("206,-", "€ 12.50"):
        assert read(sku, named=[named("sku", text)])[0] == {}
    assert read(sku, named=[named("sku", "206-A")])[0] == {"sku": "206-A"}


@pytest.mark.parametrize(
    ("text", "brand"),
    [
        ("More articles of the brand: Panasonic", "Panasonic"),
        ("Brand: Panasonic", "Panasonic"),
        ("Panasonic: the new range", "Panasonic: the new range"),
        ("brand: one: two", "one: two"),
    ],
)
def test_a_label_within_a_text_is_no_part_of_the_value(text: str, brand: str) -> None:
    assert read({"brand": {"type": "string"}}, named=[named("brand", text)])[0] == {"brand": brand}


def test_the_part_that_the_address_names_comes_first() -> None:
    wanted = {"part": {"type": "string"}}
    first = Anchor("part-alpha.one", "alpha.one, the first", "#a", named=True, order=9)
    whole = Anchor("part-alpha", "alpha, the whole", "#b", named=False, order=1)
    assert read(wanted, anchors=[first, whole])[0] == {"part": "alpha.one"}
    first = replace(first, named=False)
    assert read(wanted, anchors=[first, whole])[0] == {"part": "alpha"}
    assert read(wanted, anchors=[replace(first, text="Something else")])[2] == ["part"]


def test_an_unlabelled_line_counts_when_all_such_lines_agree() -> None:
    wanted = {"in_stock": {"type": "boolean"}, "price": {"type": "number"}}
    value, sources, _ = read(wanted, plain_text="A jug\nSold out\n€ 9.00\nMade by hand")
    assert value == {"in_stock": False, "price": 9}
    assert sources["price"].how == "text"
    assert read(wanted, plain_text="€ 9.00\n€ 12.00\nIn stock\nSold out")[2] == ["in_stock", "price"]


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("1–12 of 245", 245),
        ("Treffer 1 bis 20 von 1.204", 1204),
        ("Showing 1 to 10 of 57 entries", 57),
        ("Showing 1 to 10 of 1,057 rows", 1057),
        ("Showing 20 of 60", 60),
        ("1 to 20 of 60\nPage 1 of 3", 60),
        ("1..50 out of 123", 123),
        ("The following 200 pages are in this category, out of 345 total.", 345),
        ("List (57)", 57),
        ("12 items", 12),
        ("Page 1 of 6", None),
        ("4 of 5 stars", None),
        ("10 of 12 in stock", None),
        ("a lamp with 178 reviews, and one with 12 reviews", None),
    ],
)
def test_the_count_that_a_list_shows(text: str, total: int | None) -> None:
    assert stated_count(text) == total


@pytest.mark.parametrize(
    "line",
    [
        "An error happened while fetching the data",
        "Oops! Something went wrong.",
        "Something went wrong. Please try again later.",
        "Failed to load results.",
        "We couldn’t load the list",
        "Data could not be loaded",
        "Fehler beim Laden der Daten",
        "Die Daten konnten nicht geladen werden.",
        "Une erreur est survenue.",
    ],
)
def test_a_page_may_say_that_its_list_could_not_be_loaded(line: str) -> None:
    assert failure_line(f"Staff\n  {line}  \nNext") == line
    assert failure_line(f"Staff\n{line}", {line}) == "", "it is a record's own text"


@pytest.mark.parametrize(
    "line",
    [
        "Failed to load module foo.so at start",
        "What to do when an error occurred while loading data from disk: a guide",
        "The loader raises when data could not be loaded, and goes on.",
        "Errors: 0",
        "Something went wrong with my order",
    ],
)
def test_what_only_speaks_of_failures_is_none(line: str) -> None:
    assert failure_line(f"Staff\n{line}\nNext") == ""


@pytest.mark.parametrize(
    "line",
    [
        "Loading…",
        "Loading more results...",
        "Wird geladen…",
        "Only the first 10 results are shown.",
        "Showing the first 100 rows",
        "The list was truncated.",
        "Results are limited to 100",
        "… and 47 more",
        "and 47 more results",
        "Die ersten 20 Treffer werden angezeigt",
    ],
)
def test_a_page_may_say_that_it_shows_a_part(line: str) -> None:
    assert line in partial_list_message(f"Staff\n{line}\nNext")
    assert partial_list_message(f"Staff\n{line}", {line}) == "", "it is a record's own text"


@pytest.mark.parametrize(
    "line",
    [
        "Loading ramp",
        "Loading and unloading",
        "+3 more",
        "Red, blue and 3 more",
        "The first 10 pages are free",
        "Only 3 items left",
        "More results",
    ],
)
def test_what_only_speaks_of_parts_says_nothing_of_the_list(line: str) -> None:
    assert partial_list_message(f"Staff\n{line}\nNext") == ""


def test_a_page_may_say_which_of_several_it_is() -> None:
    assert page_number_line("Staff\nPage 1 of 6\n") == "Page 1 of 6"
    assert page_number_line("Staff\nSeite 6 von 6\n") == ""
    assert page_number_line("See page 1 of 6 in the manual") == ""
    assert is_last_page("Page 6 / 6") and not is_last_page("Page 1 of 6") and not is_last_page("6 of 6")


@pytest.mark.timeout(10)
@pytest.mark.parametrize("part", [{"$ref": "#"}, {"items": {"$ref": "#"}}, {"anyOf": [{"$ref": "#"}] * 5}])
def test_a_schema_that_refers_to_itself_often_stays_small(part: dict[str, Any]) -> None:
    """Five properties of this kind, eight levels deep, were 400,000 of them, and half a minute of the worker's time."""
    found = properties_of({"type": "object", "properties": {f"p{n}": part for n in range(5)}})
    assert [one.name for one in found] == [f"p{n}" for n in range(5)]
    assert count(found) <= 1_000
    once = properties_of({"properties": {"name": {"type": "string"}, "parent": {"$ref": "#"}}})
    parent = once[1].properties[1]
    assert (parent.name, parent.properties[0].types) == ("parent", {"string"}), "one in itself is read level by level"


def test_a_schema_of_many_properties_has_them_all() -> None:
    assert len(properties_of({"properties": {f"p{n}": {"type": "string"} for n in range(3_000)}})) == 3_000


def count(properties: tuple[Property, ...]) -> int:
    return sum(1 + count(one.properties) + count((one.items,) if one.items else ()) for one in properties)


def test_a_line_that_ends_with_a_colon_names_what_follows_and_is_no_value() -> None:
    wanted = {"changeset": {"type": "string"}}
    value, sources, missing = read(wanted, plain_text="changeset 73:\nc470695b14f0\ndraft")
    assert (value, sources, missing) == ({}, {}, ["changeset"])


def test_a_length_of_time_is_given_in_the_unit_that_is_asked_for() -> None:
    minutes = {"cook_time": {"type": "integer", "description": "minutes"}}
    for said, value in (("1 hour", 60), ("1 hour 30 minutes", 90), ("2 days", 2_880), ("45", 45)):
        assert read(minutes, pairs=[pair("Cook time", said)])[0] == {"cook_time": value}


def test_elements_within_each_other_are_no_entries_of_a_list() -> None:
    wanted = {"ingredients": {"type": "array", "items": {"type": "string"}}}
    first, second = "220 g of fresh home-made dough", "60 g of the very best pizza sauce"
    assert read(wanted, named=[named("ingredient", first), named("ingredient", second)])[0] == {
        "ingredients": [first, second]
    }
    assert read(wanted, named=[named("ingredients", f"{first} {second}"), named("ingredients", first)])[0] == {}


def test_a_code_has_a_figure_unless_a_label_says_so() -> None:
    sku = {"sku": {"type": "string"}}
    assert read(sku, named=[named("sku", "Default Title")])[0] == {}
    chosen = pair("sku", "Default Title", how="control", options=("Default Title",))
    assert read(sku, pairs=[chosen])[0] == {}
    assert read(sku, pairs=[pair("SKU", "ABBEY")])[0] == {"sku": "ABBEY"}
