"""A raw document says at its places what its page says there, or says nothing: one contract for both.

Style sheets and scripts are kept from the page here: what they change is seen by samples (`agent/documents/trust.py`).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import lxml.html
import pytest
import pytest_asyncio

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.read.by_place.elements.page_reading import PLACES_JS, parse_places_answer, places_parameters
from shoal.agent.read.by_place.places_page import PlacedRecord
from shoal.agent.spec import BrowserSpec
from tests.integration.extraction.pages import PAGES
from tests.loopback import served
from tests.sites.registry import cache

pytestmark = pytest.mark.asyncio(loop_scope="session")

SELECTORS = [
    "title",
    "h1",
    "h2",
    "p",
    "li",
    "td",
    "th",
    "a",
    "dd",
    "dt",
    "b",
    "em",
    "code",
    "pre",
    "img",
    "time",
    "span",
    "div",
    "body",
    "section",
    "strong",
    "small",
    ".price",
    "p:first-of-type",
    "td:nth-child(2)",
    "table td",
    "tr:not(:first-child)",
    "a[href^='#']",
    "dl>dd:last-child",
    "li:has(a)",
    ":is(h1,h2)",
    "div>p+p",
    "ul~p",
]
ATTRIBUTES = ("id", "href", "class", "src", "title", "content")
MOST_LABELS = 25
"""Of one page."""


@pytest_asyncio.fixture(loop_scope="session")
async def bare(browser: Browser) -> AsyncIterator[Context]:
    """A context without style sheets and scripts."""
    block = BrowserSpec.model_validate({"block": ["stylesheet", "script"]})
    context = await browser.new_context(ContextOptions(browser=block))
    yield context
    await context.close()


def fields_of(markup: str) -> Iterator[dict[str, Any]]:
    """Every kind of place that may be on a page: its own labels and headers, and selectors of many shapes."""
    tree = lxml.html.fromstring(markup)
    for selector in SELECTORS:
        yield {"kind": "select", "query": selector, "attribute": None}
    for attribute in ATTRIBUTES:
        yield {"kind": "select", "query": f"[{attribute}]", "attribute": attribute}
    names = [
        el.text_content() for el in tree.iter("th", "dt", "b", "strong", "label", "legend", "h2", "h3", "td", "span")
    ]
    lines = re.findall(r"(?m)^\W*([\w ]{2,30}):", tree.text_content())
    told = list(dict.fromkeys(" ".join(name.split()).rstrip(":") for name in [*names, *lines]))
    for name in [name for name in told if 1 < len(name) < 40][:MOST_LABELS]:
        yield {"kind": "label", "query": name, "attribute": None}
        yield {"kind": "column", "query": name, "attribute": None}


def places(view: Mapping[str, Any], name: str) -> list[Any]:
    """The places of one field, without what only tells where they are."""
    return [(place, place.where) for place in PlacedRecord.of(view["records"][0]).places[name]]


async def compared(page: Context, url: str) -> tuple[int, list[str]]:
    """Return how many fields the document answered, and which of them the page answers otherwise."""
    async with httpx.AsyncClient() as client:
        answer = await client.get(url)
    document = HtmlDocument(RawDocument(url, answer.status_code, dict(answer.headers), answer.content))
    await page.goto(url)
    read, wrong = 0, []
    asked = {f"{field['kind']} {field['query']} {field['attribute'] or ''}": field for field in fields_of(answer.text)}
    arg = {"fields": asked, "records": None, "many": False, "json": True}
    answer = await page.read(PLACES_JS, places_parameters(arg))
    assert isinstance(answer, dict)
    found = parse_places_answer(answer, arg)
    for name, field in asked.items():
        try:
            mine = document.read({"fields": {name: field}, "json": True}).view
        except BeyondDocument:
            continue
        read += 1
        one, other = places(mine, name), places(found, name)
        if one != other:
            first = next((pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]), (len(one), len(other)))
            wrong.append(f"{url} {name}: {first}")
        assert (mine["json"], mine["lang"], mine["url"]) == (found["json"], found["lang"], found["url"])
    return read, wrong


@pytest.mark.parametrize(
    "path", ["/parts", "/two-tables", "/facts", "/edit", "/json-ld", "/state", "/empty", "/spoken", "/struck"]
)
async def test_each_place_of_our_own_pages(bare: Context, site: str, path: str) -> None:
    assert path in PAGES
    read, wrong = await compared(bare, f"{site}{path}")
    assert wrong == []
    assert read > 10


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Silence."""


REAL = {
    "libxml2-doc": "usr/share/doc/libxml2-doc/html/libxml2-parser.html",
}


def manual() -> Path:
    """The folder of the manual of Python."""
    for folder in (Path("/usr/share/doc/python3-doc/html"), Path("/usr/share/doc/python3.11/html")):
        if folder.exists():
            return folder
    try:
        root = cache.debian("python3.11-doc")
    except cache.Unreachable as error:
        pytest.skip(str(error))
    return next(root.glob("usr/share/doc/python3*/html/library/json.html")).parents[1]


@pytest.mark.parametrize("path", ["library/json.html", "library/codecs.html", "glossary.html", "py-modindex.html"])
async def test_each_place_of_pages_that_others_wrote(bare: Context, path: str) -> None:
    with served(partial(Quiet, directory=str(manual()))) as url:
        read, wrong = await compared(bare, f"{url}/{path}")
    assert wrong == []
    assert read > 30
