"""The landing of a navigation, from the server's answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

from playwright.async_api import Response

from shoal.agent.browser import Landing
from shoal.agent.fault_table import EGRESS_FAULTS, EGRESS_HEADER
from shoal.agent.support.json_value import Json
from shoal.agent.support.retry_after import retry_after_seconds

_SAYS = "() => [performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0, document.contentType]"
_PASSWORD = re.compile(r"\s*[a-z][a-z0-9+.-]*:[/\\]{2}[^/\\?#]*@", re.IGNORECASE)
_ASKS_WHO = frozenset({401, 407})


def landing_of(url: str, response: Response | None) -> Landing:
    """The landing on `url`; without a response there was no HTTP."""
    if response is None:
        return Landing(url, 0)
    return landing_from(url, response.status, response.headers)


def landing_from(url: str, status: int, headers: Mapping[str, str]) -> Landing:
    """The landing on `url` by an answer's status and headers (their names in lower case)."""
    again_s = retry_after_seconds(headers)
    # The filter passes https on as it is: there such a header could only be the site's.
    egress = headers.get(EGRESS_HEADER.lower(), "") if url.lower().startswith("http:") else ""
    return Landing(url, status, headers.get("content-type", ""), again_s, egress if egress in EGRESS_FAULTS else "")


async def landing_here(url: Callable[[], str], read: Callable[[str], Awaitable[Json]]) -> Landing:
    """The landing on the document that is open, as it says itself: how it came is not known.

    Its address is taken last: while the page is asked, a move within the document may be told.
    """
    if not url().startswith("http"):
        return Landing(url(), 0)
    status, kind = await read(_SAYS)
    return Landing(url(), int(status), str(kind))


def sign_in(url: str, status: int = 0) -> str:
    """Why the browser may know a password after going to `url`, which nothing makes it forget; "" when it does not."""
    if _PASSWORD.match(url):
        return "an address carried a password"
    return "a site asked for HTTP authentication" if status in _ASKS_WHO else ""
