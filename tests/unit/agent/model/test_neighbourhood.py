"""Evidence for a value that a model read: its own neighbourhood, a text around a picture, a currency's own sign."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from shoal.agent.policies.model.reading.field_knowledge import PageKnowledge
from shoal.agent.read.grounding.claims import unproven
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.spec import X_GLOSSARY, ExtractSpec
from shoal.agent.types import Element
from tests.unit.agent.model.pages import el, page, text


def doubted(record: dict[str, Any], *shown: Element, labels: Sequence[str] = ()) -> list[str]:
    """The fields that the page does not bear out, where the glossary has some labels for the first."""
    kinds = {str: "string", int: "integer", float: "number"}
    schema = {
        "properties": {name: {"type": kinds[type(value)]} for name, value in record.items()},
        X_GLOSSARY: {next(iter(record)): {"labels": list(labels)}},
    }
    extract, seen = ExtractSpec(json_schema=schema), PageText([page(*shown)])
    return [claim.field for claim in unproven([record], extract, seen, PageKnowledge(extract, seen))]


@pytest.mark.parametrize(
    "written", ["25 novembre", "le 25 nov. 2024", "March 25", "09:25", "1.25", "25.11.2024", "25/11"]
)
def test_a_day_of_the_month_a_time_and_a_part_of_a_number_bear_out_no_number(written: str) -> None:
    assert doubted({"stock": 25}, text(f"Stock du {written}")) == ["stock"]


@pytest.mark.parametrize("written", ["25", "25 €", "25 pcs", "Stock 25", "stock level: only 25 are left"])
def test_a_number_by_itself_or_near_its_fields_name_is_borne_out(written: str) -> None:
    assert doubted({"stockLevel": 25}, text("le 25 novembre"), text(written)) == []


@pytest.mark.parametrize("written", ["12 €", "€12", "$ 12"])
def test_an_amount_is_borne_out_as_a_price_alone(written: str) -> None:
    sentence = text(f"The lamp of the year is yours for {written} until the end of May")
    assert doubted({"price": 12}, sentence) == []
    assert doubted({"stock": 12}, sentence) == ["stock"]


def test_a_number_near_another_value_of_its_record_is_borne_out() -> None:
    record = {"name": "Desk lamp", "servings": 4}
    assert doubted(record, text("Desk lamp, for 4 people of your house")) == []
    assert doubted(record, text("Desk lamp"), text("x " * 80 + "open for 4 people of this house")) == ["servings"]


def test_a_word_within_a_sentence_is_no_code() -> None:
    assert doubted({"sku": "eingeben"}, text("Bitte Postleitzahl eingeben")) == ["sku"]
    assert doubted({"sku": "eingeben"}, text("SKU eingeben")) == []
    assert doubted({"color": "red"}, text("red")) == []
    assert doubted({"sku": "XB-12"}, text("Find XB-12 in all shops of the town")) == []


@pytest.mark.parametrize(
    ("code", "written"), [("HRK", "120 Kn"), ("HRK", "1.200,00kn"), ("CZK", "25 Kč"), ("EUR", "€ 3")]
)
def test_a_currencys_code_is_borne_out_by_its_sign_at_home(code: str, written: str) -> None:
    assert doubted({"currency": code}, text(f"Cijena: {written}")) == []


@pytest.mark.parametrize(
    ("code", "written"), [("HRK", "known 25 times"), ("SEK", "kraft 20 krafts"), ("CZK", "120 Kn")]
)
def test_letters_that_are_no_sign_beside_a_number_bear_out_no_currency(code: str, written: str) -> None:
    assert doubted({"currency": code}, text(written)) == ["currency"]


@pytest.mark.parametrize("written", ["7,00 €", "7.0", "Price 7.00"])
def test_a_number_is_borne_out_in_any_notation(written: str) -> None:
    for value in (7, 7.0):
        assert doubted({"price": value}, text("The lamp of the year"), text(written)) == []
        assert doubted({"stock": value}, text(f"{written} for the lamp of the year")) == ["stock"]


def test_a_value_does_not_bear_out_itself() -> None:
    assert doubted({"sku": "sku"}, text("Type the sku into the box above")) == ["sku"]
    assert doubted({"sku": "sku"}, text("Your sku, or the sku of a friend")) == ["sku"]
    assert doubted({"sku": "sku"}, text("SKU")) == ["sku"], "a label"
    assert doubted({"id": "id"}, text("ID")) == ["id"]
    assert doubted({"n": 7}, text("7")) == []


@pytest.mark.parametrize(
    ("line", "fields"), [("Prep time: 900 seconds", []), ("Ends in 900 seconds", ["prep_time_min"])]
)
def test_what_a_fields_name_may_mean_is_borne_out_beside_that_name_alone(line: str, fields: list[str]) -> None:
    assert doubted({"prep_time_min": 15}, text(line)) == fields
    assert doubted({"rooms_min": 15}, text(f"rooms: {line}")) == ["rooms_min"]
    assert doubted({"prep_minutes": 15}, text(line)) == []


def test_two_short_values_do_not_bear_out_each_other() -> None:
    assert doubted({"name": "welcome", "sku": "eingeben"}, text("Bitte welcome eingeben")) == ["name", "sku"]
    assert doubted({"name": "Lamp XL", "sku": "eingeben"}, text("Bitte 3 Stück eingeben")) == ["name", "sku"]


@pytest.mark.parametrize(
    ("record", "written"),
    [
        ({"stars": 4, "reviews": 30}, "4:30"),
        ({"stars": 4, "reviews": 30}, "4 30"),
        ({"stars": 4, "reviews": 30}, "4. 30"),
        ({"verb": "add", "place": "cart"}, "add cart"),
        ({"verb": "add", "place": "cart", "title": "it is of the"}, "add it of cart"),
    ],
)
def test_short_values_of_a_record_do_not_bear_out_each_other_in_a_circle(record: dict[str, Any], written: str) -> None:
    far = text("x " * 100)
    assert doubted(record, text("it is of the"), far, text(written)) == list(record)[:2]
    assert doubted({**record, "name": "Lamp XL"}, text("Lamp XL it is of the"), far, text(written)) == list(record)[:2]


def test_short_values_are_borne_out_by_a_text_that_is_made_of_their_record() -> None:
    record = {"id": 3, "name": "casting", "direction": "minimize"}
    assert doubted(record, text("3. casting Direction: MINIMIZE")) == []
    assert doubted(record, text("3. casting"), text("Direction: MINIMIZE")) == []
    assert doubted(record, text("3 more casting here"), text("Direction: MINIMIZE")) == ["id", "name"]
    assert doubted({"sku": "sku", "name": "name"}, text("SKU name")) == ["sku", "name"]


GUESTS = text("there were 25 of them who came to a wedding for which the king had paid in EUR")


@pytest.mark.parametrize(
    "name", ["Lamp of a king", "Les lampes de la chambre", "The Who", "EUR", "Une lampe pour elle", "A for them"]
)
def test_common_words_and_currencies_bear_out_no_number(name: str) -> None:
    assert doubted({"name": name, "stock": 25}, text(name), text("x " * 80), GUESTS) == ["stock"]


@pytest.mark.parametrize("label", ["Number of the items", "Items for them", "Who came by train"])
def test_a_number_stands_near_all_that_tells_of_a_label(label: str) -> None:
    assert doubted({"n": 25}, GUESTS, labels=[label]) == ["n"]
    assert doubted({"n": 25}, text(f"{label.upper()} in the shop of this town: 25"), labels=[label]) == []


def test_a_field_of_common_words_is_known_by_all_of_them() -> None:
    assert doubted({"number_of_people": 25}, GUESTS) == ["number_of_people"]
    assert doubted({"number_of_people": 25}, text("This is for a number of 25 people or more")) == []
    assert doubted({"year": 25}, text("Once in a year the lamps of the whole town are lit for 25 hours")) == ["year"]


@pytest.mark.parametrize("value", [7, "7"])
def test_a_page_that_repeats_a_number_is_read_in_time(value: int | str) -> None:
    titles = ["Stool " + "".join(chr(ord("a") + int(figure)) for figure in f"{n:04}") for n in range(200)]
    lines = [f"Lamp no. {n} is sold with 7 of its own" for n in range(2_500)]
    shown = PageText([page(text("zz 7 a " * 20_000), *map(text, (*lines, *titles)))])
    fields = {"n": {"type": "integer" if value == 7 else "string"}, "title": {"type": "string"}}
    extract = ExtractSpec(json_schema={"type": "array", "items": {"properties": fields}})
    began = time.process_time()
    claims = unproven([{"n": value, "title": title} for title in titles], extract, shown)
    assert time.process_time() - began < 2
    assert [claim.field for claim in claims] == ["n"] * 200


def test_a_text_that_a_picture_stands_in_is_one_text() -> None:
    picture = el("4", "img", "a star", attributes={"alt": "a star", "src": "/star.png"})
    shown = (text("Kettle 200"), picture, text("with 3 cups"))
    assert doubted({"name": "Kettle 200 with 3 cups"}, *shown) == []
    assert doubted({"name": "Kettle 300 with 3 cups"}, *shown) == ["name"]
