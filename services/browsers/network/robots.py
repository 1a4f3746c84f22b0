"""robots.txt by RFC 9309: fetched once per origin for the whole cluster, kept for a while, asked before each page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import urlsplit

from cachetools import FIFOCache
from protego import Protego

from shoal.agent.errors import AddressForbidden, HostUnreachable, NavigationError, ServerBusy, ServerFailed
from shoal.agent.worker_messages import RobotsAnswer, RobotsFile, RobotsState, RobotsWish
from shoal.services.browsers.network.robots_file import USER_AGENT, RobotsClient, unpacked

_ANSWER_S = 5.0
"""Patience with the dispatcher, whose answer takes some hundredths of a second; after that this worker fetches itself.
Short: the pages of a whole site wait for it."""
_OTHERS_S = 45.0
"""Patience with others that fetch: one that has died is replaced after 20 s, and so may be its successor."""
_MOST_ORIGINS = 10_000
_LONGEST_ORIGIN = 300
"""A host name has 253 characters; what is longer is no site's, and its robots.txt is not shared."""
_MOST_SHARED_BYTES = 128 * 1024
"""Compressed; longer ones, if there are any, are fetched by each worker: a dispatcher passes hundreds on at once."""


class Shared(Protocol):
    """The cluster's copies of robots.txt; `shoal.services.browsers.reports.outbox` asks for them."""

    async def robots(self, origin: str) -> RobotsAnswer | None: ...

    def share_robots(self, robots_wish: RobotsWish) -> None: ...


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of one origin; neither rules nor failure: everything is allowed."""

    keep_s: float
    parsed: Protego | None = None
    failure: NavigationError | None = None  # why the rules are unknown


@dataclass(slots=True)
class _Origin:
    fetching: asyncio.Task[_Rules]
    until: float = float("inf")  # by the clock of `Robots`; its rules are old then


class Robots:
    """The rules of all origins that this worker's sessions visit; sessions that want the same wait for one answer.

    A robots.txt that is not there (4xx) allows everything. One that cannot be read (no answer, 5xx, 429) forbids all
    pages for the time being: that is no verdict of the site, so it raises an error that is worth another try.

    Callers that give what the cluster shares get what one worker has found for all, until it runs out for all of them
    at the same moment; where the cluster does not answer, this worker fetches itself.
    """

    def __init__(self, *, proxy: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._client = RobotsClient(proxy)
        self._origins: FIFOCache[str, _Origin] = FIFOCache(_MOST_ORIGINS)

    async def allowed(self, url: str, user_agent: str = USER_AGENT, shared: Shared | None = None) -> bool:
        """Return whether robots.txt lets `user_agent` open `url`;
        addresses other than http(s) have none and are allowed.

        Raises:
            HostUnreachable, ServerBusy, ServerFailed: robots.txt cannot be read now.
            AddressForbidden: the operator does not allow the host.
        """
        rules = await self._rules(url, shared)
        return rules is None or rules.parsed is None or bool(rules.parsed.can_fetch(url, user_agent))

    async def crawl_delay(self, url: str, user_agent: str = USER_AGENT, shared: Shared | None = None) -> float | None:
        """Seconds between two pages that robots.txt asks of `user_agent`; None when it asks for none.

        Raises:
            HostUnreachable, ServerBusy, ServerFailed, AddressForbidden: as `allowed`.
        """
        rules = await self._rules(url, shared)
        delay_s = rules.parsed.crawl_delay(user_agent) if rules and rules.parsed else None
        return None if delay_s is None else float(delay_s)

    async def close(self) -> None:
        """Ends the connections, and the fetches that run."""
        for origin in self._origins.values():
            origin.fetching.cancel()
        await asyncio.gather(*(origin.fetching for origin in self._origins.values()), return_exceptions=True)
        await self._client.close()

    # --- one origin -----------------------------------------------------------------------------------

    async def _rules(self, url: str, shared: Shared | None) -> _Rules | None:
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https"):
            return None
        name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
        origin = self._origins.get(name)
        if origin is None or origin.until <= self._clock() or origin.fetching.cancelled():
            origin = self._start(name, shared)
        # One session that gives up must not end the fetch that others wait for.
        rules = await asyncio.shield(origin.fetching)
        if rules.failure is not None:
            raise type(rules.failure)(rules.failure.message, **rules.failure.details)
        return rules

    def _start(self, name: str, shared: Shared | None) -> _Origin:
        origin = self._origins[name] = _Origin(asyncio.create_task(self._find(name, shared)))

        def note_time(task: asyncio.Task[_Rules]) -> None:
            kept = not task.cancelled() and task.exception() is None
            origin.until = self._clock() + task.result().keep_s if kept else 0.0

        origin.fetching.add_done_callback(note_time)
        return origin

    async def _find(self, origin: str, shared: Shared | None) -> _Rules:
        if shared is None or len(origin) > _LONGEST_ORIGIN:
            return await _read(await self._client.fetch(origin))
        file = await _shared_file(origin, shared)
        if file is None:
            file = await self._client.fetch(origin)
            shared.share_robots(RobotsWish(origin, _to_share(file)))
        return await _read(file)


async def _shared_file(origin: str, shared: Shared) -> RobotsFile | None:
    """Return what another worker has found, or is about to find; None: this one is to fetch it."""
    try:
        async with asyncio.timeout(_OTHERS_S):
            while True:
                async with asyncio.timeout(_ANSWER_S):
                    answer = await shared.robots(origin)
                if answer is None or answer.fetch:
                    return None
                if answer.file is not None:
                    return answer.file
                await asyncio.sleep(answer.wait_s)
    except TimeoutError:
        return None


def _to_share(file: RobotsFile) -> RobotsFile:
    if len(file.packed) <= _MOST_SHARED_BYTES:
        return file
    return replace(file, state=RobotsState.LARGE, packed=b"")


_FAILURES: dict[RobotsState, type[NavigationError]] = {
    RobotsState.BUSY: ServerBusy,
    RobotsState.FAILED: ServerFailed,
    RobotsState.UNREACHABLE: HostUnreachable,
    RobotsState.REFUSED: AddressForbidden,
}


async def _read(file: RobotsFile) -> _Rules:
    if file.state in _FAILURES:
        answered = file.state in (RobotsState.BUSY, RobotsState.FAILED)
        details = {"retry_after_s": file.retry_after_s} if answered else {}
        return _Rules(file.keep_s, failure=_FAILURES[file.state](file.why, **details))
    if file.state is not RobotsState.RULES:
        return _Rules(file.keep_s)
    return _Rules(file.keep_s, await asyncio.to_thread(lambda: Protego.parse(unpacked(file))))
