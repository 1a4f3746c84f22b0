"""A document is fetched, and read when something is asked of it; what it does not tell, a browser's page tells."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from shoal.agent.browser import ContextOptions
from shoal.agent.documents.context import DocumentBrowser, DocumentContext, DocumentReading, read_here
from shoal.agent.documents.document import RawDocument, ReadDocument
from shoal.agent.documents.fetching import Visitor
from shoal.agent.documents.outcome import DocumentOutcome
from shoal.agent.documents.trust import SAMPLES, DocumentTrust
from shoal.agent.read.by_place.elements.page_reading import PLACES_JS
from shoal.agent.spec import JobSpec
from tests.doubles.browser_double import FakeBrowser, FakePage

pytestmark = pytest.mark.asyncio

URL = "http://shop.example/p/1"
SPEC = JobSpec.model_validate({"url": URL, "extract": {"fields": {"price": {"select": ".price"}}}})
ASKED = {"fields": {"price": {"kind": "select", "query": ".price", "attribute": None}}, "json": False}
PAGE = '<!doctype html><html lang=en><body><p class="price">€5</p>'
HTML = {"content-type": "text/html; charset=utf-8"}
SHOWN = {"by": "the page"}


class NoAudits(random.Random):
    def random(self) -> float:
        return 1.0


class Reads:
    """A `DocumentClient` of one document, and a `DocumentReader` that counts."""

    def __init__(self, html: str, headers: Mapping[str, str] = HTML) -> None:
        self.raw = RawDocument(URL, 200, headers, html.encode())
        self.readings = 0
        self.told: list[DocumentOutcome] = []
        self.guarded: list[str] = []

    async def get(self, url: str, headers: Mapping[str, str], timeout_s: float, most_bytes: int = 0) -> RawDocument:
        return self.raw

    async def __call__(self, raw: RawDocument, arg: Mapping[str, Any]) -> ReadDocument:
        self.readings += 1
        return await read_here(raw, arg)

    async def guard(self, url: str) -> None:
        self.guarded.append(url)

    async def opened(self) -> tuple[DocumentContext, FakeBrowser]:
        """The page is open, on a site whose documents are known to be as its pages."""
        trust = DocumentTrust(NoAudits())
        trust.visitor = Visitor("Agent/1", ("en",), "text/html")
        known = await read_here(RawDocument(URL, 200, HTML, PAGE.encode()), ASKED)
        for _ in range(SAMPLES):
            trust.agreed(known)
        browser = FakeBrowser({URL: FakePage(read=SHOWN)})
        reading = DocumentReading(SPEC, self, trust, self.guard, self.told.append, self)
        context = await DocumentBrowser(browser, reading).new_context(ContextOptions(reading=True))
        assert isinstance(context, DocumentContext)
        landing = await context.goto(URL)
        assert (landing.url, landing.status) == (URL, 200)
        return context, browser


async def test_a_document_is_read_once_and_no_browser_opens_its_page() -> None:
    site = Reads(PAGE)
    context, browser = await site.opened()
    said = await context.read(PLACES_JS, ASKED)
    assert said["records"][0]["f"]["price"][0]["t"] == "€5"
    assert (site.readings, browser.visits, site.told) == (1, [], [DocumentOutcome.USED])
    assert context.document == site.raw


@pytest.mark.parametrize(
    "html",
    [
        '<!doctype html><meta http-equiv="refresh" content="0; url=/b"><p class="price">€5</p>',
        "<!doctype html><frameset></frameset>",
        '<!doctype html><body><p class="price" style="visibility:hidden">€5</p>',
    ],
)
async def test_what_is_known_to_be_beyond_a_document_only_once_it_is_read_is_told_by_the_page(html: str) -> None:
    site = Reads(html)
    context, browser = await site.opened()
    assert await context.read(PLACES_JS, ASKED) == SHOWN
    outcomes = [DocumentOutcome.PASSED_ON, DocumentOutcome.UNKNOWN]
    assert (site.readings, browser.visits, site.told) == (1, [URL], outcomes)
    assert (site.guarded, context.document) == ([URL], None), "the second request to the site is asked for, too"


async def test_what_is_no_page_is_opened_in_the_browser_at_once() -> None:
    site = Reads("%PDF", {"content-type": "application/pdf"})
    _, browser = await site.opened()
    assert (site.readings, browser.visits, site.told) == (0, [URL], [DocumentOutcome.PASSED_ON])


async def test_each_page_that_is_open_beside_the_first_samples_is_known_by_its_document_later() -> None:
    spec = SPEC.model_copy(update={"changes": SPEC.changes.model_copy(update={"skip_unchanged": True})})
    site, trust = Reads(PAGE), DocumentTrust(NoAudits())
    trust.visitor = Visitor("Agent/1", ("en",), "text/html")
    view = (await read_here(site.raw, ASKED)).view
    browser = DocumentBrowser(
        FakeBrowser({URL: FakePage(read=view)}), DocumentReading(spec, site, trust, site.guard, site.told.append)
    )
    at_once = [await browser.new_context(ContextOptions(reading=True)) for _ in range(2 * SAMPLES)]
    for context in at_once:
        await context.goto(URL)
    for context in at_once:
        assert await context.read(PLACES_JS, ASKED) == view
    assert site.told == [DocumentOutcome.AGREED] * len(at_once)
    assert [isinstance(each, DocumentContext) and each.stated_by for each in at_once] == [site.raw] * len(at_once)
