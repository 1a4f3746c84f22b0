"""Resources of some kinds are not fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.wire.connection import Session

# By URL the renderer itself refuses, which costs nothing; a request that Python answers costs as much as the fetch
# that it saves (measured: no gain at all). So the usual file names go by URL, and only what is left is asked about.
_ENDINGS: dict[str, tuple[str, ...]] = {
    "image": ("png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "bmp"),
    "font": ("woff", "woff2", "ttf", "otf", "eot"),
    "media": ("mp4", "webm", "mp3", "m4a", "ogg", "wav", "m3u8", "ts", "mov"),
    "stylesheet": ("css",),
    "script": ("js", "mjs"),
}
_TYPES = {"image": "Image", "font": "Font", "media": "Media", "stylesheet": "Stylesheet", "script": "Script"}


async def block(session: Session, kinds: Sequence[str]) -> None:
    """Keeps the page behind `session` from fetching resources of these `kinds`, from now on."""
    urls = [f"*.{ending}{rest}" for kind in kinds for ending in _ENDINGS[kind] for rest in ("", "?*")]
    answering: set[asyncio.Task[None]] = set()

    async def refuse(event: dict[str, Any]) -> None:
        try:
            await session.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "BlockedByClient"})
        except PlaywrightError:
            return  # the page was closed or went elsewhere: the request is gone as well

    def paused(event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(refuse(event))
        answering.add(task)
        task.add_done_callback(answering.discard)

    session.on("Fetch.requestPaused", paused)
    await asyncio.gather(
        session.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
        session.send("Network.setBlockedURLs", {"urls": urls}),
        session.send("Fetch.enable", {"patterns": [{"resourceType": _TYPES[kind]} for kind in kinds]}),
    )
