"""Pictures of a tab while it is worked on: Chromium's own screencast, in a DevTools session of its own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections.abc import AsyncGenerator
from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import FrameOptions, ScreencastFrame
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.wire.connection import Session, session_with

_SILENT_S = 0.5
"""A page that does not change gives no pictures: the caller hears that often that it can look for another tab."""


_PICTURE_S = 2.0


async def screencast(tab: Tab, options: FrameOptions) -> AsyncGenerator[ScreencastFrame | None, None]:
    """The newest picture of `tab`, `wanted.per_s` a second at most; None now and then while nothing changes.

    A screencast costs next to nothing while a page stands still, since Chromium gives a picture when something has
    changed. On a page that moves it copies each frame that is drawn, which costs twice what single pictures do. So it
    waits for a change, and single pictures follow until two of them are alike.

    Raises:
        playwright.async_api.Error: the tab is gone.
    """
    session = await session_with(tab.connection, tab.page)
    came: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    session.on("Page.screencastFrame", came.put_nowait)
    given = ""
    try:
        while True:
            began = time.monotonic()
            await session.send("Page.startScreencast", _screencast_parameters(options))
            frame: dict[str, Any] | None = None
            while frame is None or frame["data"] == given:
                try:
                    async with asyncio.timeout(_SILENT_S):
                        frame = await came.get()
                except TimeoutError:
                    yield None
                else:
                    await session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})
            await session.send("Page.stopScreencast")
            given, size = frame["data"], frame["metadata"]
            last, picture = "", given
            while picture not in ("", last):
                yield ScreencastFrame(
                    base64.b64decode(picture), float(size["deviceWidth"]), float(size["deviceHeight"])
                )
                await asyncio.sleep(max(0.0, began + 1 / options.per_s - time.monotonic()))
                began, last = time.monotonic(), picture
                picture = await _picture(session, options)
            while not came.empty():
                came.get_nowait()
    finally:
        with contextlib.suppress(PlaywrightError):  # the tab is gone, and its session with it
            await session.detach()


def _screencast_parameters(options: FrameOptions) -> dict[str, Any]:
    pixels = {"maxWidth": options.most_pixels, "maxHeight": options.most_pixels}
    return {"format": "jpeg", "quality": options.quality, "everyNthFrame": 1, **pixels}


async def _picture(session: Session, options: FrameOptions) -> str:
    """The window as it is now, in base64; "" where it does not come in time: a dialog of the page holds it up."""
    asked = {"format": "jpeg", "quality": options.quality, "optimizeForSpeed": True}
    try:
        async with asyncio.timeout(_PICTURE_S):
            return str((await session.send("Page.captureScreenshot", asked))["data"])
    except TimeoutError:
        return ""
