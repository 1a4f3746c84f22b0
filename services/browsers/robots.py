"""robots.txt by RFC 9309: fetched once per origin, kept for a while, asked before each page."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from protego import Protego

from agent.errors import AddressForbidden, HostUnreachable, NavigationError, ServerBusy, ServerFailed
from agent.retry_after import retry_after_seconds
from services.browsers.egress import OUTCOME_HEADER, REFUSED_REASON

USER_AGENT = "Shoal"
"""The token that robots.txt may name, and the user agent of these requests."""

_KEEP_S = 3600.0
_KEEP_AT_LEAST_S = 300.0
_KEEP_AT_MOST_S = 24 * 3600.0  # the RFC's own limit
_KEEP_FAILURE_S = 60.0  # an origin that could not be asked is asked again soon
_LIMIT_BYTES = 500 * 1024  # what the RFC wants to be read at least
_TIMEOUT_S = 15.0  # of the whole fetch
_MOST_ORIGINS = 10_000
_MOST_REDIRECTS = 5
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*(\d{1,9})")


@dataclass(frozen=True, slots=True)
class _Rules:
    """What one origin says; neither rules nor failure: everything is allowed."""

    keep_s: float
    parsed: Protego | None = None
    failure: NavigationError | None = None  # why nobody knows


@dataclass(slots=True)
class _Origin:
    fetching: asyncio.Task[_Rules]
    until: float = float("inf")  # by the clock of `Robots`; its rules are old then


class Robots:
    """The rules of all origins that this worker's sessions visit; sessions that want the same wait for one fetch.

    A robots.txt that is not there (4xx) allows everything. One that cannot be read (no answer, 5xx, 429) forbids all
    pages for the time being: that is no verdict of the site, so it raises an error that is worth another try.
    """

    def __init__(self, *, proxy: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._client = httpx.AsyncClient(
            proxy=proxy,
            timeout=_TIMEOUT_S,
            follow_redirects=True,
            max_redirects=_MOST_REDIRECTS,
            trust_env=False,
            # Uncompressed: a few bytes must not become gigabytes.
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
        )
        self._origins: dict[str, _Origin] = {}

    async def allowed(self, url: str, user_agent: str = USER_AGENT) -> bool:
        """Whether robots.txt lets `user_agent` open `url`; addresses other than http(s) have none and are allowed.

        Raises:
            HostUnreachable, ServerBusy, ServerFailed: robots.txt cannot be read now.
            AddressForbidden: the operator does not allow the host.
        """
        rules = await self._rules(url)
        return rules is None or rules.parsed is None or bool(rules.parsed.can_fetch(url, user_agent))

    async def crawl_delay(self, url: str, user_agent: str = USER_AGENT) -> float | None:
        """Seconds between two pages that robots.txt asks of `user_agent`; None when it asks for none.

        Raises:
            HostUnreachable, ServerBusy, ServerFailed, AddressForbidden: as `allowed`.
        """
        rules = await self._rules(url)
        delay_s = rules.parsed.crawl_delay(user_agent) if rules and rules.parsed else None
        return None if delay_s is None else float(delay_s)

    async def close(self) -> None:
        """Ends the connections, and the fetches that run."""
        for origin in self._origins.values():
            origin.fetching.cancel()
        await asyncio.gather(*(origin.fetching for origin in self._origins.values()), return_exceptions=True)
        await self._client.aclose()

    # --- one origin -----------------------------------------------------------------------------------

    async def _rules(self, url: str) -> _Rules | None:
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https"):
            return None
        name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
        origin = self._origins.get(name)
        if origin is None or origin.until <= self._clock() or origin.fetching.cancelled():
            origin = self._start(name)
        # One session that gives up must not end the fetch that others wait for.
        rules = await asyncio.shield(origin.fetching)
        if rules.failure is not None:
            raise type(rules.failure)(rules.failure.message, **rules.failure.details)
        return rules

    def _start(self, name: str) -> _Origin:
        self._origins.pop(name, None)
        if len(self._origins) >= _MOST_ORIGINS:
            self._origins.pop(next(iter(self._origins)))  # the one that was fetched longest ago
        origin = self._origins[name] = _Origin(asyncio.create_task(self._fetch(name)))

        def note_time(task: asyncio.Task[_Rules]) -> None:
            kept = not task.cancelled() and task.exception() is None
            origin.until = self._clock() + task.result().keep_s if kept else 0.0

        origin.fetching.add_done_callback(note_time)
        return origin

    async def _fetch(self, origin: str) -> _Rules:
        try:
            async with asyncio.timeout(_TIMEOUT_S), self._client.stream("GET", f"{origin}/robots.txt") as answer:
                return await self._read(origin, answer)
        except (httpx.TooManyRedirects, httpx.UnsupportedProtocol, httpx.InvalidURL):
            return _Rules(_KEEP_S)  # RFC 9309, 2.3.1.2: as if it were not there
        except httpx.ProxyError as error:
            if REFUSED_REASON in str(error):
                return _refused(origin)
            return _unreachable(origin, str(error))
        except (httpx.HTTPError, TimeoutError) as error:
            return _unreachable(origin, str(error) or "no answer in time")

    async def _read(self, origin: str, answer: httpx.Response) -> _Rules:
        status = answer.status_code
        outcome = answer.headers.get(OUTCOME_HEADER)
        if outcome == "refused":
            return _refused(origin)
        if outcome is not None:
            return _unreachable(origin)
        if status == 429 or status >= 500:
            kind = ServerBusy if status in (429, 503) else ServerFailed
            again_s = retry_after_seconds(answer.headers.get("retry-after"))
            return _unknown(kind, origin, f"the site answers {status}", retry_after_s=again_s)
        if status >= 400:
            return _Rules(_keep_s(answer))
        body = bytearray()
        async for chunk in answer.aiter_bytes():
            body += chunk
            if len(body) > _LIMIT_BYTES:
                # The line that the limit cuts would forbid more than its author wrote.
                body = body[:_LIMIT_BYTES].rpartition(b"\n")[0]
                break
        parsed = await asyncio.to_thread(Protego.parse, body.decode("utf-8-sig", errors="replace"))
        return _Rules(_keep_s(answer), parsed)


def _keep_s(answer: httpx.Response) -> float:
    found = _MAX_AGE.search(answer.headers.get("cache-control", "").lower())
    return min(max(float(found[1]), _KEEP_AT_LEAST_S), _KEEP_AT_MOST_S) if found else _KEEP_S


def _unknown(kind: type[NavigationError], origin: str, why: str, **details: object) -> _Rules:
    message = f"{origin}/robots.txt cannot be read now, so no page of this site is opened ({why})"
    return _Rules(_KEEP_FAILURE_S, failure=kind(message, **details))


def _unreachable(origin: str, why: str = "") -> _Rules:
    message = f"{origin} cannot be reached" + (f" ({why})" if why else "")
    return _Rules(_KEEP_FAILURE_S, failure=HostUnreachable(message))


def _refused(origin: str) -> _Rules:
    return _Rules(_KEEP_S, failure=AddressForbidden(f"the operator does not let browsers reach {origin}"))
