"""What is asked before a session opens a page by address: may it, and is it time?"""

from __future__ import annotations

import asyncio
from typing import Protocol
from urllib.parse import urlsplit

from agent.desk import Gate
from agent.errors import AddressForbidden, RobotsForbidden
from agent.spec import PolitenessSpec
from agent.work import PageTurn
from services.browsers.egress import EgressProxy, EgressRefused
from services.browsers.robots import Shared


class Rules(Protocol):
    """robots.txt, as `services.browsers.robots` reads it."""

    async def allowed(self, url: str, user_agent: str, shared: Shared) -> bool: ...

    async def crawl_delay(self, url: str, user_agent: str, shared: Shared) -> float | None: ...


class SiteGate(Gate, Protocol):
    """A `Gate` of a worker, which learns what the site asks for."""

    crawl_delay_s: float | None  # between pages of the first site, for the whole cluster; None: it was not asked


class Turns(Shared, Protocol):
    """Who says when a page may be opened, and what robots.txt says: the store, which knows of all workers;
    `services.browsers.journal` asks."""

    async def page_turn(self, host: str, delay_s: float, crawl_delay_s: float) -> PageTurn: ...


LONGEST_CRAWL_DELAY_S = 30.0
"""A session keeps its slot while it waits; a site that asks for more gets this much."""


class PoliteGate:
    """A `SiteGate` that obeys robots.txt and keeps the pauses that the job, or the site's crawl-delay, asks for."""

    def __init__(
        self, politeness: PolitenessSpec, rules: Rules, turns: Turns, user_agent: str, egress: EgressProxy | None
    ) -> None:
        self._politeness = politeness
        self._rules = rules
        self._turns = turns
        self._agent = user_agent
        self._egress = egress
        self.crawl_delay_s: float | None = None

    async def __call__(self, url: str) -> None:
        await self._check_address(url)
        delay_s, crawl_delay_s = self._politeness.delay_s, 0.0
        if self._politeness.robots:
            if not await self._rules.allowed(url, self._agent, self._turns):
                raise RobotsForbidden(f"robots.txt of {urlsplit(url).netloc} forbids {url}")
            wish = await self._rules.crawl_delay(url, self._agent, self._turns) or 0.0
            if self.crawl_delay_s is None:
                self.crawl_delay_s = wish
            crawl_delay_s = min(wish, LONGEST_CRAWL_DELAY_S)
        host = urlsplit(url).hostname
        if host and (delay_s > 0 or crawl_delay_s > 0):
            await self._wait_for_turn(host, delay_s, crawl_delay_s)

    async def _wait_for_turn(self, host: str, delay_s: float, crawl_delay_s: float) -> None:
        given = False
        while not given:
            turn = await self._turns.page_turn(host, delay_s, crawl_delay_s)
            await asyncio.sleep(turn.wait_s)
            given = turn.given

    async def _check_address(self, url: str) -> None:
        """Says in words what the filter would otherwise answer with a broken connection."""
        parts = urlsplit(url)
        if self._egress is None or parts.hostname is None:
            return
        try:
            await self._egress.checked(parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
        except EgressRefused as error:
            raise AddressForbidden(f"{url}: {error}") from error
