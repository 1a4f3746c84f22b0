"""The sureness of each kind of value: the measured figures, the level that follows of them, and the documentation that
shows it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shoal.agent.read.field import Field
from shoal.agent.read.record.value_kinds import ValueKind, kind_of, measured, most_sure, summary
from shoal.agent.read.schema import properties_of
from shoal.agent.types import Reason
from tests.unit.read.pages import ADDRESS, DAY, LINES, NUMBER, TEXT, record_of

TRUTH = Path(__file__).parents[3] / "docs" / "truth.md"
TWO_WITNESSES = (Reason.AGREED, Reason.BORNE_OUT)


def test_what_is_called_certain_was_wrong_in_three_of_a_thousand_at_most() -> None:
    certain = [kind for kind, most in most_sure().items() if most == "certain"]
    counted = [row for row in measured() if row.kind in certain and row.reason in TWO_WITNESSES]
    right, wrong = sum(row.right for row in counted), sum(row.wrong for row in counted)
    assert right > 200
    assert wrong <= 0.003 * (right + wrong)


def test_all_that_was_given_was_wrong_in_three_of_a_hundred_at_most() -> None:
    right, wrong = sum(row.right for row in measured()), sum(row.wrong for row in measured())
    assert right > 1_000
    assert wrong <= 0.03 * (right + wrong)


def test_only_kinds_that_were_often_counted_and_hardly_ever_wrong_may_be_certain() -> None:
    certain = {kind for kind, most in most_sure().items() if most == "certain"}
    assert certain == {ValueKind.TITLE, ValueKind.NUMBER}


@pytest.mark.parametrize(
    ("schema", "prop", "value", "kind"),
    [
        (TEXT, "headline", "Night trains", ValueKind.TITLE),
        (TEXT, "author", "Ada Rail", ValueKind.NAME),
        (TEXT, "brand", "Clayworks", ValueKind.NAME),
        (LINES, "recipeIngredient", ["leeks"], ValueKind.LIST),
        (TEXT, "sku", "ABBEY", ValueKind.CODE),
        (TEXT, "gtin13", "4006381333931", ValueKind.CHECKED_CODE),
        (TEXT, "gtin13", "4006381333932", ValueKind.CODE),
        (TEXT, "isbn", "978-0-306-40615-7", ValueKind.CHECKED_CODE),
        (TEXT, "isbn", "12345", ValueKind.CODE),
        (DAY, "datePublished", "2024-03-01", ValueKind.DAY),
        (TEXT, "articleBody", "Trains run at night.", ValueKind.LONG_TEXT),
        (ADDRESS, "image", "https://site.example/a.jpg", ValueKind.ADDRESS),
        (NUMBER, "price", 12, ValueKind.NUMBER),
        (TEXT, "availability", "InStock", ValueKind.CHOICE),
        (TEXT, "priceCurrency", "EUR", ValueKind.TEXT),
        (TEXT, "", "of wood", ValueKind.TEXT),
        (TEXT, "", "4 of 5", ValueKind.TEXT),
        (TEXT, "", "24-CV-1", ValueKind.CODE),
        (TEXT, "serialNumber", "24-CV-1", ValueKind.CODE),
        (TEXT, "", "QB 737", ValueKind.CODE),
        (TEXT, "", "12345", ValueKind.CODE),
        (TEXT, "", "b4f228", ValueKind.CODE),
    ],
)
def test_the_kind_of_a_value(schema: dict[str, Any], prop: str, value: Any, kind: ValueKind) -> None:
    (asked,) = properties_of({"type": "object", "properties": {"asked": schema}})
    assert kind_of(Field(asked), prop, value) is kind


def test_a_code_that_two_witnesses_state_is_not_certain_whatever_it_is_called() -> None:
    node = {"@type": "Product", "name": "Blue mug", "serialNumber": "24-CV-1"}
    page = f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Blue mug</h1>'
    found = record_of(page + "<dl><dt>Serial number</dt><dd>24-CV-1</dd></dl>", name=TEXT, serial_number=TEXT)
    assert found.value["serial_number"] == "24-CV-1"
    assert found.sources["serial_number"].sureness == "likely"


def test_a_value_that_two_witnesses_state_is_as_sure_as_its_kind_may_be() -> None:
    node = {"@type": "Article", "headline": "Night trains", "author": "Ada Rail", "datePublished": "2024-03-01"}
    page = (
        f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Night trains</h1>'
        '<p>By <span class="author">Ada Rail</span>, March 1, 2024</p>'
    )
    found = record_of(page, title=TEXT, author=TEXT, date=DAY)
    kinds = {"title": ValueKind.TITLE, "author": ValueKind.NAME, "date": ValueKind.DAY}
    assert {name: source.sureness for name, source in found.sources.items()} == {
        name: most_sure()[kind] for name, kind in kinds.items()
    }


def test_the_documentation_shows_the_measured_table() -> None:
    assert summary() in TRUTH.read_text(encoding="utf-8")
