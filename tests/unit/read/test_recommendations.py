"""Recommendations of a page, beside its list or instead of one, are no records of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.read.pages import ADDRESS, NUMBER, TEXT, list_of, rows
from tests.unit.read.test_list_answers import answer

NAMES = ("Ash", "Birch", "Cedar", "Elm", "Fir")
OTHERS = ("Gum", "Hazel", "Ivy", "Larch")
UNDER = "the page shows such records only under {!r}; `extract.records` says whether they are meant"


def cards(names: tuple[str, ...], kind: str = "card") -> str:
    items = (
        f"<li class={kind}><h3><a href=/{name}>{name} lamp</a></h3><p class=price>{len(name)}.50 €</p></li>"
        for name in names
    )
    return f"<ul class={kind}s>{''.join(items)}</ul>"


def read(html: str) -> tuple[list[str], str]:
    """The names of the records, and what is said of what was left out."""
    reading = list_of(html, name=TEXT, price=NUMBER)
    return [row["name"].removesuffix(" lamp") for row in rows(reading)], reading.left_out


@pytest.mark.parametrize(("own", "kind"), [(1, "card"), (2, "card"), (2, "tile"), (3, "tile")])
def test_recommendations_are_none_beside_a_list_however_short(own: int, kind: str):
    page = f"<h1>Lamps</h1>{cards(NAMES[:own])}<h2>You may also like</h2>{cards(OTHERS, kind)}"
    assert read(page) == ([*NAMES[:own]], "")


@pytest.mark.parametrize("heading", ["Related products", "Customers also bought", "Das könnte Ihnen gefallen"])
def test_recommendations_alone_are_told(heading: str):
    page = f"<h1>Lamps</h1><p>All gone.</p><section><h2>{heading}</h2>{cards(OTHERS)}</section>"
    assert read(page) == ([], UNDER.format(heading))


def test_a_single_record_of_another_form_is_not_guessed_beside_them():
    page = f"<h1>Lamps</h1>{cards(NAMES[:1])}<h2>Related products</h2>{cards(OTHERS, 'tile')}"
    assert read(page) == ([], UNDER.format("Related products"))


@pytest.mark.parametrize("more", [{}, {"price": NUMBER}])
def test_no_list_of_another_form_is_taken_instead_of_them(more: dict[str, Any]):
    kinds = "".join(f"<li><a href=/s/{name}>{name} lamps</a></li>" for name in NAMES)
    page = f"<h1>Lamps</h1><ul>{kinds}</ul><h2>Related products</h2>{cards(OTHERS)}"
    reading = list_of(page, name=TEXT, url=ADDRESS, **more)
    assert (rows(reading), reading.left_out) == ([], UNDER.format("Related products"))


@pytest.mark.parametrize(
    "page",
    [
        f"<div><h3>Recently viewed</h3><p>Nothing yet</p></div><div>{cards(NAMES)}</div>",
        f"<h1>Related products</h1>{cards(NAMES)}",
    ],
)
def test_a_heading_of_another_block_or_of_the_page_makes_no_list_a_recommendation(page: str):
    assert read(page) == ([*NAMES], "")


@pytest.mark.parametrize("title", ["<h1>Search</h1>", ""])
@pytest.mark.parametrize(
    "message", ["No results found.", "No products were found matching your selection.", "0 results for lamp"]
)
def test_what_an_empty_page_offers_instead_is_told(title: str, message: str):
    page = f"{title}<p>{message}</p><h2>Popular now</h2>{cards(OTHERS)}"
    instead = f"the page says {message!r}, and shows such records under another heading"
    assert read(page) == ([], f"{instead}; `extract.records` says whether they are meant")


@pytest.mark.parametrize(
    "page",
    [
        f"<h1>Lamps</h1><h2>New</h2><p>No results found.</p><h2>All</h2>{cards(NAMES)}",  # of another chapter
        f"<h1>Lamps</h1><p class=empty>No results found.</p>{cards(NAMES)}",  # what a script would show
        f"<h1>Lamps</h1><p>No active jobs found</p><h2>All</h2>{cards(NAMES)}",  # of something else
        f"<h1>Lamps</h1><h2>All</h2>{cards(NAMES)}<p>No results found.</p>",
        f"<p>Your list is empty</p><h1>Lamps</h1>{cards(NAMES)}",  # of what a person has noted
        f"<p>Your list is empty</p><h1>Lamps</h1><h2>All</h2>{cards(NAMES)}",
        f"<h1>Lamps</h1><nav><p>Your list is empty</p></nav><h2>All</h2>{cards(NAMES)}",
    ],
)
def test_a_message_that_is_not_about_the_list_takes_no_record_away(page: str):
    assert read(page) == ([*NAMES], "")


LISTED = [
    {"@type": "Product", "name": f"{name} lamp", "offers": {"@type": "Offer", "price": "3.50"}} for name in OTHERS
]


@pytest.mark.parametrize(
    "elsewhere",
    [f"<script type='application/ld+json'>{json.dumps(LISTED)}</script>", f"<div hidden>{cards(NAMES)}</div>"],
    ids=["structured data", "hidden"],
)
@pytest.mark.parametrize("above", ["<h2>Related products</h2>", "<p>No results found.</p><h2>Popular now</h2>"])
def test_neither_structured_data_nor_what_is_hidden_bring_them_back(above: str, elsewhere: str):
    found = answer(f"{elsewhere}<h1>Lamps</h1>{above}{cards(OTHERS)}", name=TEXT, price=NUMBER)
    assert (found.records, found.complete) == ((), False)
    assert "`extract.records` says whether they are meant" in found.why


def test_a_reason_names_the_beginning_of_a_heading():
    _, why = read(f"<h1>Lamps</h1><h2>Related {'products ' * 999}</h2>{cards(OTHERS)}")
    assert why.startswith("the page shows such records only under 'Related products") and len(why) < 200
