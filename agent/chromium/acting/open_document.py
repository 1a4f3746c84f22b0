"""Opens an address in a tab, also where the page there loads itself again and again."""

from __future__ import annotations

import contextlib
import time

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Response

from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.call_deadlines import left_ms
from shoal.agent.chromium.cut_off import cut_off


async def open_document(tab: Tab, url: str, limit_s: float) -> Response | None:
    """Playwright's `goto`, tried anew when a page that loads itself again and again got in its way."""
    ends = time.monotonic() + limit_s
    while True:
        try:
            async with cut_off(tab.page):
                return await tab.page.goto(url, wait_until="domcontentloaded", timeout=left_ms(ends))
        except PlaywrightError as error:
            if "interrupted by another navigation" not in error.message or time.monotonic() >= ends:
                raise
        await _halt(tab, ends)


async def _halt(tab: Tab, ends: float) -> None:
    """Ends what the page does by itself: without scripts it cannot load itself again."""
    session = await tab.session()
    await session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        with contextlib.suppress(PlaywrightError):  # its last load, under way already, may come first: scriptless
            await tab.page.goto("about:blank", wait_until="commit", timeout=left_ms(ends))
    finally:  # a tab without scripts would read the next page wrongly, without a sign of why
        await session.send("Emulation.setScriptExecutionDisabled", {"value": False})
