"""Which sites have pages whose scripts fetch JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from shoal.agent.support.web_addresses import address_parts

_FIRST = 3
"""Pages of a site in a row that fetch nothing, before its pages are watched no longer."""
_ONE_OF = 50
"""Of a site whose pages are not watched, one page of so many is."""
_MOST_SITES = 1_000


@dataclass(slots=True)
class _Site:
    """Counts of one site's pages that fetched nothing, and of pages that were not watched since."""

    quiet: int = 0  # watched pages in a row that fetched nothing
    unwatched: int = 0  # pages that were opened since it counts as quiet


class FetchingSites:
    """Says of which pages the requests are watched. A watch costs messages for each request of a page, so that pages of
    a site that fetches nothing are not watched.
    """

    def __init__(self) -> None:
        self._sites: dict[str, _Site] = {}

    def watches(self, url: str) -> bool:
        """Return whether the page at `url`, which is about to be opened, is worth a watch."""
        site = self._site(url)
        if site.quiet < _FIRST:
            return True
        site.unwatched += 1
        return site.unwatched % _ONE_OF == 0

    def record_page(self, url: str, *, fetched: bool) -> None:
        """Record whether the scripts of a page that was watched fetched JSON."""
        site = self._site(url)
        site.quiet = 0 if fetched else site.quiet + 1

    def _site(self, url: str) -> _Site:
        host = address_parts(url).netloc
        site = self._sites.pop(host, None) or _Site()
        self._sites[host] = site  # the one that was asked for last stands last
        if len(self._sites) > _MOST_SITES:
            del self._sites[next(iter(self._sites))]
        return site


class FetchingOwner(Protocol):
    """A browser that knows which sites fetch."""

    @property
    def fetching(self) -> FetchingSites:
        """Which pages are watched for the JSON that they fetch."""
        ...
