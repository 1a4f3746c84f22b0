"""Links of a page in groups, and its ways on, from HTML alone and as a browser showed it."""

from __future__ import annotations

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.links.choosing import choose_group, distinct
from shoal.agent.read.links.list_page import ListPage, list_page_of
from shoal.agent.read.links.page_links import ListRow
from tests.recorded_pages import NAMES, raw, recorded

URL = "https://site.example/shop/?p=2"


def seen(html: str, *, select: str = "", on: str = "") -> ListPage:
    find = {name: selector for name, selector in (("select", select), ("next", on)) if selector}
    return list_page_of(page_from_html(html, URL, find=find), words=["submarine"], counts=True)


def entries(name: str, count: int) -> str:
    return "".join(f'<li class={name}><a href="/{name}/{n}">{name.title()} {n}</a>' for n in range(count))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "parts"])
def test_a_browser_and_html_alone_tell_the_same(name: str) -> None:
    with_browser, without = list_page_of(recorded(name)), list_page_of(raw(name))
    assert with_browser.groups == without.groups
    assert with_browser.controls == without.controls
    assert with_browser.about == without.about


def test_words_name_a_group_and_else_structure_does() -> None:
    menu = f"<nav><ul>{entries('menu', 20)}</ul></nav>"
    cards = "".join(
        f'<div class=card><img src="{n}.png"><h3><a href="/lamp/{n}">No. {n}</a></h3><p>Of brass and glass, {n} €</div>'
        for n in range(12)
    )
    news = f"<section><h2>Latest news</h2><ul>{entries('news', 10)}</ul></section>"
    groups = seen(f"<main>{menu}<section><h2>Our lamps</h2>{cards}</section>{news}</main>").groups
    by_heading = {group.heading: group for group in groups}
    assert [(group.size, group.region, group.richness) for group in groups] == [
        (20, "nav", 0),
        (12, "main", 3),
        (10, "main", 0),
    ]
    assert choose_group(groups, "all items") is by_heading["Our lamps"]
    assert choose_group(groups, "news") is by_heading["Latest news"]
    assert choose_group(groups, "every lamp") is by_heading["Our lamps"]
    assert choose_group(groups, "items", settled=by_heading["Latest news"].kind) is by_heading["Latest news"]


def test_links_to_places_on_the_page_itself_are_no_list() -> None:
    groups = seen("<ul>" + "".join(f"<li><a href='#p{n}'>Part {n}</a>" for n in range(5)) + "</ul>").groups
    assert [group.away for group in groups] == [0]
    assert choose_group(groups, "items") is None


def test_a_card_is_one_row_and_a_picture_s_link_is_called_by_its_own_card() -> None:
    cards = "".join(
        f"<div class=card><a href='/p/{n}'><img src={n}.png></a><a href='/p/{n}'>Lamp {n}</a></div>" for n in range(3)
    )
    (group,) = seen(cards).groups
    assert [row.text for row in group.rows] == ["Lamp 0", "Lamp 1", "Lamp 2"]
    pictures = "".join(f"<div class=card><a href='/p/{n}'><img src={n}.png></a><p>Lamp {n}</div>" for n in range(3))
    (group,) = seen(pictures).groups
    assert [row.text for row in group.rows] == ["Lamp 0", "Lamp 1", "Lamp 2"], "it was the first card's text for all"


def test_links_that_nothing_draws_are_counted_as_not_there() -> None:
    there = "<div style='max-height:0;overflow:hidden'><a href=/1>folded</a></div>"
    (folded,) = seen(there).groups
    (hidden,) = seen("<div hidden><a href=/1>hidden</a></div>").groups
    assert (folded.visible, hidden.visible) == (1, 0)


def test_addresses_are_what_a_browser_opens() -> None:
    written = [
        "a b",
        "/ä?q=1|2&a[]=x",
        "HTTPS://Site.Example",
        "\\x",
        "#",
        "mailto:x@y.example",
        "file:///x",
        "http://[",
    ]
    page = seen("<base href='/other/'>" + "".join(f"<p><a href='{href}'>x</a>" for href in written))
    assert [row.link for row in page.groups[0].rows] == [
        "https://site.example/other/a%20b",
        "https://site.example/%C3%A4?q=1|2&a[]=x",
        "https://site.example/",
        "https://site.example/x",
    ]
    assert page.groups[0].astray == ("file:///x", "http://[")


def test_rows_of_a_selector() -> None:
    page = seen(
        "<ul><li><a href=/1>One</a> <h3>First</h3><li><a href=#>do</a> text<li><a href=file:///x>Off</a></ul>",
        select="li",
    )
    assert page.matched == (
        ListRow("https://site.example/1", "First"),
        ListRow("", "do text"),
        ListRow("", "Off", "file:///x"),
    )
    assert page.groups == ()
    assert seen("<li>x", select="li[").unread == ("select",)


def test_the_page_s_own_words() -> None:
    page = seen(
        "<title>All things</title><h1>Things</h1><p>Yellow Submarines<script src=x.js></script><p aria-busy=true>…"
    )
    assert (page.title, page.heading, page.about) == ("All things", "Things", f"All things Things {URL}")
    assert (page.heard, page.scripted, page.busy, page.loaded) == ({"submarine"}, True, True, True)
    assert page.text == "Things\nYellow Submarines\n…"
    assert not seen("<script type=application/json>{}</script>").scripted


PAGER = "<nav class=pagination><ul>{}</ul></nav>"


def test_controls_in_pagers_are_told_with_their_place() -> None:
    buttons = "<li><button disabled>1</button><li class=active><button>2</button><li><button>3</button>"
    page = seen(PAGER.format(buttons))
    assert [(control.text, control.disabled) for control in page.controls] == [("1", True), ("2", False), ("3", False)]
    assert page.current == "2"
    found = page_from_html(PAGER.format(buttons), URL, find={"x": page.controls[2].place})
    assert [found.elements[number].text for number in found.matches["x"] or ()] == ["3"]


def test_a_drawing_in_a_pager_says_by_its_names_where_it_leads() -> None:
    page = seen(
        PAGER.format(
            "<li><a href=/1><i class=icon-chevron-left></i></a><li><a href=/3><i class=fa-angle-right></i></a>"
        )
    )
    assert [(control.link, control.rel) for control in page.controls] == [
        ("https://site.example/1", ""),
        ("https://site.example/3", "next"),
    ]


def test_what_a_control_does() -> None:
    page = seen(
        "<form method=POST id=f><button>Next</button></form><form><button>Find</button></form>"
        "<button form=f>Send</button><span class=disabled><a href=/x>Off</a></span><a role=button>Plain</a>"
    )
    assert [(control.text, control.sends, control.disabled) for control in page.controls] == [
        ("Next", "post", False),
        ("Find", "get", False),
        ("Send", "post", False),
        ("Off", "", True),
        ("Plain", "", False),
    ]


def test_the_next_page_by_rel() -> None:
    assert seen("<link rel='next' href='?p=3'>").rel_next == "https://site.example/shop/?p=3"
    assert seen("<a rel='nofollow next' href='#'>Next</a>").rel_next == "", "a script's button"
    assert seen("<link rel=next href=file:///x>").astray == ("file:///x",)


def test_the_caller_s_way_on() -> None:
    page = seen("<p class=on><a href=/3>On</a></p>", on="p.on")
    assert [control.link for control in page.next_controls] == ["https://site.example/3"]


def test_a_fragment_of_a_page_that_is_an_item_itself_is_no_second_item() -> None:
    rows = [ListRow(url, "x") for url in ("a.html", "a.html#reviews", "b.html#x", "b.html#y")]
    assert [row.link for row in distinct(rows)] == ["a.html", "b.html#x", "b.html#y"]
    routes = [ListRow(f"https://app.example/{route}", "x") for route in ("", "#/item/1", "#/item/2")]
    assert distinct(routes) == routes
    words = [ListRow("", "one"), ListRow("", "two")]
    assert distinct(words) == words
