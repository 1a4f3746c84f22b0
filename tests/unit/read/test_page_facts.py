"""The facts that tell a page's kind: the same by its tree and by its raw document, and what only a page tells."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.by_place.elements.page_elements import PageElements
from shoal.agent.read.by_place.elements.page_facts import landmarks_of, outline_of
from shoal.agent.read.by_place.elements.page_reading import places_on, places_parameters
from shoal.agent.workflows.reading.page_view import NO_VALUE, PageView, hashed_text, view_from, view_parameters

URL = "http://shop.example/p/1"
HTML = {"content-type": "text/html; charset=utf-8"}
NO_PLACES: dict[str, Any] = {"fields": {}, "records": None, "many": False, "near": False}


def facts(body: str, *selectors: str, **asked: bool) -> dict[str, Any]:
    """Return the facts of a page."""
    arg = {**NO_PLACES, "selectors": list(selectors), **asked}
    page = page_from_html(f"<!doctype html>{body}", URL, find=places_parameters(arg)["tree"]["find"])
    told: Any = places_on(page, arg)["facts"]
    return dict(told)


def elements(body: str) -> PageElements:
    """Return the elements of a page."""
    return PageElements(page_from_html(f"<!doctype html>{body}", URL))


def view(body: str) -> PageView:
    """Return the view of a page with all texts that it draws."""
    arg = view_parameters((), texts=True)
    return view_from(places_on(page_from_html(f"<!doctype html>{body}", URL), arg), ())


def texts(body: str) -> list[list[str]] | None:
    """Return the texts that a page draws, with their places."""
    told: list[list[str]] | None = facts(body, texts=True).get("texts")
    return told


@pytest.mark.parametrize(
    ("body", "selectors"),
    [
        ("<title> A  lamp </title><h1>Lamp</h1><h2 hidden>Later</h2><p class=gone hidden>", ("h1", ".gone", ".none")),
        ("<body><svg><title>Basket</title></svg><h1>Two <b>lamps</b></h1>", ("b", "svg title")),
        ("<title>Lamp</title><div style='display:none'><h1>Sign in</h1><input type=password></div>", ("input", "h1")),
        ("<main aria-busy=true>", ('[aria-busy="true"]', "main")),
        ("<main aria-busy=false><h1>Lamp</h1><h1>Chair</h1>", ("main > h1",)),
        ("<h1><svg><style>.a{}</style></svg>Lamp</h1>", ()),
        ("", ("body", "p")),
    ],
)
def test_a_page_and_its_raw_document_have_the_same_facts(body: str, selectors: tuple[str, ...]) -> None:
    document = HtmlDocument(RawDocument(URL, 0, HTML, f"<!doctype html>{body}".encode()))
    of_document: Any = document.read({"fields": {}, "selectors": selectors}).view["facts"]
    of_page = facts(body, *selectors)
    assert {name: of_page[name] for name in of_page.keys() - {"text"}} == {
        name: of_document[name] for name in of_document.keys() - {"text", "document"}
    }


def test_the_title_is_that_of_the_page_and_of_no_drawing() -> None:
    assert facts("<body><svg><title>Basket</title></svg><title>A lamp</title>")["title"] == "A lamp"


def test_a_selector_that_is_none_finds_nothing() -> None:
    told = facts("<p>x", "p", "p[", ":unknown(")
    assert (told["present"], told["visible"]) == (["p"], ["p"])


def test_what_a_page_hides_is_present_and_not_visible() -> None:
    body = "<style>.off { visibility: hidden }</style><p class=off>a<dialog>b</dialog><details><p id=in>c</details>"
    told = facts(body, ".off", "dialog", "#in", "details")
    assert told["present"] == [".off", "dialog", "#in", "details"]
    assert told["visible"] == ["details"]


def test_the_text_is_what_is_shown() -> None:
    assert facts("<h1>Lamp</h1><p>€12<b hidden>.50</b></p><p style='opacity:0'>€9</p>")["text"] == "Lamp\n€12"


def test_landmarks_are_told_once_and_in_order() -> None:
    body = "<nav></nav><div role=banner></div><main><form></form></main><p role=note></p><nav></nav><header></header>"
    assert landmarks_of(elements(body)) == ["navigation", "banner", "main", "form"]


def test_the_outline_is_the_same_for_pages_of_one_template() -> None:
    one, other = (outline_of(elements(f"<main><h1>{n}</h1>{'<p>a' * n}</main>")) for n in (1, 9))
    assert one == other == "0main 1h1 1p"
    assert outline_of(elements("<main><h1>1</h1><p>a<table>")) != one


def test_an_outline_ends_somewhere() -> None:
    assert outline_of(elements("<i></i>" * 390 + "<b></b>" * 500 + "<u>")) == "0b 0i 0u"
    assert outline_of(elements("<div>" * 3_000)) == " ".join(f"{level}div" for level in range(6))


# --- texts --------------------------------------------------------------------------------------------


def test_texts_are_told_with_places_that_entries_of_a_list_share() -> None:
    body = "<ul><li class='b a'>Oak  stool<li class='a b'>Elm <i>bench</i> long</ul>"
    assert texts(body) == [
        ["/ul/li.a.b", "Oak stool"],
        ["/ul/li.a.b", "Elm long"],
        ["/ul/li.a.b/i", "bench"],
    ]


def test_a_label_is_told_apart_from_what_it_labels() -> None:
    assert texts("<p>Price: €5</p><b>Weight:</b>") == [["/p/:", "Price"], ["/p", "€5"], ["/b", "Weight"]]


def test_an_empty_cell_is_told_and_an_empty_division_is_not() -> None:
    assert texts("<table><tr><td></td><td>5</td></tr></table><dl><dt>a<dd></dl><div></div>") == [
        ["/table/tbody/tr/td", ""],
        ["/table/tbody/tr/td", "5"],
        ["/dl/dt", "a"],
        ["/dl/dd", ""],
    ]


def test_what_holds_more_than_texts_is_told_by_its_name() -> None:
    body = "<img alt='A stool'><img><input value=5><x-price></x-price><svg><text>5</text></svg><iframe></iframe>"
    assert texts(body) == [
        ["/img", "A stool"],
        ["/img", "<img>"],
        ["/input", "<input>"],
        ["/x-price", "<x-price>"],
        ["/svg", "<svg>"],
        ["/iframe", "<iframe>"],
    ]


def test_texts_that_are_not_drawn_are_not_told() -> None:
    body = "<p hidden>a</p><script>b</script><noscript>c</noscript><div style='display:none'><p>d</div><p>e</p>"
    assert texts(body) == [["/p", "e"]]


def test_of_a_page_with_too_many_texts_none_is_told() -> None:
    assert texts("<p>a" * 2_000) is not None
    assert texts("<p>a" * 2_100) is None
    assert view("<p>a" * 2_100).texts is None


def test_a_view_has_its_texts_as_hashes() -> None:
    seen = view("<p>Sale: –</p><p>€12.50</p>")
    assert seen.texts == (hashed_text("/p/:", "Sale"), hashed_text("/p", "–"), hashed_text("/p", "€12.50"))
    assert f" {NO_VALUE} " in seen.texts[1]
