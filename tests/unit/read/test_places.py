"""Places, labels and tables of a page's tree: what a raw document leaves to a browser, and what no document has."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.by_place.elements.page_reading import places_on, places_parameters
from shoal.agent.read.by_place.places_page import PlacedRecord, PlacesPage
from tests.integration.extraction.pages import PAGES

URL = "http://shop.example/p/1"


def read(body: str, fields: dict[str, tuple[str, str]], **asked: Any) -> PlacesPage:
    """Return what the fields, each a kind and a query, say on a page."""
    arg = {
        "fields": {name: {"kind": kind, "query": query, "attribute": None} for name, (kind, query) in fields.items()},
        "records": None,
        "many": False,
        **asked,
    }
    page = page_from_html(body, URL, find=places_parameters(arg)["tree"]["find"])
    return PlacesPage.of(places_on(page, arg))


def texts(record: PlacedRecord, name: str) -> list[str]:
    """Return what the places of a field say."""
    return [place.text for place in record.places[name]]


@pytest.mark.parametrize(
    ("kind", "query", "said"),
    [
        ("label", "Name", ["Ada"]),
        ("label", "Role", ["Editor"]),
        ("label", "Notes", ["first line\nsecond line"]),
        ("label", "Active", ["on"]),
        ("label", "Staff", [""]),
        ("label", "Plan", ["Paid"]),
        ("label", "Groups", ["a\nc"]),
        ("label", "Quota", ["40"]),
        ("label", "Biography", ["Born 1815"]),
        ("label", "Password", [""]),
        ("select", "[name=plan]", ["Paid"]),
        ("select", "option[selected]", ["Editor", "a", "c"]),
    ],
)
def test_controls_say_what_they_hold(kind: str, query: str, said: list[str]) -> None:
    assert texts(read(PAGES["/edit"], {"it": (kind, query)}).records[0], "it") == said


def test_a_password_is_a_secret_however_it_is_asked_for() -> None:
    page = read(PAGES["/edit"], {"select": ("select", "[name=pw]"), "label": ("label", "Password")})
    assert [place.kind for several in page.records[0].places.values() for place in several] == ["secret", "secret"]


def test_the_rows_of_the_only_table_with_the_columns_are_the_records() -> None:
    page = read(PAGES["/parts"], {"part": ("column", "Part"), "gross": ("column", "Price Gross")}, many=True)
    assert [(texts(record, "part"), texts(record, "gross")) for record in page.records] == [
        (["M4 steel"], ["1.19"]),
        (["M5"], ["2.38"]),
        (["M6"], ["2.39"]),
        (["N1"], ["3.57"]),
    ]
    assert read(PAGES["/two-tables"], {"part": ("column", "Part")}, many=True).tables == 2


def test_a_row_of_a_section_may_be_a_heading() -> None:
    page = read(PAGES["/parts"], {"part": ("column", "Part")}, many=True, records=".parts tbody tr")
    assert [record.may_be_heading for record in page.records] == [True, False, False, False, True, False]


def test_a_table_of_roles_keeps_its_columns_where_a_cell_is_left_out() -> None:
    fields = {name: ("column", name) for name in ("make", "model", "price")}
    page = read(PAGES["/grid"], fields, many=True)
    assert [[texts(record, name) for name in fields] for record in page.records] == [
        [["Ford"], [], ["32000"]],
        [["Opel"], ["Astra"], ["21000"]],
    ]
    assert texts(read(PAGES["/grid"], {"it": ("label", "Model")}).records[0], "it") == ["Astra"]


def test_a_label_within_a_record_is_looked_for_in_the_record_alone() -> None:
    cards = "".join(f"<li class=card><b>Price:</b> {price}</li>" for price in (5, 7))
    page = read(f"<p>Price: 9</p><ul>{cards}</ul>", {"it": ("label", "Price")}, many=True, records=".card")
    assert [texts(record, "it") for record in page.records] == [["5"], ["7"]]


def test_what_a_style_strikes_through_holds_no_longer() -> None:
    body = "<style>.old{text-decoration:line-through}</style><div class=old><p>£20</p></div><p>£12</p>"
    page = read(body, {"it": ("select", "p")})
    assert [place.plain for place in page.records[0].places["it"]] == ["", None]


def test_hidden_text_counts_where_it_is_the_place_itself() -> None:
    body = '<p class=a>Now <i hidden>never</i>5</p><p class=b style="display:none">9 <b>x</b></p>'
    page = read(body, {"a": ("select", ".a"), "b": ("select", ".b")})
    record = page.records[0]
    assert (texts(record, "a"), texts(record, "b")) == (["Now 5"], ["9 x"])
    assert [place.visible for name in "ab" for place in record.places[name]] == [True, False]


def test_a_deep_page_is_read() -> None:
    depth = 500
    body = "<div>" * depth + "<p>Weight: 3 kg</p>" + "</div>" * depth
    page = read(body, {"label": ("label", "Weight"), "all": ("select", "body > div")})
    assert (texts(page.records[0], "label"), texts(page.records[0], "all")) == (["3 kg"], ["Weight: 3 kg"])


@pytest.mark.parametrize(
    ("kind", "query", "near"),
    [
        ("select", "p.prise", 'p.price ("£20.00 £12.50")'),
        ("label", "UPC code", '"UPC"'),
        ("label", "Autor", '"Author"'),
    ],
)
def test_a_place_that_is_not_there_names_the_nearest(kind: str, query: str, near: str) -> None:
    page = read(PAGES["/facts"], {"it": (kind, query)})
    assert any(near in told for told in page.near["it"]), page.near


def test_a_selector_without_its_steps_is_told_with_what_it_finds() -> None:
    page = read(PAGES["/spoken"], {"it": ("select", ".parts > table")})
    assert page.near["it"][0] == ".parts table (1 element)"


def test_columns_that_are_not_there_name_the_headers() -> None:
    page = read(PAGES["/parts"], {"it": ("column", "Grosss")}, many=True)
    assert '"Gross"' in page.near["it"]


def test_json_is_told_by_its_scripts() -> None:
    assert [(text.kind, text.where) for text in read(PAGES["/state"], {}, json=True).json] == [
        ("state", "body > script")
    ]
    assert [text.kind for text in read(PAGES["/json-ld"], {}, json=True).json] == ["json-ld"]


def test_what_is_no_selector_is_named() -> None:
    assert read("<p>x", {"it": ("select", "p["), "other": ("select", "p")}).invalid == ("fields.it",)
