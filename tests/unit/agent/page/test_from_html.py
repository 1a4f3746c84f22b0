"""The tree of raw HTML is a browser's, and libraries read it as they read the file."""

from __future__ import annotations

import extruct
import pytest
from extruct.xmldom import DomHtmlElementClassLookup
from lxml import html

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.lexbor_tree import parse_html
from shoal.agent.page.page import Page
from shoal.agent.page.plain_selectors import PlainSelectors, plain_steps

URL = "https://a.test/dir/page"


def tags(page: Page) -> list[str]:
    return [str(el.tag) for el in page.elements]


@pytest.mark.parametrize(
    ("data", "charset"),
    [
        ("<p>Größe".encode(), "utf-8"),
        ("<p>Größe".encode("latin-1"), "ISO-8859-1"),
        ("<meta charset=windows-1252><p>Größe".encode("cp1252"), None),
        ("<p>Größe".encode(), None),
        ("<p>Größe".encode("cp1252"), None),
        ("<p>Größe".encode("utf-16"), None),
        ("\ufeff<p>Größe".encode(), "windows-1252"),
        ("<p>Größe".encode(), "no-such-encoding"),
        ("<p>Größe", None),
    ],
)
def test_the_encoding_is_the_one_that_is_declared(data: bytes | str, charset: str | None) -> None:
    assert page_from_html(data, URL, charset).text() == "Größe"


@pytest.mark.parametrize("data", [b"", b" ", b"\0", "\ud800", "<!-- -->", "<", b"\xff\xfe"])
def test_any_data_is_a_page(data: bytes | str) -> None:
    assert tags(page_from_html(data, URL))[0] == "html"


def test_what_a_parser_of_browsers_does() -> None:
    page = page_from_html("<table><p>a<tr><td>b</table><a>c<a>d<p>e<div>f</p>g", URL)
    assert tags(page) == ["html", "head", "body", "p", "table", "tbody", "tr", "td", "a", "a", "p", "div", "p"]


def test_names_and_characters_that_xml_forbids() -> None:
    page = page_from_html("<p @click='a()' 1b=2 x:y=z>a\x01\x0b\ufffe<o:p>b</o:p>&amp;&lt;c", URL)
    p = page.root.find(".//p")
    assert dict(p.attrib) == {"_click": "a()", "_b": "2", "x_y": "z"}
    assert page.text() == "ab&<c"


def test_values_keep_their_white_space_and_quotes() -> None:
    page = page_from_html("<p title='a\n\"b\"\tc & <d>'>x", URL)
    assert page.root.find(".//p").get("title") == 'a\n"b"\tc & <d>'


def test_prefixes_are_told_as_rdfa_tells_them() -> None:
    page = page_from_html("<html xmlns='http://www.w3.org/1999/xhtml' xmlns:og='http://ogp.me/ns#'><p>a", URL)
    assert dict(page.root.attrib) == {"prefix": "og: http://ogp.me/ns#"}


def test_drawings_keep_the_case_of_their_names() -> None:
    page = page_from_html("<svg viewBox='0 0 1 1'><linearGradient/></svg>", URL)
    svg = page.root.find(".//svg")
    assert svg.get("viewBox") == "0 0 1 1" and svg[0].tag == "linearGradient"


def test_a_very_deep_document_keeps_its_elements_and_texts() -> None:
    page = page_from_html("<div>" * 5_000 + "deep", URL)
    assert tags(page).count("div") == 5_000
    assert page.text() == "deep"


@pytest.mark.parametrize(
    ("head", "base"), [("", URL), ("<base href='/other/'>", "https://a.test/other/"), ("<base href='http://['>", URL)]
)
def test_links_resolve_by_the_base_of_the_document(head: str, base: str) -> None:
    assert page_from_html(f"<head>{head}</head><a href=x>a", URL).root.base_url == base


def test_two_ways_to_write_a_rule() -> None:
    page = page_from_html(
        "<style>.a, .b > i { /* } */ DISPLAY : None ! IMPORTANT }"
        "@media all { @media screen { u { display: none } } }</style>"
        "<p class=a>a<p class=b><i>b</i><p><i>c</i><u>d</u>",
        URL,
    )
    assert page.text() == "c"


def test_what_an_animation_brings_in_is_shown() -> None:
    page = page_from_html("<style>p { opacity: 0 } .in { animation: in 1s forwards }</style><p>a<p class=in>b", URL)
    assert page.text() == "b"


def test_nested_layers_and_variables() -> None:
    page = page_from_html(
        "<style>@layer a { p { display: none; & b { visibility: hidden } } u { display: none !important } }"
        "p { display: block } i { display: var(--x) } u { display: inline !important }</style>"
        "<p>a<b>b</b><i>c</i><u>d</u>",
        URL,
    )
    assert page.text() == "ac"


def test_a_broken_sheet_hides_nothing_more() -> None:
    page = page_from_html(
        "<style>}} p { color } .x { display: none } @media { i { </style><p>a<i>b</i><b class=x>c", URL
    )
    assert page.text() == "ab"


DATA = """<!doctype html><html prefix="og: http://ogp.me/ns#"><head><title>T</title>
<script type="application/ld+json">{"@type": "Product", "name": "A &amp; <b>"}</script>
<meta property="og:title" content="O"><noscript><img src=x></noscript><meta name="dc.title" content="D"></head>
<body><div itemscope itemtype="https://schema.org/Product"><span itemprop="name" hidden>N</span>
<a itemprop="url" href="../u">U</a></div><div class="h-card"><p class="p-name">H</p></div>
<div vocab="https://schema.org/" typeof="Person"><span property="name">R</span></div></body></html>"""
SYNTAXES = ["json-ld", "microdata", "opengraph", "dublincore"]


def test_extruct_reads_the_tree_as_it_reads_the_file() -> None:
    page = page_from_html(DATA, URL)
    parsed = html.fromstring(DATA.replace("<noscript><img src=x></noscript>", ""), base_url=URL)
    of_tree = extruct.extract(page.root, base_url=URL, syntaxes=SYNTAXES)
    assert of_tree == extruct.extract(parsed, base_url=URL, syntaxes=SYNTAXES)
    assert all(of_tree[syntax] for syntax in SYNTAXES)


def test_extruct_reads_rdfa_in_a_copy_of_its_own_classes() -> None:
    page = page_from_html(DATA, URL)
    of_tree = extruct.extract(page.copy(DomHtmlElementClassLookup()), base_url=URL, syntaxes=["rdfa"])
    of_file = extruct.extract(DATA, base_url=URL, syntaxes=["rdfa"])
    # In whatever order: rdflib's nodes without a name have another one in each run.
    names = sorted(str(item.get("https://schema.org/name")) for item in of_tree["rdfa"])
    assert "[{'@value': 'R'}]" in names
    assert names == sorted(str(item.get("https://schema.org/name")) for item in of_file["rdfa"])


@pytest.mark.parametrize(
    "selector", ["p", "*", ".a", "#x", "p.a", "div p", "div > p", ".a .b", ".a.b", "#x .b > i", "div div *", "B.a"]
)
def test_plain_selectors_find_what_the_parser_finds(selector: str) -> None:
    nested = (
        "<div class='a b'><p class=a>1<i class=b>2</i></p>"
        "<div id=x class=b><p><b class='a b'>3</b><i>4</i></p></div></div>"
    )
    document = parse_html(nested * 2, "https://plain.test/")
    steps = plain_steps(selector)
    assert steps is not None
    assert list(PlainSelectors(document).find(steps)) == document.find(selector)
