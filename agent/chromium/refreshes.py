"""Documents that send their visitor on by themselves: `<meta http-equiv=refresh>`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from playwright.async_api import Error as PlaywrightError

from shoal.agent.errors import ActionError, BrowserError
from shoal.agent.support.json_value import Json

AFTER_OPENING_S = 10.0
"""A page that waits longer before it sends its visitor on is meant to be read."""
AT_ONCE_S = 1.0
"""Seconds for which a page must show something after an action to be read: what it shows longer may be the answer."""
_MOST = 5
"""Pages in a row that send on; a further one is looked at as it is."""
_ANSWERS_S = 3.0
"""A page that does not answer for so long is busy with itself, and is left to the next look at it."""
_ARRIVES_S = 20.0
"""Seconds that the next document may take to come."""
_PAUSE_S = 0.1
# A refresh of the page itself keeps it up to date and leads nowhere.
_STATE_JS = r"""() => {
  const page = url => url.split('#')[0];
  const told = [...document.querySelectorAll('meta[http-equiv="refresh" i]')]
    .map(meta => /^\s*(\d*\.?\d*)\s*[;,]?\s*(?:url\s*=\s*)?(['"]?)(.*?)\2\s*$/i.exec(meta.content))
    .find(parts => parts && parts[3]);
  let delay = null;
  try {
    if (told && page(new URL(told[3], document.baseURI).href) !== page(location.href)) delay = Number(told[1]);
  } catch { /* it is no address */ }
  return { at: performance.timeOrigin, there: document.readyState !== 'loading', delay };
}"""

Read = Callable[[str], Awaitable[Json]]


async def followed(read: Read, *, within_s: float, limit_s: float = 60.0) -> bool:
    """Follows the open document where it sends its visitor on `within_s`; whether another one is there now.

    A page that does not answer, or that is not where it leads by `limit_s`, is left as it is.
    """
    moved = False
    with contextlib.suppress(TimeoutError, ActionError, BrowserError, PlaywrightError):  # the next look says what it is
        async with asyncio.timeout(limit_s):
            for _ in range(_MOST):
                async with asyncio.timeout(_ANSWERS_S):
                    state = await read(_STATE_JS)
                if state["delay"] is None or state["delay"] > within_s:
                    break
                await _next_document(read, state)
                moved = True
    return moved


async def _next_document(read: Read, before: Json) -> None:
    """Returns once the document is parsed that `before` leads to."""
    async with asyncio.timeout(before["delay"] + _ARRIVES_S):
        now = before
        while now["at"] == before["at"] or not now["there"]:
            await asyncio.sleep(_PAUSE_S)
            now = await read(_STATE_JS)
