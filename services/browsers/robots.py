"""robots.txt by RFC 9309: fetched once per origin, kept for a while, asked before each page."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from protego import Protego

_KEEP_S = 3600.0
_KEEP_UNREACHABLE_S = 60.0
"""An origin that could not be asked is asked again soon; until then everything is forbidden, as the RFC wants it."""

_LIMIT_BYTES = 500 * 1024
_TIMEOUT_S = 10.0
_MOST_ORIGINS = 10_000


@dataclass(frozen=True, slots=True)
class _Rules:
    parsed: Protego | None  # None: everything is `otherwise`
    otherwise: bool
    until: float


class Robots:
    """The rules of all origins that this worker's sessions visit; many sessions wait for one fetch."""

    def __init__(self, *, proxy: str | None = None) -> None:
        self._client = httpx.AsyncClient(
            proxy=proxy, timeout=_TIMEOUT_S, follow_redirects=True, max_redirects=5, trust_env=False
        )
        self._origins: dict[str, asyncio.Task[_Rules]] = {}

    async def allowed(self, url: str, user_agent: str) -> bool:
        """Whether robots.txt lets `user_agent` open `url`."""
        rules = await self._rules(url)
        return rules.otherwise if rules.parsed is None else bool(rules.parsed.can_fetch(url, user_agent))

    async def crawl_delay(self, url: str, user_agent: str) -> float | None:
        """Seconds between two pages that robots.txt asks of `user_agent`; None when it asks for none."""
        rules = await self._rules(url)
        delay = rules.parsed.crawl_delay(user_agent) if rules.parsed else None
        return None if delay is None else float(delay)

    async def _rules(self, url: str) -> _Rules:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        task = self._origins.get(origin)
        if task is None or (task.done() and (task.cancelled() or task.result().until < time.monotonic())):
            if len(self._origins) >= _MOST_ORIGINS:
                self._origins.pop(next(iter(self._origins)))
            task = self._origins[origin] = asyncio.create_task(self._fetch(origin))
        return await asyncio.shield(task)

    async def _fetch(self, origin: str) -> _Rules:
        now = time.monotonic()
        try:
            async with self._client.stream("GET", f"{origin}/robots.txt") as answer:
                if 400 <= answer.status_code < 500:
                    return _Rules(None, True, now + _KEEP_S)
                if answer.status_code >= 500:
                    return _Rules(None, False, now + _KEEP_UNREACHABLE_S)
                body = b""
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) >= _LIMIT_BYTES:
                        break
        except (httpx.HTTPError, httpx.InvalidURL):
            return _Rules(None, False, now + _KEEP_UNREACHABLE_S)
        text = body[:_LIMIT_BYTES].decode("utf-8", errors="replace")
        return _Rules(Protego.parse(text), True, now + _KEEP_S)

    async def close(self) -> None:
        await self._client.aclose()
