"""Pictures of a tab while it is worked on: Chromium's own screencast, in a DevTools session of its own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections.abc import AsyncGenerator
from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import Frame, FrameOptions
from shoal.agent.chromium.acting.tab import Tab

_SILENT_S = 0.5
"""A page that does not change gives no pictures: the caller hears that often that it can look for another tab."""


async def screencast(tab: Tab, wanted: FrameOptions) -> AsyncGenerator[Frame | None, None]:
    """The newest picture of `tab`, `wanted.per_s` a second at most; None now and then while nothing changes.

    Chromium copies every frame that it draws while a screencast runs, acknowledged or not. So it runs for one picture
    at a time on a page that moves, and goes on only where a picture is like the last one: until something changes.

    Raises:
        playwright.async_api.Error: the tab is gone.
    """
    session = await tab.page.context.new_cdp_session(tab.page)
    came: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    session.on("Page.screencastFrame", came.put_nowait)
    asked = {"format": "jpeg", "quality": wanted.quality, "everyNthFrame": 1}
    asked |= {"maxWidth": wanted.most_pixels, "maxHeight": wanted.most_pixels}
    given = ""
    try:
        while True:
            began = time.monotonic()
            await session.send("Page.startScreencast", asked)
            told: dict[str, Any] | None = None
            while told is None or told["data"] == given:
                try:
                    async with asyncio.timeout(_SILENT_S):
                        told = await came.get()
                except TimeoutError:
                    yield None
                else:
                    await session.send("Page.screencastFrameAck", {"sessionId": told["sessionId"]})
            await session.send("Page.stopScreencast")
            while not came.empty():
                told = came.get_nowait()
            given = told["data"]
            yield _frame(told)
            await asyncio.sleep(max(0.0, began + 1 / wanted.per_s - time.monotonic()))
    finally:
        with contextlib.suppress(PlaywrightError):  # the tab is gone, and its session with it
            await session.detach()


def _frame(told: dict[str, Any]) -> Frame:
    size = told["metadata"]
    return Frame(base64.b64decode(told["data"]), float(size["deviceWidth"]), float(size["deviceHeight"]))
