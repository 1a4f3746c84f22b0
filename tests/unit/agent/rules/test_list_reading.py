"""A page's list as an extraction: values as the schema asks for them, where each stands, and what may be missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.selectors import Selectors
from shoal.agent.policies.policy import Extraction
from shoal.agent.policies.rules.fields.list_reading import page_list
from shoal.agent.read.by_place.cell_labels import cell_labels
from shoal.agent.read.schema import properties_of
from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, URL

ROWS = "".join(
    f"<tr><td><a href='/p/{n}'>{name} lamp</a></td><td>€ {n}.50</td><td>{n} May 2026</td></tr>"
    for n, name in enumerate(("Ash", "Elm", "Oak"), 1)
)
TABLE = f"<table id=t><tr><th>Name</th><th>Price</th><th>Added</th></tr>{ROWS}</table>"
FIELDS = {"name": TEXT, "price": NUMBER, "added": DAY, "url": ADDRESS}


def read(html: str, **fields: Any) -> Extraction:
    page = page_from_html(html.encode(), URL, charset="utf-8")
    return page_list(page, properties_of({"type": "object", "properties": fields}), "en", "now")


def test_values_are_those_that_the_schema_asks_for():
    found = read(TABLE, **FIELDS)
    assert found.records[1].value == {
        "name": "Elm lamp",
        "price": 2.5,
        "added": "2026-05-02",
        "url": "https://site.example/p/2",
    }
    assert found.complete


def test_a_day_that_is_asked_for_as_text_is_the_text():
    assert read(TABLE, name=TEXT, added=TEXT).records[0].value["added"] == "1 May 2026"


def test_each_value_says_where_it_stands():
    sources = read(TABLE, **FIELDS).records[1].sources
    assert sources["price"].where == "#t > tbody > tr:nth-of-type(3) > td:nth-of-type(2)"
    assert (sources["price"].how, sources["url"].how) == ("table", "link")
    assert sources["url"].where.endswith("> td:nth-of-type(1) > a")


def test_cells_are_named_by_the_headers_of_their_table():
    page = page_from_html(TABLE.encode(), URL, charset="utf-8")
    assert cell_labels(page)["#t > tbody > tr:nth-of-type(2) > td:nth-of-type(3)"] == "Added"


def test_a_list_that_is_not_shown_is_not_confirmed():
    found = read(f"<h1>Lamps</h1><div style='display:none'>{TABLE}</div>", name=TEXT, price=NUMBER)
    assert len(found.records) == 3
    assert not any(source.confirmed for record in found.records for source in record.sources.values())


@pytest.mark.parametrize(("said", "complete"), [("", True), ("<p>Showing 1 to 3 of 40</p>", False)])
def test_a_count_that_the_page_states_says_whether_all_are_there(said: str, complete: bool):
    assert read(TABLE + said, **FIELDS).complete is complete


def test_a_page_without_such_a_list_says_what_was_looked_for():
    found = read("<p>We have been making lamps since 1911.</p>", name=TEXT, price=NUMBER)
    assert (found.records, found.complete) == ((), False)
    assert found.why == "the page shows no list whose entries state name, price"


@pytest.mark.parametrize("count", [13, 49])
def test_a_list_that_only_structured_data_state(count: int):
    events = [
        {"@type": "Event", "name": f"Concert {n}", "startDate": f"2026-05-{n % 28 + 1:02}", "url": f"/e/{n}"}
        for n in range(count)
    ]
    page = f"<script type='application/ld+json'>{json.dumps(events)}</script><h1>Concerts</h1><div id=app></div>"
    found = read(page, name=TEXT, start_date=DAY, url=ADDRESS)
    assert [record.value["name"] for record in found.records] == [f"Concert {n}" for n in range(count)]
    assert found.records[1].value["start_date"] == "2026-05-02"
    assert found.records[1].value["url"] == "https://site.example/e/1"
    assert found.records[1].sources["name"].how == "json-ld"
    assert not found.records[1].sources["name"].confirmed


def test_selectors_begin_at_an_id_or_at_a_class_that_no_other_element_has():
    page = page_from_html(b"<div><p class=one>a</p><p class=x>b</p><p class=x>c</p></div>", URL, charset="utf-8")
    selectors = Selectors(page)
    assert [selectors.of(el) for el in page.root.iter("p")] == [
        "p.one",
        "body > div > p:nth-of-type(2)",
        "body > div > p:nth-of-type(3)",
    ]


def test_a_row_that_states_less_than_half_of_the_fields_is_no_record():
    note = "<tr><td>Our lamps are made by hand</td><td></td><td></td></tr>"
    found = read(TABLE.replace("</table>", f"{note}</table>"), name=TEXT, price=NUMBER, added=DAY)
    assert [record.value["name"] for record in found.records] == ["Ash lamp", "Elm lamp", "Oak lamp"]
