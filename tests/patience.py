"""The limit of waits for what has to happen. A test that is well ends long before it, on a machine at load 20, too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright, expect

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.process.find import find_chromium

PATIENCE_S = 120.0
PATIENT = ContextOptions(action_timeout_s=PATIENCE_S, navigation_timeout_s=PATIENCE_S)
"""Options of contexts in tests that are not about limits."""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Playwright's own browser, to look at the dashboard with. Its pages and `expect` wait for `PATIENCE_S`."""
    expect.set_options(timeout=PATIENCE_S * 1000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(find_chromium(None)), args=["--no-sandbox"], timeout=PATIENCE_S * 1000
        )
        browser.on("context", lambda context: context.set_default_timeout(PATIENCE_S * 1000))
        try:
            yield browser
        finally:
            await browser.close()
