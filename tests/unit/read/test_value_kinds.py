"""How sure a kind of value may be: what was measured, what follows of it, and that the documentation shows it."""

from __future__ import annotations

import json
from collections import Counter
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


def test_a_kind_that_was_seldom_counted_or_wrong_once_too_often_is_never_certain() -> None:
    right, wrong = Counter[str](), Counter[str]()
    for row in measured():
        if row.reason in TWO_WITNESSES:
            right[row.kind] += row.right
            wrong[row.kind] += row.wrong
    for kind in ValueKind:
        borne_out = right[kind] >= 50 and wrong[kind] <= 0.003 * (right[kind] + wrong[kind])
        assert (most_sure()[kind] == "certain") == borne_out


@pytest.mark.parametrize(
    ("schema", "prop", "kind"),
    [
        (TEXT, "headline", ValueKind.TITLE),
        (TEXT, "author", ValueKind.NAME),
        (TEXT, "brand", ValueKind.NAME),
        (LINES, "recipeIngredient", ValueKind.LIST),
        (TEXT, "sku", ValueKind.CODE),
        (TEXT, "gtin13", ValueKind.CHECKED_CODE),
        (DAY, "datePublished", ValueKind.DAY),
        (TEXT, "articleBody", ValueKind.LONG_TEXT),
        (ADDRESS, "image", ValueKind.ADDRESS),
        (NUMBER, "price", ValueKind.NUMBER),
        (TEXT, "availability", ValueKind.CHOICE),
        (TEXT, "priceCurrency", ValueKind.TEXT),
        (TEXT, "", ValueKind.TEXT),
    ],
)
def test_the_kind_of_a_value(schema: dict[str, Any], prop: str, kind: ValueKind) -> None:
    (asked,) = properties_of({"type": "object", "properties": {"asked": schema}})
    assert kind_of(Field(asked), prop) is kind


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
