"""Amounts with a unit, as pages and structured data write them, in the unit that a field asks for."""

from __future__ import annotations

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.policies.rules.fields.list_reading import page_list
from shoal.agent.read.schema import properties_of
from shoal.agent.read.values.quantities import read_quantity
from tests.unit.read.pages import NUMBER, TEXT, URL, record_of


@pytest.mark.parametrize(
    ("text", "unit", "lang", "amount"),
    [
        ("PT1H", "minute", "en", 60),
        ("PT1H30M", "hour", "en", 1.5),
        ("1 hour 30 minutes", "minute", "en", 90),
        ("1 Stunde 30 Minuten", "minute", "de", 90),
        ("1h15", "hour", "fr", 1.25),
        ("1:30 h", "minute", "en", None),
        ("½ hour", "minute", "en", 30),
        ("1 1/2 hours", "minute", "en", 90),
        ("1½ hrs", "minute", "en", 90),
        ("1⅓ hours", "minute", "en", 80),
        ("30-40 minutes", "minute", "en", None),
        ("1 to 2 hours", "minute", "en", None),
        ("3 km", "minute", "en", None),
        ("2 lb 4 oz", "gram", "en", 1020.582831),
        ("300 g", "kilogram", "en", 0.3),
        ("1,5 kg", "gram", "de", 1500),
        ("1.200 g", "kilogram", "de", 1.2),
        ("5 ft 3 in", "centimeter", "en", 160.02),
        ('27"', "centimeter", "en", 68.58),
        ("27 Zoll", "inch", "de", 27),
        ("10 x 20 cm", "centimeter", "en", None),
        ("150 kW", "watt", "en", 150_000),
        ("5 MW", "kilowatt", "en", 5_000),
        ("5 mW", "watt", "en", 0.005),
        ("25 W (max 30 W)", "watt", "en", None),
        ("100 km/h", "kilometer", "en", None),
        ("0.5 l", "milliliter", "en", 500),
        ("2 0/5 g", "gram", "en", None),
        ("2024 3/4 g", "gram", "en", None),
    ],
)
def test_an_amount_is_read_in_the_unit_that_is_asked_for(text: str, unit: str, lang: str, amount: float | None) -> None:
    assert read_quantity(text, unit, lang) == (None if amount is None else pytest.approx(amount, rel=1e-6))


@pytest.mark.parametrize(
    ("name", "subschema", "unit"),
    [
        ("total_time_minutes", {}, "minute"),
        ("weight_kg", {}, "kilogram"),
        ("power_kw", {}, "kilowatt"),
        ("powerKw", {}, "kilowatt"),
        ("height_m", {}, "meter"),
        ("total_time", {"description": "minutes"}, "minute"),
        ("weight", {"description": "Weight in grams."}, "gram"),
        ("weight", {"x-unit": "kg"}, "kilogram"),
        ("price", {"description": "What one item costs"}, None),
        ("m", {}, None),
        ("rating", {}, None),
        ("minutes", {}, "minute"),
        ("power", {"description": "peak power (kW)"}, "kilowatt"),
        ("price_min", {}, None),
        ("salary_min", {}, None),
        ("checked_in", {}, None),
        ("weight_kg_min", {}, "kilogram"),
        ("day", {}, None),
        ("price", {"description": "price in EUR per day"}, None),
        ("price_per_kg", {}, None),
        ("pricePerKg", {}, None),
        ("visits", {"description": "number of visits a day"}, None),
        ("distance", {"description": "the way to the next stop of the second list"}, None),
    ],
)
def test_a_field_states_its_unit(name: str, subschema: dict[str, str], unit: str | None) -> None:
    [prop] = properties_of({"type": "object", "properties": {name: {"type": "number", **subschema}}})
    assert (prop.unit or None) == unit


@pytest.mark.parametrize(
    ("name", "label", "shown", "given"),
    [
        ("prep_time_min", "Prep time", "1 hour", 60),
        ("prep_time_min", "Prep time", "45", 45),
        ("prep_time_min", "Prep time (hours)", "2", 120),
        ("prep_time_min", "Prep time", "1-2 hours", None),
        ("duration_min", "Duration", "2 h", 120),
        ("height_in", "Height", "100 cm", 39.3700787),
        ("weight_min", "Weight min", "3 kg", 3),
        ("stay_min", "Stay min", "2 days", 2),
        ("age_min", "Age min", "2 days", 2),
        ("costTimePerMin", "Cost time per min", "2 hours", 2),
        ("walkingTimeMin", "Walking time", "2 hours", 120),
        ("fahrzeit_min", "Fahrzeit", "2 hours", 120),
        ("bid_in", "Bid in", "120", 120),
    ],
)
def test_a_name_that_may_mean_a_unit_means_it_beside_an_amount_of_its_kind(
    name: str, label: str, shown: str, given: float | None
) -> None:
    page = f"<h1>Leek soup</h1><dl><dt>{label}</dt><dd>{shown}</dd></dl>"
    assert record_of(page, **{name: NUMBER}).value.get(name) == given


@pytest.mark.parametrize(("other", "given"), [("time_max", 2), ("max_time", 2), ("timeMaximum", 2), ("cost_max", 120)])
def test_the_least_of_what_has_a_greatest_as_well_is_in_no_minutes(other: str, given: int) -> None:
    page = "<h1>Leek soup</h1><dl><dt>Time</dt><dd>2 hours</dd></dl>"
    assert record_of(page, time_min=NUMBER, **{other: NUMBER}).value.get("time_min") == given


@pytest.mark.parametrize("name", ["total_time_min", "total_time_minutes", "total_time"])
def test_a_total_that_is_stated_is_no_part_of_a_sum(name: str) -> None:
    times = '"prepTime": "PT1H", "cookTime": "PT50M"'
    page = """<script type="application/ld+json">{{"@type": "Recipe", "name": "Leek soup", {}}}</script>
        <h1>Leek soup</h1><p>Prep 1 hour</p>"""
    asked = {"name": TEXT, name: {"type": "number", "description": "minutes"}}
    assert record_of(page.format(times), **asked).value.get(name) == 110
    assert record_of(page.format(f'{times}, "totalTime": "PT2H"'), **asked).value.get(name) in (120, None)


@pytest.mark.parametrize("name", ["time_min", "time_minutes"])
@pytest.mark.parametrize(
    ("head", "cells", "given"),
    [
        ("Time", ("1 hour", "45 min", "2 h"), [60, 45, 120]),
        ("Time (hours)", ("1", "0.5", "2"), [60, 30, 120]),
        ("Time", ("50", "45", "40"), [50, 45, 40]),
    ],
)
def test_a_column_is_read_in_the_unit_that_is_asked_for(
    name: str, head: str, cells: tuple[str, ...], given: list[int]
) -> None:
    rows = "".join(f"<tr><td>{word} soup<td>{cell}" for word, cell in zip(("Leek", "Pea", "Oat"), cells, strict=True))
    page = page_from_html(f"<table><tr><th>Name<th>{head}{rows}</table>".encode(), URL, charset="utf-8")
    schema = {"type": "object", "properties": {"name": TEXT, name: NUMBER}}
    assert [row.value[name] for row in page_list(page, properties_of(schema), "", "now").records] == given


@pytest.mark.parametrize("name", ["price_min", "price"])
def test_a_price_keeps_its_amount_whatever_its_description_mentions(name: str) -> None:
    page = (
        "<h1>Old mill</h1><table><tr><th>Brand<td>Clayworks<tr><th>Price min<td>40 EUR<tr><th>Price<td>40 EUR</table>"
    )
    price = {"type": "number", "description": "price in EUR per day"}
    assert record_of(page, brand=TEXT, **{name: price}).value == {"brand": "Clayworks", name: 40}


@pytest.mark.parametrize(
    ("weight", "given"), [("300 g", 0.3), ("0,3 kg", 0.3), ("300 ml", None), ("1-2 kg", None), ("0.3", 0.3)]
)
def test_a_labelled_weight_is_read_in_kilograms(weight: str, given: float | None) -> None:
    page = f"<h1>Blue mug</h1><table><tr><th>Brand<td>Clayworks<tr><th>Weight<td>{weight}</table>"
    assert record_of(page, name=TEXT, brand=TEXT, weight_kg=NUMBER).value.get("weight_kg") == given


def test_the_unit_of_structured_data_is_converted() -> None:
    page = """<script type="application/ld+json">{"@type": "Product", "name": "Blue mug", "brand": "Clayworks",
        "weight": {"@type": "QuantitativeValue", "value": "300", "unitCode": "GRM"}}</script><h1>Blue mug</h1>"""
    assert record_of(page, name=TEXT, brand=TEXT, weight={"type": "number", "x-unit": "kg"}).value["weight"] == 0.3
