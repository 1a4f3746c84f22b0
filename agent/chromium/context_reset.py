"""The end of a session in its browser context: its traces are taken out, or the context is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.wire.connection import Session

EMPTY_S = 3.0
"""A page that is not gone by then hangs: its context is closed. One that does not close by then is left."""
_TRIES = 20
_PAUSE_S = 0.005


async def clear_traces(session: Session) -> None:
    """Storage of all origins, cookies, the window's name and size and the tab's history are gone.

    Raises:
        playwright.async_api.Error: Chromium refused.
    """
    await asyncio.gather(
        # Cookies of all sites are among "all": asking for them by themselves would be one call more.
        session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"}),
        session.send("Runtime.evaluate", {"expression": "window.name = ''"}),
        # What else was set through the session goes when it is detached; a window's size stays in Chromium 150.
        session.send("Emulation.clearDeviceMetricsOverride"),
    )
    await _forget_history(session)


async def close_quietly(closing: Awaitable[None]) -> None:
    """Closes a context; one that is gone with its browser, or hangs, is left to the browser's owner."""
    try:
        async with asyncio.timeout(EMPTY_S):
            await closing
    except (PlaywrightError, TimeoutError):
        pass


async def _forget_history(session: Session) -> None:
    """Drops the tab's history, and with it pages that the back-forward cache holds alive."""
    for attempt in range(_TRIES):
        try:
            await session.send("Page.resetNavigationHistory")
            return
        except PlaywrightError as error:
            # The blank document has been committed, but is not yet the one that DevTools is attached to.
            if "active page" not in error.message or attempt + 1 == _TRIES:
                raise
        await asyncio.sleep(_PAUSE_S)
