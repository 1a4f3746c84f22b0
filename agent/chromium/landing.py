"""Where a navigation ended, from what the server answered."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping

from playwright.async_api import Response

from agent.browser import Landing

_DIGITS = re.compile(r"[0-9]+")
_PASSWORD = re.compile(r"\s*[a-z][a-z0-9+.-]*:[/\\]{2}[^/\\?#]*@", re.IGNORECASE)
_ASKS_WHO = frozenset({401, 407})
_LONGEST_S = 31_536_000.0
"""A year: nobody waits longer, and whoever reckons with the answer gets a number that a clock can take."""


def landing_of(url: str, response: Response | None) -> Landing:
    """The landing on `url`; without a response there was no HTTP."""
    if response is None:
        return Landing(url, 0)
    return landing_from(url, response.status, response.headers)


def landing_from(url: str, status: int, headers: Mapping[str, str]) -> Landing:
    """The landing on `url` by an answer's status and headers (their names in lower case)."""
    return Landing(url, status, headers.get("content-type", ""), _seconds(headers.get("retry-after")))


def sign_in(url: str, status: int = 0) -> str:
    """Why the browser may know a password after going to `url`, which nothing makes it forget; "" when it does not."""
    if _PASSWORD.match(url):
        return "an address carried a password"
    return "a site asked for HTTP authentication" if status in _ASKS_WHO else ""


def _seconds(retry_after: str | None) -> float | None:
    """A Retry-After header, which is a number of seconds or a date, as seconds from now."""
    if not retry_after:
        return None
    if _DIGITS.fullmatch(retry_after.strip()):
        return min(_LONGEST_S, float(retry_after))
    try:
        when = email.utils.parsedate_to_datetime(retry_after).timestamp()
    except (ValueError, OverflowError, OSError):  # no date, or one that no clock shows
        return None
    return min(_LONGEST_S, max(0.0, when - time.time()))
