"""Fetches an origin's robots.txt by RFC 9309."""

from __future__ import annotations

import asyncio
import re
import zlib

import httpx

from shoal.agent.fault_table import EGRESS_HEADER
from shoal.agent.support.bounded_answers import PLAIN, AnswerUnreadable, beginning
from shoal.agent.support.retry_after import retry_after_seconds
from shoal.agent.worker_messages import RobotsFile, RobotsState
from shoal.services.browsers.network.egress import REFUSED_REASON
from shoal.services.trust import authorities

USER_AGENT = "Shoal"
"""The token that robots.txt may name, and the user agent of these requests."""

FETCH_S = 15.0
"""Of the whole fetch."""

_KEEP_S = 3600.0
_KEEP_AT_LEAST_S = 300.0
_KEEP_AT_MOST_S = 24 * 3600.0  # the RFC's own limit
_KEEP_FAILURE_S = 60.0  # an origin that could not be asked is asked again soon
_LIMIT_BYTES = 500 * 1024  # what the RFC wants to be read at least
_MOST_REDIRECTS = 5
_LONGEST_WHY = 500
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*(\d{1,9})")


class RobotsClient:
    """Asks sites for their robots.txt."""

    def __init__(self, proxy: str | None = None) -> None:
        self._client = httpx.AsyncClient(
            verify=authorities(),
            proxy=proxy,
            timeout=FETCH_S,
            follow_redirects=True,
            max_redirects=_MOST_REDIRECTS,
            trust_env=False,
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": PLAIN},
        )

    async def fetch(self, origin: str) -> RobotsFile:
        """Return what the origin answers; one that cannot be read is an answer, too."""
        try:
            async with asyncio.timeout(FETCH_S), self._client.stream("GET", f"{origin}/robots.txt") as answer:
                return await _read(origin, answer)
        except (httpx.TooManyRedirects, httpx.UnsupportedProtocol, httpx.InvalidURL, UnicodeError):
            # A name that browsers know and IDNA 2008 does not is a UnicodeError.
            return RobotsFile(RobotsState.NONE, _KEEP_S)  # RFC 9309, 2.3.1.2: as if it were not there
        except httpx.ProxyError as error:
            if REFUSED_REASON in str(error):
                return _refused(origin)
            return _unreachable(origin, str(error))
        except (httpx.ReadTimeout, TimeoutError):
            return _hangs(origin)
        except httpx.HTTPError as error:
            return _unreachable(origin, str(error) or "no connection in time")

    async def close(self) -> None:
        """Ends the connections."""
        await self._client.aclose()


async def _read(origin: str, answer: httpx.Response) -> RobotsFile:
    status = answer.status_code
    outcome = answer.headers.get(EGRESS_HEADER)
    if outcome == "refused":
        return _refused(origin)
    if outcome is not None:
        return _unreachable(origin)
    if status == 429 or status >= 500:
        state = RobotsState.BUSY if status in (429, 503) else RobotsState.FAILED
        why = f"{origin}/robots.txt cannot be read now, so no page of this site is opened (the site answers {status})"
        again_s = retry_after_seconds(answer.headers)
        return RobotsFile(state, _KEEP_FAILURE_S, why=why, retry_after_s=again_s)
    if status >= 400:
        return RobotsFile(RobotsState.NONE, _keep_s(answer))
    try:
        body, more = await beginning(answer.aiter_raw(), answer.headers.get("content-encoding", ""), _LIMIT_BYTES)
    except AnswerUnreadable as error:
        why = f"{origin}/robots.txt cannot be read, so no page of this site is opened ({error})"
        return RobotsFile(RobotsState.FAILED, _KEEP_FAILURE_S, why=why[:_LONGEST_WHY])
    if more:
        # The line that the limit cuts would forbid more than its author wrote.
        body = body.rpartition(b"\n")[0]
    packed = await asyncio.to_thread(zlib.compress, body.decode("utf-8-sig", errors="replace").encode())
    return RobotsFile(RobotsState.RULES, _keep_s(answer), packed)


def unpacked(file: RobotsFile) -> str:
    """The text of one that has rules."""
    # A byte that is none of UTF-8 becomes three.
    return zlib.decompressobj().decompress(file.packed, 3 * _LIMIT_BYTES).decode(errors="replace")


def _keep_s(answer: httpx.Response) -> float:
    max_age = _MAX_AGE.search(answer.headers.get("cache-control", "").lower())
    return min(max(float(max_age[1]), _KEEP_AT_LEAST_S), _KEEP_AT_MOST_S) if max_age else _KEEP_S


def _unreachable(origin: str, why: str = "") -> RobotsFile:
    message = f"{origin} cannot be reached" + (f" ({why})" if why else "")
    return RobotsFile(RobotsState.UNREACHABLE, _KEEP_FAILURE_S, why=message[:_LONGEST_WHY])


def _hangs(origin: str) -> RobotsFile:
    why = f"{origin}/robots.txt was not answered to its end within {FETCH_S:g} s, so no page of this site is opened"
    return RobotsFile(RobotsState.UNREACHABLE, _KEEP_FAILURE_S, why=why[:_LONGEST_WHY])


def _refused(origin: str) -> RobotsFile:
    return RobotsFile(RobotsState.REFUSED, _KEEP_S, why=f"the operator does not let browsers reach {origin}")
