"""Words of a field glossary: read where the page has no own word of the field, and told; the field's own come first."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.policies.policy import Extraction
from shoal.agent.policies.rules.fields.list_reading import page_list
from shoal.agent.read.glossary import as_keyword, entries_of, glossary_faults
from shoal.agent.read.record.record import ReadRecord, read_record
from shoal.agent.read.schema import Property, properties_of
from shoal.agent.spec import X_GLOSSARY, ExtractSpec
from tests.unit.read.pages import DAY, LINES, NUMBER, TEXT, URL


def schema_of(glossary: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A record's schema with its glossary."""
    return {"type": "object", "properties": fields, X_GLOSSARY: glossary}


def record_of(html: str, glossary: dict[str, Any], **fields: Any) -> ReadRecord:
    """The record of a page."""
    page = page_from_html(html.encode(), URL, charset="utf-8")
    return read_record(page, properties_of(schema_of(glossary, **fields)))


def list_of(html: str, glossary: dict[str, Any], **fields: Any) -> Extraction:
    """The records of a page's list."""
    page = page_from_html(html.encode(), URL, charset="utf-8")
    return page_list(page, properties_of(schema_of(glossary, **fields)), "", "now")


FACTS = (
    "<h1>Kettle</h1><dl><dt>Maker</dt><dd>Acme</dd><dt>Füllmenge</dt><dd>1,7 Liter</dd><dt>Colour</dt><dd>red</dd></dl>"
)


def test_a_label_that_only_the_glossary_knows_gives_the_value_and_is_told() -> None:
    fields = {"made_in_house_of": TEXT, "holds": NUMBER}
    assert record_of(FACTS, {}, **fields).value == {}
    glossary = {
        "made_in_house_of": {"labels": ["Manufacturer", "Maker"]},
        "holds": {"labels": ["Füllmenge"], "unit": "ml"},
    }
    read = record_of(FACTS, glossary, **fields)
    assert read.value == {"made_in_house_of": "Acme", "holds": 1700}
    assert {name: source.called for name, source in read.sources.items()} == {
        "made_in_house_of": "Maker",
        "holds": "Füllmenge",
    }


def test_the_fields_own_word_is_read_before_one_of_its_glossary() -> None:
    page = "<h1>Lamp</h1><dl><dt>Vendor</dt><dd>Shop Ltd</dd><dt>Supplier</dt><dd>Acme</dd></dl>"
    read = record_of(page, {"supplier": {"labels": ["Vendor"]}}, supplier=TEXT)
    assert (read.value["supplier"], read.sources["supplier"].called) == ("Acme", "")


def test_a_class_name_is_no_label() -> None:
    page = '<h1>Lamp</h1><p class="stock left">three of blue</p>'
    shown = record_of(page, {"tint": {"labels": ["Left"]}}, tint=TEXT, stock=TEXT)
    assert shown.value == {"stock": "three of blue"}
    assert record_of("<dl><dt>Left</dt><dd>blue</dd></dl>", {"tint": {"labels": ["Left"]}}, tint=TEXT).value


def test_a_heading_is_what_the_page_is_about_and_no_label_names_it() -> None:
    page = "<h1>Lamp</h1><p>three of blue</p>"
    assert record_of(page, {"tint": {"labels": ["Heading"]}}, tint=TEXT).value == {}


def test_a_property_that_the_glossary_names_is_read_and_told() -> None:
    page = (
        '<h1>Oak stool</h1><script type="application/ld+json">{"@type": "Product", "name": "Oak stool",'
        ' "mpn": "AB-12", "material": "oak", "color": "brown"}</script><p>brown oak</p>'
    )
    fields = {"name": TEXT, "wood": TEXT, "tint": TEXT}
    assert set(record_of(page, {}, **fields).value) == {"name"}
    read = record_of(page, {"wood": {"properties": ["material"]}, "tint": {"properties": ["color"]}}, **fields)
    assert read.value == {"name": "Oak stool", "wood": "oak", "tint": "brown"}
    assert [read.sources[name].called for name in fields] == ["", "material", "color"]


def test_a_list_of_values_stands_under_a_label_of_the_glossary() -> None:
    page = "<h1>Soup</h1><dl><dt>Zutaten</dt><dd>Salz</dd><dd>Lauch</dd></dl><p>Suppe</p>"
    assert record_of(page, {}, parts=LINES).value == {}
    read = record_of(page, {"parts": {"labels": ["Ingredients", "Zutaten"]}}, parts=LINES)
    assert (read.value, read.sources["parts"].called) == ({"parts": ["Salz", "Lauch"]}, "Zutaten")


def rows_of(*heads: str) -> str:
    """A table of three records under these headers."""
    cells = [("Ann v. Bob", "24-CV-177", "March 4, 2024"), ("Cy v. Dee", "23-CV-4412", "May 6, 2023")]
    cells += [("Ed v. Flo", "22-CV-930", "June 9, 2022")]
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
    return "<table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + f"</tr>{rows}</table>"


def test_a_column_under_a_label_of_the_glossary_is_the_fields() -> None:
    fields = {"who": TEXT, "file_mark": TEXT, "day": DAY}
    table = rows_of("Style", "Cause", "Handed down")
    without = list_of(table, {}, **fields)
    assert all("file_mark" not in record.value for record in without.records)
    glossary = {
        "who": {"labels": ["Parties", "Style"]},
        "file_mark": {"labels": ["Cause"], "properties": ["identifier"]},
        "day": {"labels": ["Handed down"]},
    }
    read = list_of(table, glossary, **fields)
    assert read.records[0].value == {
        "who": "Ann v. Bob",
        "file_mark": "24-CV-177",
        "day": "2024-03-04",
    }
    assert {name: source.called for name, source in read.records[0].sources.items()} == {
        "who": "Style",
        "file_mark": "Cause",
        "day": "Handed down",
    }


def test_a_label_of_two_fields_and_one_that_is_another_fields_name_are_no_witness() -> None:
    glossary = {
        "filed": {"labels": ["Date", "Decided", "Lodged"]},
        "decided": {"labels": ["Date", "Judgment day"]},
    }
    filed, decided = properties_of(schema_of(glossary, filed=DAY, decided=DAY))
    assert filed.glossary.labels == ("Lodged",)
    assert decided.glossary.labels == ("Judgment day",)


def test_a_label_that_is_the_name_of_a_field_without_an_entry_gives_no_value() -> None:
    glossary = {"filed": {"labels": ["Decided"]}}
    page = "<h1>Ann v. Bob</h1><dl><dt>Decided</dt><dd>March 4, 2024</dd></dl>"
    assert record_of(page, glossary, filed=DAY, decided=DAY).value == {"decided": "2024-03-04"}
    titled = {"type": ["string", "null"], "format": "date", "title": "Decided"}
    assert record_of(page, glossary, filed=DAY, day_of_end=titled).value == {"day_of_end": "2024-03-04"}
    rows = list_of(rows_of("Style", "Cause", "Decided"), glossary, style=TEXT, filed=DAY, decided=DAY).records
    assert [row.value.get("filed") for row in rows] == [None] * 3
    assert rows[0].value["decided"] == "2024-03-04"


def test_a_label_that_is_a_synonym_of_another_field_gives_no_value() -> None:
    page = "<h1>Room</h1><dl><dt>Cost</dt><dd>80</dd></dl>"
    assert record_of(page, {"deposit": {"labels": ["Cost"]}}, price=NUMBER, deposit=NUMBER).value == {"price": 80}
    assert record_of(page, {"deposit": {"labels": ["Cost"]}}, deposit=NUMBER).value == {"deposit": 80}


def test_names_of_fields_are_compared_with_the_objects_that_they_are_in() -> None:
    offer = {"type": "object", "properties": {"price": NUMBER}}
    glossary = {"price": {"labels": ["Price", "Offer price"]}, "cost": {"labels": ["Price", "Fee"]}}
    known = named(glossary, price=NUMBER, cost=NUMBER, offer=offer)
    assert known["price"].glossary.labels == ()
    known = named(
        {"price": {"labels": ["Price", "Offer price"]}, "cost": {"labels": ["Fee"]}}, price=NUMBER, offer=offer
    )
    assert known["price"].glossary.labels == ("Price",), "the object's own is the offer's"


def named(glossary: dict[str, Any], **fields: Any) -> dict[str, Property]:
    """The properties by name."""
    return {prop.name: prop for prop in properties_of(schema_of(glossary, **fields))}


def test_the_unit_of_a_glossary_counts_where_the_schema_says_none() -> None:
    glossary = {"weight": {"unit": "kg"}, "length_cm": {"unit": "m"}, "name": {"unit": "kg"}}
    known = named(glossary, weight=NUMBER, length_cm=NUMBER, name=TEXT)
    assert [prop.unit for prop in known.values()] == ["kilogram", "centimeter", ""]


def test_parts_of_objects_have_entries_of_their_own() -> None:
    offer = {"type": "object", "properties": {"cost": NUMBER}}
    glossary = {"offer.cost": {"properties": ["price"]}, "cost": {"properties": ["lowPrice"]}}
    known = named(glossary, offer=offer, cost=NUMBER)
    assert known["offer"].properties[0].glossary.properties == ("price",)
    assert known["cost"].glossary.properties == ("lowPrice",)


@pytest.mark.parametrize(
    "said",
    [None, [], "price", {"price": None}, {"price": {"labels": "Price", "properties": 3, "unit": []}}],
)
def test_what_is_no_entry_is_left_out(said: Any) -> None:
    assert not any(entry.labels or entry.properties or entry.unit for entry in entries_of({X_GLOSSARY: said}).values())
    assert list(glossary_faults(said, frozenset({"price"})))


@pytest.mark.parametrize(
    ("entry", "place", "why"),
    [
        ({"labels": ["?!"]}, "price.labels", "no label"),
        ({"labels": ["x" * 61]}, "price.labels", "no label"),
        ({"labels": [f"l{n}" for n in range(21)]}, "price.labels", "20 texts at most"),
        ({"properties": ["costs"]}, "price.properties", "no property of schema.org"),
        ({"unit": "parsnips"}, "price.unit", "no unit that is known"),
        ({"lables": []}, "price", "must be an object with"),
    ],
)
def test_a_fault_of_an_entry_is_told_with_its_place(entry: dict[str, Any], place: str, why: str) -> None:
    ((told, what),) = glossary_faults({"price": entry}, frozenset({"price"}))
    assert told == place
    assert why in what
    assert [place for place, _ in glossary_faults({"prize": {}}, frozenset({"price"}))] == ["prize"]


def test_a_glossary_is_put_into_the_schema_of_one_record() -> None:
    record = schema_of({}, price=NUMBER)
    entries = {"price": {"labels": ["Cost"], "properties": ["price"], "unit": ""}}
    for schema in (record, {"type": "array", "items": record}):
        extract = ExtractSpec(json_schema=schema).with_glossary(entries)
        assert as_keyword(entries_of(extract.record_schema or {})) == entries
        assert extract.many == (schema["type"] == "array")


def test_what_another_field_may_be_called_is_a_heading_and_no_value() -> None:
    page = "<h1>Suppe</h1><div><span>Zutaten:</span> <span>Zubereitung</span></div><p>Suppe kochen</p>"
    glossary = {"parts": {"labels": ["Zutaten"]}, "work": {"labels": ["Zubereitung"]}}
    assert record_of(page, {"parts": glossary["parts"]}, parts=TEXT).value == {"parts": "Zubereitung"}
    assert record_of(page, glossary, parts=TEXT, work=TEXT).value == {}
