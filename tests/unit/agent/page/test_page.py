"""Elements of a page, shown on raw HTML."""

from __future__ import annotations

from array import array

import pytest
from lxml import etree, html

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.page import Page

URL = "https://a.test/dir/page"


def page_of(body: str) -> Page:
    return page_from_html(f"<!doctype html><html lang=en><head><title>T</title></head><body>{body}</body></html>", URL)


def first(page: Page, path: str) -> html.HtmlElement:
    return page.root.xpath(path)[0]


def test_elements_have_their_place_in_document_order() -> None:
    page = page_of("<p>a<b>c</b></p><i>d</i>")
    assert [el.tag for el in page.elements] == ["html", "head", "title", "body", "p", "b", "i"]
    assert [page.number(el) for el in page.elements] == list(range(7))


def test_an_element_of_another_page_has_no_number() -> None:
    with pytest.raises(KeyError):
        page_of("<p>a").number(first(page_of("<p>a"), "//p"))


def test_marks_that_are_not_the_trees_are_refused() -> None:
    with pytest.raises(ValueError, match="marks of 1 elements are given; the tree has 2"):
        Page(url=URL, root=html.fromstring("<p>a<b>c</b></p>"), marks=array("i", [0]))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>one   two\n three</p><p>four</p>", "one two three\nfour"),
        ("a<b> b</b>c<br><br>d", "a bc\nd"),
        ("<p>a <span style='display:none'>b</span>c</p>", "a c"),
        ("<p style='visibility:hidden'>a <b style='visibility:visible'>c</b> d</p>", "c"),
        ("<table><tr><th>k<th>l<tr><td> a </td> <td>b <b>c</b></td></table>", "k\tl\na\tb c"),
        ("<pre>  a\n    b</pre>c", "  a\n    b\nc"),
        ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
        ("<p>a<script>s()</script><style>p{}</style>c</p>", "ac"),
        ("<div style='display:flex'><span>a</span><span>b</span></div>", "a\nb"),
        ("<select><option>a<option selected>b</select>", "b"),
        ("a\u00a0b", "a\u00a0b"),
        ("", ""),
    ],
)
def test_text_reads_as_a_person_reads_it(body: str, text: str) -> None:
    assert page_of(body).text() == text


def test_text_that_is_drawn_unseen_is_told_where_it_is_asked_for() -> None:
    page = page_of(
        "<p>a<b style='opacity:0'>b</b><i style='visibility:hidden'>c</i><s hidden>d</s>"
        "<select><option>e<option selected>f</select><u style='position:absolute;left:-9999px'>g</u>"
    )
    assert page.text().split() == ["a", "f"]
    assert "".join(page.text(drawn=True).split()) == "abefg"


def test_text_of_one_element_ends_with_it() -> None:
    page = page_of("<p>a <b>c</b> d</p>")
    assert page.text(first(page, "//b")) == "c"


def test_layouts_and_blocks() -> None:
    page = page_of("<div><a>x</a><li>y<table><tr><td>z</table></div><p style='display:inline'>w")
    layouts = {el.tag: page.layout(el) for el in page.elements}
    assert layouts["div"] == "block" and layouts["a"] == "inline" and layouts["li"] == "list-item"
    assert layouts["table"] == "table" and layouts["tr"] == "row" and layouts["td"] == "cell"
    assert layouts["p"] == "inline" and layouts["tbody"] == "rows" and layouts["title"] == "none"
    assert [page.is_block(first(page, f"//{tag}")) for tag in ("div", "tr", "a", "td")] == [True, True, False, False]


def test_reasons_are_told_in_words() -> None:
    page = page_of("<div style='opacity:0'><p hidden>a</p></div><p>b")
    hidden, shown = page.root.xpath("//p")
    assert page.why_hidden(hidden) == ("display none", "transparent")
    assert page.why_hidden(shown) == ()


def test_states() -> None:
    page = page_of(
        "<input type=checkbox checked disabled><select multiple><option selected>a<option>b</select>"
        "<del>c</del><div style='position:fixed'>e</div><textarea> f</textarea>"
    )
    box, options = first(page, "//input"), page.root.xpath("//option")
    assert page.checked(box) and page.disabled(box)
    assert [page.selected(option) for option in options] == [True, False]
    assert page.struck(first(page, "//del"))
    assert page.fixed(first(page, "//div[last()]")) and page.pre(first(page, "//textarea"))


def test_values_of_fields() -> None:
    page = page_of(
        "<input value=a><input type=password value=secret><textarea>b\nc</textarea>"
        "<select><option value=1>x<option value=2 selected>y</select><select><option> z </select><p>p</p>"
    )
    fields = page.root.xpath("//input | //textarea | //select")
    assert [page.value(field) for field in fields] == ["a", "••••••", "b\nc", "2", "z"]
    assert page.value(first(page, "//p")) is None


def test_no_boxes_without_a_browser() -> None:
    page = page_of("<p>a")
    assert page.box(first(page, "//p")) is None


def test_a_copy_can_be_changed_and_the_page_stays() -> None:
    page = page_of("<p>a</p>")
    copied = page.copy()
    copied.body.clear()
    assert page.text() == "a" and copied.base_url == URL


def test_a_copy_has_the_classes_that_a_library_wants() -> None:
    lookup = etree.ElementDefaultClassLookup()
    assert type(page_of("<p>a").copy(lookup)) is etree._Element


@pytest.mark.parametrize(
    ("body", "path", "selector"),
    [
        ("<p>a</p><p><b>c</b><b>d</b></p>", "//b[2]", "html > body > p:nth-of-type(2) > b:nth-of-type(2)"),
        ("<div id=x><p>a</p></div>", "//p", "#x > p"),
        ("<p id=x>a</p><p id=x>b</p>", "//p[2]", "html > body > p:nth-of-type(2)"),
        ("<p id='1'>a</p>", "//p", "html > body > p"),
        ("<o:p>a</o:p>", "//o_p", "html > body > *:nth-child(1)"),
    ],
)
def test_selectors_lead_to_one_element(body: str, path: str, selector: str) -> None:
    page = page_of(body)
    assert page.selector(first(page, path)) == (selector,)
