"""Selectors by which elements are found again: each was tried on the page's tree, and none is of one page only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.page import Page
from shoal.agent.read.by_place.selector_candidates import SelectorCandidates
from shoal.agent.read.by_place.selectors_of_values import FoundSelectors, selectors_of
from tests.recorded_pages import NAMES, PAGES, recorded

URL = "http://shop.example/p/1"


def at(page: Page, selector: str) -> int:
    """The number of the only element of a selector."""
    (number,) = page.matches[selector] or ()
    return number


def taken(body: str, *selectors: str) -> Page:
    """A page that knows the elements of these selectors."""
    return page_from_html(f"<!doctype html>{body}", URL, find={css: css for css in selectors})


def alone(body: str, selector: str) -> list[str]:
    """The selectors that find an element alone."""
    page = taken(body, selector)
    return list(SelectorCandidates(page).alone(at(page, selector)))


@pytest.mark.parametrize("name", NAMES)
def test_each_selector_finds_its_element_and_no_other(name: str) -> None:
    """By the parser's own search."""
    html = (PAGES / f"{name}.html").read_bytes()
    candidates = SelectorCandidates(page := page_from_html(html, URL))
    asked = {
        css: number
        for number in range(0, len(page.elements), 3)
        if page.elements[number].tag not in ("html", "head", "body")
        for css in (
            *candidates.alone(number),
            *candidates.positions(number),
            *candidates.positions_in_named(number),
        )
    }
    found = page_from_html(html, URL, find={css: css for css in asked}).matches
    assert len(asked) >= 10
    assert {css: found[css] for css in asked} == {css: [number] for css, number in asked.items()}


def test_names_come_before_what_is_around() -> None:
    body = "<main class=item><p id=price class='big red' itemprop=price>5</p></main>"
    assert alone(body, "#price") == [
        *("#price", 'p[itemprop="price"]', "p.big", "p.red", "p.big.red", "p"),
        *("main.item #price", 'main.item p[itemprop="price"]', "main.item p.big"),
    ]


@pytest.mark.parametrize(
    "name", ["css-1x2y3z", "item_84713", "deadbeef", ":r1:", "selected", "odd", "é", "1a", "a" * 61, "md:flex"]
)
def test_a_name_that_a_program_made_or_a_state_is_no_name(name: str) -> None:
    assert alone(f"<p id='{name}' class='{name}'>a</p><p>b</p><b>", "b") == ["b"]
    page = taken(f"<p id='{name}' class='{name}' itemprop='{name}'>a</p>", "p")
    names = SelectorCandidates(page).names(at(page, "p"))
    assert [found.css for found in names] in (["p"], ["p", f'p[itemprop="{name}"]'][::-1])


def test_an_id_that_several_elements_have_is_no_name() -> None:
    assert alone("<p id=a>a</p><b id=a>b</b>", "b") == ["b"]


def test_what_is_in_two_elements_around_it_is_found_once() -> None:
    assert alone("<div class=a><div class=a><p>x</p></div></div><p>", ".a > p") == ["div.a p"]


def test_positions_begin_at_the_nearest_id_and_at_the_body() -> None:
    page = taken("<main id=main><p>a<p>b<b>c</b></main>", "b")
    assert SelectorCandidates(page).positions(at(page, "b")) == [
        "#main > p:nth-of-type(2) > b:nth-of-type(1)",
        "body > main:nth-of-type(1) > p:nth-of-type(2) > b:nth-of-type(1)",
    ]


def test_a_selector_within_a_record_finds_one_element_of_the_record() -> None:
    body = "<ul><li class=one><p class=a>1</p><div class=in><b>2</b></div><b>3</b></li><li><p class=a>4</ul>"
    page = taken(body, ".one", ".one .a", ".in b")
    candidates = SelectorCandidates(page)
    record = at(page, ".one")
    assert list(candidates.alone_in(at(page, ".one .a"), record)) == ["p.a", "p", ":scope > p:nth-of-type(1)"]
    found = list(candidates.alone_in(at(page, ".in b"), record))
    assert found == ["div.in b", ":scope > div:nth-of-type(1) > b:nth-of-type(1)"]
    assert list(candidates.alone_in(record, record)) == [":scope"]


def test_shadow_trees_have_no_selectors_and_slotted_elements_have() -> None:
    """`parts` has a host whose shadow tree draws a slotted element."""
    page = recorded("parts")
    candidates = SelectorCandidates(page)
    inner = [number for number, el in enumerate(page.elements) if not candidates.reaches(number)]
    assert inner and page.slotted
    assert all(map(candidates.reaches, page.slotted))
    for number in page.slotted:
        assert all(">" not in way or "slot" not in way for way in candidates.positions(number))


def test_positions_among_what_several_slots_draw_are_not_told() -> None:
    """Slots may draw their elements in another order than the document has them in."""
    page = page_from_html("<x-card><p slot=b>1</p><p slot=a>2</p><b>3</b></x-card>", URL)
    host = next(page.number(el) for el in page.root.iter("x-card"))
    shadowed = Page(
        page.url, page.root, page.marks, shadow_roots={host: "open"}, slotted={host + n: host for n in (1, 2, 3)}
    )
    candidates = SelectorCandidates(shadowed)
    assert [candidates.positions(host + n) for n in (1, 2, 3)] == [
        [],
        [],
        ["body > x-card:nth-of-type(1) > b:nth-of-type(1)"],
    ]


# --- the elements of values ---------------------------------------------------------------------------


def found(page: Page, *records: Mapping[str, str], many: bool = True) -> FoundSelectors:
    """The selectors of values that stand at these elements."""
    return selectors_of(page, [{name: at(page, css) for name, css in one.items()} for one in records], many=many)


def css_of(selectors: FoundSelectors, name: str) -> Sequence[tuple[str, str | None]]:
    """The selectors of a field."""
    return selectors.fields[name]


CARDS = (
    "<ul>"
    + "".join(f"<li class=card id=c{n}><h3><a href=/{n}>N{n}</a></h3><i>{n}</i></li>" for n in range(3))
    + "</ul>"
)
LINKS = [f"#c{n} a" for n in range(3)]
PRICES = [f"#c{n} i" for n in range(3)]


def test_a_record_is_the_largest_element_that_holds_nothing_of_another() -> None:
    page = taken(f"<li class=other></li>{CARDS}", *LINKS, *PRICES)
    told = found(page, *({"name": link, "price": price} for link, price in zip(LINKS, PRICES, strict=True)))
    assert told.records[0] == "li.card"
    assert css_of(told, "price") == [("i", None), (":scope > i:nth-of-type(1)", None)]
    assert [css for css, attribute in css_of(told, "name") if attribute == "href"]


def test_a_name_that_finds_more_than_the_records_is_none_of_theirs() -> None:
    page = taken(f"<div class=ads><ul><li class=card>x</ul></div><main class=list>{CARDS}</main>", *LINKS)
    assert found(page, *({"name": link} for link in LINKS)).records == ["main.list li.card", "main.list li"]


def test_records_that_lie_within_each_other_have_no_selector() -> None:
    page = taken("<div class=a>1<div class=b>2</div></div>", ".a", ".b")
    assert found(page, {"n": ".a"}, {"n": ".b"}) == FoundSelectors()


def test_the_values_of_one_record_are_found_by_name_and_by_position() -> None:
    page = taken("<main><p class=price>5</p><p>6</p></main><meta itemprop=sku content=1>", ".price", "meta")
    told = found(page, {"price": ".price", "sku": "meta"}, many=False)
    assert css_of(told, "price")[0] == ("p.price", None)
    assert css_of(told, "price")[-1] == ("body > main:nth-of-type(1) > p:nth-of-type(1)", None)
    assert css_of(told, "sku")[0] == ('meta[itemprop="sku"]', "content")
    assert all(attribute == "content" for _, attribute in css_of(told, "sku"))
