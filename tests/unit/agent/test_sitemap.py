"""A sitemap's pages are the items of a loop: indexes, packed files, and what is no sitemap."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import pytest
from lxml import etree

from shoal.agent.documents.document import RawDocument
from shoal.agent.documents.fetching import FetchFailed
from shoal.agent.documents.sitemap import MOST_SITEMAP_BYTES, SitemapPage, SitemapReader, listed_in
from shoal.agent.errors import AgentError, EmptyLoop, NavigationError, PageMissing, SiteRefused
from shoal.agent.spec import JobSpec, SitemapSpec
from tests.doubles.browser_double import FakeBrowser, FakePage

SHOP = "https://shop.example"
SPEC = JobSpec.model_validate({"url": SHOP, "loop": {"sitemap": {"url": f"{SHOP}/sitemap.xml"}}})
XMLNS = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
)


def pages(*told: tuple[str, str]) -> bytes:
    entries = "".join(f"<url><loc> {url} </loc>{f'<lastmod>{on}</lastmod>' if on else ''}</url>" for url, on in told)
    return f"<?xml version='1.0' encoding='UTF-8'?><urlset {XMLNS}>{entries}</urlset>".encode()


def index(*urls: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{url}</loc><lastmod>2026-01-01</lastmod></sitemap>" for url in urls)
    return f"<sitemapindex {XMLNS}>{entries}</sitemapindex>".encode()


class Site:
    """Files by their addresses; the guard is asked before each."""

    def __init__(self, **files: bytes) -> None:
        self.files = {f"{SHOP}/{name.replace('_', '.')}": body for name, body in files.items()}
        self.guarded: list[str] = []
        self.limits: list[int] = []

    async def get(self, url: str, headers: Mapping[str, str], timeout_s: float, most_bytes: int = 0) -> RawDocument:
        self.limits.append(most_bytes)
        if url.endswith("away.xml"):
            raise FetchFailed(f"{url}: no route")
        body = self.files.get(url)
        return RawDocument(url, 404 if body is None else 200, {}, body or b"")

    async def guard(self, url: str) -> None:
        self.guarded.append(url)

    def reader(self) -> SitemapReader:
        return SitemapReader(self, FakeBrowser({"about:blank": FakePage(read=["Agent/1", "en"])}), SPEC, self.guard)

    async def items(self, contains: str = "", url: str = f"{SHOP}/sitemap.xml") -> list[SitemapPage]:
        asked = SitemapSpec(url=url, contains=contains)
        return [page async for page in self.reader().pages(asked, lambda _: None)]


async def test_pages_come_once_with_the_day_on_which_they_changed() -> None:
    told = pages((f"{SHOP}/p/1", "2026-11-20"), ("/p/2", ""), (f"{SHOP}/p/1", "2026-11-21"), (f"{SHOP}/about", ""))
    site = Site(sitemap_xml=told)
    expected = [SitemapPage(f"{SHOP}/p/1", "2026-11-20"), SitemapPage(f"{SHOP}/p/2")]
    assert await site.items("/p/") == expected
    assert [page.url for page in await site.items()][-1] == f"{SHOP}/about"
    assert site.limits == [MOST_SITEMAP_BYTES] * 2


async def test_an_index_is_followed_and_packed_files_are_unpacked_each_asked_for_first() -> None:
    site = Site(
        sitemap_xml=index(f"{SHOP}/a.xml", "/b.gz", f"{SHOP}/sitemap.xml"),
        a_xml=pages(("/p/1", "")),
        b_gz=gzip.compress(pages(("/p/2", "2026-11-20T10:00:00Z"))),
    )
    assert await site.items() == [SitemapPage(f"{SHOP}/p/1"), SitemapPage(f"{SHOP}/p/2", "2026-11-20T10:00:00Z")]
    assert site.guarded == [f"{SHOP}/sitemap.xml", f"{SHOP}/a.xml", f"{SHOP}/b.gz"]


async def test_what_an_index_names_on_a_site_that_the_job_keeps_away_from_is_left_out_and_said() -> None:
    site = Site(sitemap_xml=index("https://other.example/x.xml", "/a.xml"), a_xml=pages(("/p/1", "")))
    reader = site.reader()

    def refused(url: str) -> AgentError | None:
        return SiteRefused("elsewhere") if "other" in url else None

    asked = SitemapSpec(url=f"{SHOP}/sitemap.xml")
    assert [page.url async for page in reader.pages(asked, refused)] == [f"{SHOP}/p/1"]
    assert reader.cut == "a sitemap was left out: elsewhere" and "https://other.example/x.xml" not in site.guarded


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html><body>Not found</body></html>", "neither `urlset` nor `sitemapindex`"),
        (b"", "is no sitemap"),
        (pages(("/p/1", ""))[:-9], "is no sitemap"),
        (gzip.compress(pages(("/p/1", "")))[:-9], "it ends in the middle"),
        (gzip.compress(bytes(MOST_SITEMAP_BYTES + 1)), "is longer than"),
    ],
)
async def test_what_is_no_sitemap_says_so(body: bytes, said: str) -> None:
    with pytest.raises(EmptyLoop, match=said):
        await Site(sitemap_xml=body).items()


async def test_a_sitemap_that_is_not_there_is_no_empty_one() -> None:
    with pytest.raises(PageMissing, match=r"sitemap\.xml answered 404"):
        await Site().items()
    with pytest.raises(NavigationError, match=r"could not be read: .* no route"):
        await Site().items(url=f"{SHOP}/away.xml")


def test_what_else_a_page_names_is_no_page() -> None:
    image = "<image:image><image:loc>https://cdn.example/1.png</image:loc></image:image>"
    body = pages(("/p/1", "")).replace(b"</url>", f"{image}</url>".encode())
    assert listed_in(body, f"{SHOP}/sitemap.xml").pages == [SitemapPage(f"{SHOP}/p/1")]


@pytest.mark.parametrize(
    "entities",
    [
        '<!ENTITY x SYSTEM "file:///etc/hostname">',
        "<!ENTITY x0 'aaaaaaaaaa'>"
        + "".join(f"<!ENTITY x{n} '{f'&x{n - 1};' * 10}'>" for n in range(1, 12))
        + "<!ENTITY x '&x11;'>",
    ],
)
def test_entities_open_no_files_and_do_not_grow(entities: str) -> None:
    body = f"<!DOCTYPE urlset [{entities}]><urlset><url><loc>/&x;</loc></url></urlset>".encode()
    with pytest.raises(etree.XMLSyntaxError):
        listed_in(body, f"{SHOP}/sitemap.xml")
