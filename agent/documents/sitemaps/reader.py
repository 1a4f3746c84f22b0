"""The pages that a site lists in its sitemap (sitemaps.org), with when each changed last."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable

from shoal.agent.browser import Browser
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.fetching import DocumentClient, FetchFailed, Visitor, fetched
from shoal.agent.documents.sitemaps.listing import MOST_SITEMAP_BYTES, Listed, NoSitemap, SitemapPage, listed_in
from shoal.agent.documents.unchanged import visitor_of
from shoal.agent.errors import AgentError, EmptyLoop, LedElsewhere, NavigationError
from shoal.agent.fault_table import http_fault
from shoal.agent.spec import JobSpec, SitemapSpec

MOST_SITEMAPS = 1_000
"""Files of one index that are read."""
MOST_ENTRIES_IN_ALL = 1_000_000
"""Of all files of one index."""
_TIMEOUT_S = 60.0

Refusal = Callable[[str], AgentError | None]
"""Why the job's sites keep an address from being opened; None: they do not."""


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
        waiting, known, seen = deque([asked.url]), {asked.url}, set[bytes]()
        entries = 0
        while waiting:
            if entries >= MOST_ENTRIES_IN_ALL:
                self.cut = f"more than {MOST_ENTRIES_IN_ALL:,} entries: {len(waiting):,} sitemaps were not read"
                return
            listed = await self._listed(waiting.popleft(), visitor)
            entries += listed.entries
            self.cut = self.cut or listed.cut
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
                digest = hashlib.blake2b(page.url.encode(), digest_size=16).digest()
                if asked.contains in page.url and digest not in seen:
                    seen.add(digest)
                    yield page

    async def _listed(self, url: str, visitor: Visitor) -> Listed:
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
        except NoSitemap as error:
            raise EmptyLoop(f"{url} is no sitemap: {error}") from error
