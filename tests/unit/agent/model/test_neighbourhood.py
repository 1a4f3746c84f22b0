"""What bears out a value that a model read: its own neighbourhood, a text around a picture, a currency's own sign."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.read.grounding.claims import unproven
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.spec import ExtractSpec
from shoal.agent.types import Element
from tests.unit.agent.model.pages import el, page, text


def doubted(record: dict[str, Any], *shown: Element) -> list[str]:
    """The fields that the page does not bear out."""
    kinds = {str: "string", int: "integer", float: "number"}
    schema = {"properties": {name: {"type": kinds[type(value)]} for name, value in record.items()}}
    return [claim.field for claim in unproven([record], ExtractSpec(json_schema=schema), PageText([page(*shown)]))]


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


def test_a_text_that_a_picture_stands_in_is_one_text() -> None:
    picture = el("4", "img", "a star", attributes={"alt": "a star", "src": "/star.png"})
    shown = (text("Kettle 200"), picture, text("with 3 cups"))
    assert doubted({"name": "Kettle 200 with 3 cups"}, *shown) == []
    assert doubted({"name": "Kettle 300 with 3 cups"}, *shown) == ["name"]
