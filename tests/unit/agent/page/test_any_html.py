"""Whatever a server sends becomes a page, with a mark for each element of its tree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.recorded import page_as_json, page_from_json

URL = "https://a.test/"
PIECES = st.sampled_from(
    (
        *(
            "<p>",
            "</p>",
            "<div ",
            "<table>",
            "<td>",
            "<select>",
            "<option selected>",
            "<svg>",
            "<math>",
            "<style>",
            "</style>",
        ),
        *(
            "<template>",
            "<noscript>",
            "</noscript>",
            "<a:b c:d=e ",
            "<xml:x xmlns:q=r xmlns=s>",
            "<x-y>",
            "<ä ö=ü>",
            "<1>",
        ),
        *(
            "style='display:none'",
            'class="a',
            "=",
            "'",
            '"',
            ">",
            "<",
            "&amp;",
            "&#0;",
            "&#x1F600;",
            "]]>",
            "<!--",
            "-->",
        ),
        *(
            "<![CDATA[",
            "<?xml?>",
            "{",
            "}",
            "@media x{",
            ".a{display:none}",
            ":not(",
            ")",
            "/*",
            "*/",
            ";",
            "\\",
            "\0",
            "\x0b",
        ),
        *(
            "\ufffe",
            "\ud800",
            "a",
            " ",
            "\n",
            "é",
            "<br>",
            "<frameset>",
            "<plaintext>",
            "<textarea>",
            "<html x=1>",
            "<body y=2>",
        ),
    )
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_pieces_of_html(text: str) -> None:
    page = page_from_html(text, URL)
    tree = LexborHTMLParser(text.encode("utf-8", "replace"), scripting=True)
    assert len(page.elements) == max(1, len(tree.css("*")))
    kept = page_from_json(page_as_json(page))
    assert kept.text() == page.text()
    for el in page.elements:
        assert page.selector(el)


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    assert page_from_html(data, URL).elements[0].tag == "html"
