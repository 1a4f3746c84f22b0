"""What is asked before a session opens a page by address: may it, and is it time?"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol
from urllib.parse import urlsplit

from agent.desk import Gate
from agent.errors import AddressForbidden, RobotsForbidden
from agent.spec import PolitenessSpec
from services.browsers.egress import EgressProxy, EgressRefused


class Rules(Protocol):
    """robots.txt, as `services.browsers.robots` reads it."""

    async def allowed(self, url: str, user_agent: str) -> bool: ...

    async def crawl_delay(self, url: str, user_agent: str) -> float | None: ...


class SiteGate(Gate, Protocol):
    """A `Gate` of a worker, which learns what the site asks for."""

    crawl_delay_s: float | None  # between pages of the first site, for the whole cluster; None: it was not asked


class Pace:
    """When each host was last asked for a page by this worker; one for all its sessions."""

    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}

    async def wait(self, host: str, delay_s: float) -> None:
        """Returns when `delay_s` has passed since the last page of `host`; later callers wait behind earlier ones."""
        now = time.monotonic()
        start = max(now, self._free_at.get(host, 0.0))
        self._free_at[host] = start + delay_s
        if start > now:
            await asyncio.sleep(start - now)


LONGEST_CRAWL_DELAY_S = 30.0
"""A session keeps its slot while it waits; a site that asks for more gets this much."""


class PoliteGate:
    """A `SiteGate` that obeys robots.txt and keeps the pauses that the job, or the site's crawl-delay, asks for."""

    def __init__(
        self, politeness: PolitenessSpec, rules: Rules, pace: Pace, user_agent: str, egress: EgressProxy | None
    ) -> None:
        self._politeness = politeness
        self._rules = rules
        self._pace = pace
        self._agent = user_agent
        self._egress = egress
        self.crawl_delay_s: float | None = None

    async def __call__(self, url: str) -> None:
        await self._check_address(url)
        delay_s = self._politeness.delay_s
        if self._politeness.robots:
            if not await self._rules.allowed(url, self._agent):
                raise RobotsForbidden(f"robots.txt of {urlsplit(url).netloc} forbids {url}")
            wish = await self._rules.crawl_delay(url, self._agent) or 0.0
            if self.crawl_delay_s is None:
                self.crawl_delay_s = wish
            delay_s = max(delay_s, min(wish, LONGEST_CRAWL_DELAY_S))
        if delay_s > 0:
            await self._pace.wait(urlsplit(url).netloc, delay_s)

    async def _check_address(self, url: str) -> None:
        """Says in words what the filter would otherwise answer with a broken connection."""
        parts = urlsplit(url)
        if self._egress is None or parts.hostname is None:
            return
        try:
            await self._egress.checked(parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
        except EgressRefused as error:
            raise AddressForbidden(f"{url}: {error}") from error
