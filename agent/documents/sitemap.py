"""The pages that a site lists in its sitemap (sitemaps.org), with when each changed last."""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from io import BytesIO

from lxml import etree

from shoal.agent.browser import Browser
from shoal.agent.documents.addresses import resolved
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.fetching import DocumentClient, FetchFailed, Visitor, fetched
from shoal.agent.documents.unchanged import visitor_of
from shoal.agent.errors import AgentError, EmptyLoop, LedElsewhere, NavigationError
from shoal.agent.fault_table import http_fault
from shoal.agent.spec import JobSpec, SitemapSpec

MOST_SITEMAPS = 1_000
"""Files of one index that are read."""
MOST_SITEMAP_BYTES = 50 * 1024 * 1024
"""Of one file, as the protocol has it."""
_TIMEOUT_S = 60.0
_GZIP = b"\x1f\x8b"

Refusal = Callable[[str], AgentError | None]
"""Why the job's sites keep an address from being opened; None: they do not."""


@dataclass(frozen=True, slots=True)
class SitemapPage:
    """One page of a sitemap."""

    url: str
    modified: str = ""  # as the sitemap has it; "": it does not say


@dataclass(frozen=True, slots=True)
class _Listed:
    """What one file says."""

    pages: list[SitemapPage]
    sitemaps: list[str]  # it is an index of these


class SitemapReader:
    """Reads the sitemaps of one job: within its rules for addresses, and as its browser names itself."""

    def __init__(
        self,
        client: DocumentClient,
        browser: Browser,
        spec: JobSpec,
        navigation_guard: Callable[[str], Awaitable[None]],
    ) -> None:
        self._client = client
        self._browser = browser
        self._spec = spec
        self._guard = navigation_guard
        self.cut = ""  # why pages may be missing; "" for none

    async def pages(self, asked: SitemapSpec, refused: Refusal) -> AsyncGenerator[SitemapPage]:
        """Each page once, in the order of the files.

        Raises:
            NavigationError: a file could not be had.
            EmptyLoop: one is no sitemap.
        """
        visitor = await visitor_of(self._browser, self._spec)
        waiting, known, seen = deque([asked.url]), {asked.url}, set[str]()
        while waiting:
            listed = await self._listed(waiting.popleft(), visitor)
            for url in listed.sitemaps:
                if url in known:
                    continue
                if (refusal := refused(url)) is not None:
                    self.cut = self.cut or f"a sitemap was left out: {refusal.message}"
                elif len(known) >= MOST_SITEMAPS:
                    self.cut = f"more than {MOST_SITEMAPS:,} sitemaps: the others were not read"
                else:
                    known.add(url)
                    waiting.append(url)
            for page in listed.pages:
                if asked.contains in page.url and page.url not in seen:
                    seen.add(page.url)
                    yield page

    async def _listed(self, url: str, visitor: Visitor) -> _Listed:
        await self._guard(url)
        headers = self._spec.browser.headers
        try:
            answer = await fetched(self._client, url, visitor, headers, (), _TIMEOUT_S, MOST_SITEMAP_BYTES)
        except FetchFailed as error:
            raise NavigationError(f"the sitemap could not be read: {error}") from error
        except BeyondDocument as error:
            raise LedElsewhere(f"the sitemap {url} could not be read: {error}") from error
        if answer.status >= 400:
            raise http_fault(answer.status).error(f"the sitemap {url} answered {answer.status}", status=answer.status)
        try:
            return await asyncio.to_thread(listed_in, answer.body, answer.url)
        except (etree.XMLSyntaxError, zlib.error, ValueError) as error:
            raise EmptyLoop(f"{url} is no sitemap: {error}") from error


def listed_in(body: bytes, url: str) -> _Listed:
    """What a file lists. Entities and other files that it names are not looked at.

    Raises:
        XMLSyntaxError, zlib.error: it is broken.
        ValueError: it is too long, or no sitemap.
    """
    text = _plain(body)
    if len(text) > MOST_SITEMAP_BYTES:
        raise ValueError(f"it is longer than {MOST_SITEMAP_BYTES:,} bytes")
    listed, root = _Listed([], []), None
    for event, element in etree.iterparse(BytesIO(text), events=("start", "end"), no_network=True, load_dtd=False):
        root = element if root is None else root
        name = etree.QName(element)
        if event == "start" or name.localname not in ("url", "sitemap") or element.getparent() is not root:
            continue
        told = {
            etree.QName(child).localname: (child.text or "").strip()
            for child in element.iterchildren(tag=etree.Element)
            if etree.QName(child).namespace == name.namespace
        }
        if told.get("loc"):
            address = resolved(told["loc"], url)
            if name.localname == "url":
                listed.pages.append(SitemapPage(address, told.get("lastmod", "")[:40]))
            else:
                listed.sitemaps.append(address)
        root.remove(element)
    if root is None or etree.QName(root).localname not in ("urlset", "sitemapindex"):
        raise ValueError("its root is neither `urlset` nor `sitemapindex`")
    return listed


def _plain(body: bytes) -> bytes:
    """A file, unpacked where it is gzip; one byte more than it may have at most."""
    if not body.startswith(_GZIP):
        return body
    unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
    text = unpacking.decompress(body, MOST_SITEMAP_BYTES + 1)
    if len(text) <= MOST_SITEMAP_BYTES and not unpacking.eof:
        raise ValueError("it ends in the middle")
    return text
