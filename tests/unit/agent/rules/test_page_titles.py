"""The title of a page: its own heading, or missing where another place may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import FieldsMissing
from tests.unit.agent.rules.test_right_or_missing import TEXT, read, value

if TYPE_CHECKING:
    from tests.unit.agent.rules.conftest import Site


async def test_a_numbered_heading_that_the_title_bears_out_is_the_title(page: Context, site: Site) -> None:
    body = '<div id="Sets"><p>Next: <a href="/n">Polynomials</a></p><h3>27.1 Set Operations</h3><p>Text.</p></div>'
    assert await value(page, site, body, headline="Set Operations (The Manual 7.3)", title=TEXT) == {
        "title": "27.1 Set Operations"
    }


SITE_WIDE = """<div class=top><h1>The Manual v18 documentation</h1></div><div id=content>
  <h2>Buffer<a class=mark href="#buffer">#</a></h2><p>Bytes of a fixed length.</p><h3>Use</h3><p>Make one.</p></div>"""


@pytest.mark.parametrize("own", ["Buffer", "Modules: CommonJS"])
async def test_the_heading_of_the_whole_site_is_not_the_page_s_title(page: Context, site: Site, own: str) -> None:
    """Which of two headings is the page's own, where the document's title names both, is not known."""
    body, headline = SITE_WIDE.replace("Buffer", own), f"{own} | The Manual v18 Documentation"
    with pytest.raises(FieldsMissing, match=f"title is not certain.*The Manual v18 documentation.*{own}"):
        await read(page, site, body, headline=headline, title=TEXT)


async def test_the_first_heading_stays_the_title_where_the_document_s_title_begins_with_it(
    page: Context, site: Site
) -> None:
    body = "<main><h1>Blue lamp</h1><p>Shines.</p><h2>Lamps</h2><p>More of them.</p></main>"
    assert await value(page, site, body, headline="Blue lamp | Lamps", title=TEXT) == {"title": "Blue lamp"}


@pytest.mark.parametrize("chapter", ["Documentation", "Encoding"])
async def test_a_chapter_is_not_the_title_where_another_place_says_what_the_document_is(
    page: Context, site: Site, chapter: str
) -> None:
    """As Haddock draws a module: its name is no heading, and its chapters are of the first level."""
    body = f"""<div id=content><p class=caption>Data.Json.Encoding</p><h1>{chapter}</h1><p>encode :: a</p>
      <h1>Decoding</h1></div>"""
    record = await value(page, site, body, headline="Data.Json.Encoding", title=TEXT)
    assert record == {"title": "Data.Json.Encoding"}


async def test_a_heading_with_a_number_is_no_title_where_the_document_is_called_otherwise(
    page: Context, site: Site
) -> None:
    with pytest.raises(FieldsMissing, match="title is not certain"):
        await read(page, site, "<div><h3>2 results</h3><p>Text.</p></div>", headline="Our results", title=TEXT)
