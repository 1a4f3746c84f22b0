"""Where a navigation ended, from what the server answered."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping

from playwright.async_api import Response

from agent.browser import Landing


def landing_of(url: str, response: Response | None) -> Landing:
    """The landing on `url`; without a response there was no HTTP."""
    if response is None:
        return Landing(url, 0)
    return landing_from(url, response.status, response.headers)


def landing_from(url: str, status: int, headers: Mapping[str, str]) -> Landing:
    """The landing on `url` by an answer's status and headers (their names in lower case)."""
    return Landing(url, status, headers.get("content-type", ""), _seconds(headers.get("retry-after")))


def _seconds(retry_after: str | None) -> float | None:
    """A Retry-After header, which is a number of seconds or a date, as seconds from now."""
    if not retry_after:
        return None
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        when = email.utils.parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time())
