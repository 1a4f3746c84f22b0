"""The check before a session opens a page by address: it may, and it is time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol
from urllib.parse import urlsplit

from shoal.agent.errors import AddressForbidden, RobotsForbidden
from shoal.agent.sessions.dependencies import NavigationGuard
from shoal.agent.spec import PolitenessSpec
from shoal.agent.support.web_addresses import WEB, check_opened, is_web
from shoal.agent.worker_messages import RateSlot
from shoal.services.browsers.network.egress import EgressRefused
from shoal.services.browsers.network.robots import Shared

Checked = Callable[[str, int], Awaitable[object]]
"""`EgressProxy.checked` for one tenant."""


class SiteRules(Protocol):
    """robots.txt, as `shoal.services.browsers.network.robots` reads it."""

    async def allowed(self, url: str, user_agent: str, shared: Shared) -> bool: ...

    async def crawl_delay(self, url: str, user_agent: str, shared: Shared) -> float | None: ...


class SiteNavigationGuard(NavigationGuard, Protocol):
    """A `NavigationGuard` of a worker, which learns what the site asks for."""

    crawl_delay_s: float | None  # between pages of the first site, for the whole cluster; None: it was not asked


class RateSlots(Shared, Protocol):
    """Says when a page may be opened, and what robots.txt says: the store does, which knows of all workers;
    `shoal.services.browsers.reports.outbox` asks."""

    async def rate_slot(self, host: str, delay_s: float, crawl_delay_s: float) -> RateSlot: ...


LONGEST_CRAWL_DELAY_S = 30.0
"""A session keeps its slot while it waits; a site that asks for more gets this much."""


class PoliteNavigationGuard:
    """A `SiteNavigationGuard` that obeys robots.txt and keeps the pauses that the job, or the site's crawl-delay, asks
    for."""

    def __init__(
        self,
        politeness: PolitenessSpec,
        rules: SiteRules,
        rate_slots: RateSlots,
        user_agent: str,
        checked: Checked | None,
        schemes: tuple[str, ...] = WEB,
    ) -> None:
        self._politeness = politeness
        self._rules = rules
        self._rate_slots = rate_slots
        self._agent = user_agent
        self._checked = checked  # None: everything may be reached
        self._schemes = schemes
        self.crawl_delay_s: float | None = None

    async def __call__(self, url: str) -> None:
        # First of all: the browser's own contexts hold to the same.
        check_opened(url, self._schemes)
        if not is_web(url):
            return  # a page that the caller wrote: no site has rules for it
        await self._check_address(url)
        delay_s, crawl_delay_s = self._politeness.delay_s, 0.0
        if self._politeness.robots:
            if not await self._rules.allowed(url, self._agent, self._rate_slots):
                raise RobotsForbidden(
                    f"robots.txt of {urlsplit(url).netloc} forbids {url}; where the site's owner allows it all the "
                    "same, set `politeness.robots` of the job to false"
                )
            wish = await self._rules.crawl_delay(url, self._agent, self._rate_slots) or 0.0
            if self.crawl_delay_s is None:
                self.crawl_delay_s = wish
            crawl_delay_s = min(wish, LONGEST_CRAWL_DELAY_S)
        host = urlsplit(url).hostname
        if host and (delay_s > 0 or crawl_delay_s > 0):
            await self._wait_for_rate_slot(host, delay_s, crawl_delay_s)

    async def _wait_for_rate_slot(self, host: str, delay_s: float, crawl_delay_s: float) -> None:
        given = False
        while not given:
            slot = await self._rate_slots.rate_slot(host, delay_s, crawl_delay_s)
            await asyncio.sleep(slot.wait_s)
            given = slot.given

    async def _check_address(self, url: str) -> None:
        """Says in words what the filter would otherwise answer with a broken connection."""
        parts = urlsplit(url)
        if self._checked is None or parts.hostname is None:
            return
        try:
            await self._checked(parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
        except EgressRefused as error:
            raise AddressForbidden(f"{url}: {error}") from error
