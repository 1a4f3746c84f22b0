"""A sitemap's pages are the items of a loop: indexes, packed files, and what is no sitemap."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import pytest

from shoal.agent.documents.document import RawDocument
from shoal.agent.documents.fetching import FetchFailed
from shoal.agent.documents.sitemaps import listing, reader
from shoal.agent.documents.sitemaps.listing import (
    LONGEST_ADDRESS,
    MOST_SITEMAP_BYTES,
    NoSitemap,
    SitemapPage,
    listed_in,
)
from shoal.agent.documents.sitemaps.reader import SitemapReader
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
        (b"", "neither XML nor a list of addresses"),
        (b'{"error": "gone"}', "neither XML nor a list of addresses"),
        (b"https://shop.example/\xff", "is no sitemap"),
        (b'<?xml version="1.0" encoding="bogus"?><urlset/>', "unknown encoding"),
        (pages(("/p/1", ""))[:-9], "is no sitemap"),
        (gzip.compress(pages(("/p/1", "")))[:-9], "ended before the end-of-stream"),
        (gzip.compress(b"<urlset>" + bytes(MOST_SITEMAP_BYTES).replace(b"\0", b" ")), "is longer than"),
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
    with pytest.raises(NoSitemap, match="declarations of its own"):
        listed_in(body, f"{SHOP}/sitemap.xml")


def test_an_entity_of_another_file_is_not_left_out_of_an_address() -> None:
    body = b"<!DOCTYPE urlset SYSTEM 'https://shop.example/x.dtd'><urlset><url><loc>/a&x;b</loc></url></urlset>"
    with pytest.raises(NoSitemap, match="entity &x;"):
        listed_in(body, f"{SHOP}/sitemap.xml")


@pytest.mark.parametrize(
    ("loc", "expected"),
    [
        (f"{SHOP}/caf\u00e9 1?q=\u00fc {{}}", f"{SHOP}/caf%C3%A9%201?q=%C3%BC%20{{}}"),
        (f"{SHOP}/caf\u00e9 1?q=\u00fc x", f"{SHOP}/caf%C3%A9%201?q=%C3%BC%20x"),
        (f"{SHOP}/%C3%A9/l'eau/{{1}}", f"{SHOP}/%C3%A9/l'eau/%7B1%7D"),
        (f"{SHOP}/?q=l'eau#l'eau", f"{SHOP}/?q=l%27eau#l'eau"),
        (f"{SHOP}/p[1]|^`?q[]=1|2^`#[1]|^`", f"{SHOP}/p[1]%7C%5E%60?q[]=1|2^`#[1]|^%60"),
        ("https://[::1]/p", None),
        ("//[x/p", None),
        ("/\u65e5\u672c", f"{SHOP}/%E6%97%A5%E6%9C%AC"),
        ("https://caf\u00e9.example/", None),
        (f"{SHOP}/a\\b", None),
        (f"{SHOP}:99999999999999999999/", f"{SHOP}:99999999999999999999/"),
        (f"https://1.2.3.{'4' * 1_900}/", None),
        ("ftp://shop.example/x", None),
        (f"{SHOP}/{'x' * LONGEST_ADDRESS}", None),
        (f"{' ' * 3_000}{SHOP}/p/2{' ' * 1_000}", f"{SHOP}/p/2"),
        (f"{' ' * 90_000}{SHOP}/p/2", None),
    ],
)
async def test_an_unusual_address_ends_no_loop(loc: str, expected: str | None) -> None:
    """As a browser writes it, or left out, which is told."""
    told = Site(sitemap_xml=pages(("/p/1", ""), (loc, ""), ("/p/3", ""))).reader()
    asked = SitemapSpec(url=f"{SHOP}/sitemap.xml")
    found = [page.url async for page in told.pages(asked, lambda _: None)]
    assert found == [f"{SHOP}/p/1", *filter(None, (expected,)), f"{SHOP}/p/3"]
    assert told.cut.startswith("an entry of https://shop.example/sitemap.xml was left out") == (expected is None)


async def test_a_text_with_one_address_a_line_is_a_sitemap() -> None:
    lines = f"\ufeff{SHOP}/p/1\r\n\n  {SHOP}/caf\u00e9\n# pages\n/p/2\n{SHOP}/p/3".encode()
    for body in (lines, gzip.compress(lines), gzip.compress(lines[:30]) + gzip.compress(lines[30:])):
        told = Site(sitemap_txt=body).reader()
        asked = SitemapSpec(url=f"{SHOP}/sitemap.txt")
        found = [page.url async for page in told.pages(asked, lambda _: None)]
        assert found == [f"{SHOP}/p/1", f"{SHOP}/caf%C3%A9", f"{SHOP}/p/3"]
        assert told.cut.endswith("'# pages': it is no whole address of a page")


def test_more_entries_than_the_protocol_has_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_ENTRIES", 3)
    urls = [f"{SHOP}/p/{n}" for n in range(4)]
    for kept in (3, 4):
        for body in (pages(*((url, "") for url in urls[:kept])), "\n".join(urls[:kept]).encode()):
            told = listed_in(body, f"{SHOP}/sitemap.xml")
            assert [page.url for page in told.pages] == urls[:3]
            assert ("more than 3 entries" in told.cut) == (kept == 4)


async def test_the_files_of_an_index_and_their_entries_are_bounded_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{name}_xml": pages((f"/{name}/1", ""), (f"/{name}/2", "")) for name in "abc"}
    site = Site(sitemap_xml=index(*(f"/{name}.xml" for name in "abc")), **files)
    for bound, most, said in (
        ("MOST_SITEMAPS", 3, "more than 3 sitemaps: the others were not read"),
        ("MOST_ENTRIES_IN_ALL", 7, "more than 7 entries: 1 sitemaps were not read"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(reader, bound, most)
            told = site.reader()
            found = [page.url async for page in told.pages(SitemapSpec(url=f"{SHOP}/sitemap.xml"), lambda _: None)]
        assert (found, told.cut) == ([f"{SHOP}/{name}/{n}" for name in "ab" for n in (1, 2)], said)


def test_names_with_a_prefix_and_quoted_text_are_read_as_what_they_mean() -> None:
    entry = "<s:url><s:loc><![CDATA[/p?a=1&b=2]]></s:loc><s:lastmod>2026-11-20</s:lastmod><loc>/no</loc></s:url>"
    body = f'<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</s:urlset>'.encode()
    assert listed_in(body, f"{SHOP}/sitemap.xml").pages == [SitemapPage(f"{SHOP}/p?a=1&b=2", "2026-11-20")]


PROTOCOL = "http://www.sitemaps.org/schemas/sitemap/0.9"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f'<urlset xmlns="{PROTOCOL}" xmlns:s="{PROTOCOL}"><s:url><s:loc>/p</s:loc></s:url></urlset>', True),
        (f'<s:urlset xmlns:s="{PROTOCOL}"><url xmlns="{PROTOCOL}"><loc>/p</loc></url></s:urlset>', True),
        (f'<urlset xmlns="{PROTOCOL}"><url xmlns=""><loc>/p</loc></url></urlset>', True),  # .NET writes them
        (f'<urlset xmlns="{PROTOCOL}"><url><loc>/p</loc><image:loc>/i</image:loc></url></urlset>', True),
        (f'<urlset xmlns="{PROTOCOL}"><s:url xmlns:s="urn:other"><s:loc>/p</s:loc></s:url></urlset>', False),
        (f'<s:urlset xmlns:s="{PROTOCOL}"><s:url xmlns:s="urn:other"><s:loc>/p</s:loc></s:url></s:urlset>', False),
        ("<urlset><url><location>/p</location></url></urlset>", False),
        ("<urlset><page><loc>/p</loc></page></urlset>", False),
    ],
)
def test_entries_are_known_by_their_namespace_and_a_file_without_a_known_one_says_so(body: str, expected: bool) -> None:
    told = listed_in(body.encode(), f"{SHOP}/sitemap.xml")
    assert told.pages == [SitemapPage(f"{SHOP}/p")] * expected
    assert told.cut == ("" if expected else f"{SHOP}/sitemap.xml has elements, and none is an entry with an address")


def test_an_empty_sitemap_lacks_nothing() -> None:
    assert listed_in(pages(), f"{SHOP}/sitemap.xml") == listing.Listed()
