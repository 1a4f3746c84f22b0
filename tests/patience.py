"""The limit of waits for what has to happen. A test that is well ends long before it, on a machine at load 20, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, expect

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.process.driver import acquire_driver
from shoal.agent.chromium.process.find import find_chromium

PATIENCE_S = 120.0
PATIENT = ContextOptions(action_timeout_s=PATIENCE_S, navigation_timeout_s=PATIENCE_S)
"""Options of contexts in tests that are not about limits."""

_OWN_THREAD, _THREADS = Path("/proc/thread-self/schedstat"), Path("/proc/self/task")


def queued_s(thread: Path = _OWN_THREAD) -> float:
    """Return how long a thread, this one by default, has waited for a core since it began. Linux says so."""
    try:
        return int(thread.read_text().split()[1]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        return 0.0


@asynccontextmanager
async def soon(limit_s: float) -> AsyncIterator[None]:
    """Limit what has to happen before something else would bring it about: a lease that ends, a look now and then.

    What the threads of this process wait for cores meanwhile is not counted.

    Raises:
        TimeoutError: it did not happen.
    """
    loop = asyncio.get_running_loop()
    began_s, queued = loop.time(), _all_queued_s()

    def look() -> None:
        left_s = limit_s - (loop.time() - began_s) + (_all_queued_s() - queued)
        if left_s > 0:
            looks[0] = loop.call_later(left_s, look)
        else:
            limit.reschedule(loop.time())

    async with asyncio.timeout(None) as limit:
        looks = [loop.call_later(limit_s, look)]
        try:
            yield
        finally:
            looks[0].cancel()


def _all_queued_s() -> float:
    """Return how long all threads of this process have waited for cores."""
    return sum(queued_s(thread / "schedstat") for thread in _THREADS.iterdir()) if _THREADS.exists() else 0.0


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Playwright's own browser, to look at the dashboard with. Its pages and `expect` wait for `PATIENCE_S`."""
    expect.set_options(timeout=PATIENCE_S * 1000)
    driver = await acquire_driver()
    try:
        browser = await driver.playwright.chromium.launch(
            executable_path=str(find_chromium(None)), args=["--no-sandbox"], timeout=PATIENCE_S * 1000
        )
        browser.on("context", lambda context: context.set_default_timeout(PATIENCE_S * 1000))
        try:
            yield browser
        finally:
            await browser.close()
    finally:
        await driver.release()
