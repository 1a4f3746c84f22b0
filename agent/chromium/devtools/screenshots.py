"""Screenshots, by the cheapest way that Chromium has."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import Shot
from shoal.agent.chromium.devtools.protocol import Readable
from shoal.agent.errors import ActionInvalid
from shoal.agent.types import Box

_SHOT = {"format": "jpeg", "quality": 70, "optimizeForSpeed": True}
_TRIES = 5
_DRAWN = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"
"""Waits for the next frame: what comes after the callback runs once it is drawn."""
_MAX_HEIGHT = 16_000
"""Device pixels; Chromium's surfaces end at 16,384, and what lies below would come out empty."""


async def viewport_shot(tab: Readable) -> bytes:
    """The viewport as JPEG."""
    return await _shot(tab, _SHOT)


async def page_shot(tab: Readable) -> bytes:
    """The whole page as JPEG, down to where Chromium can draw."""
    metrics = await (await tab.session()).send("Page.getLayoutMetrics")
    size = metrics["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], _tallest(metrics)), "scale": 1}
    return await _shot(tab, {**_SHOT, "clip": clip, "captureBeyondViewport": True})


async def region_shot(tab: Readable, region: Box) -> bytes:
    """A region of the viewport as JPEG, also where it reaches beyond.

    Raises:
        ActionInvalid: nothing of it is on the page.
    """
    metrics = await (await tab.session()).send("Page.getLayoutMetrics")
    window, size = metrics["cssVisualViewport"], metrics["cssContentSize"]
    left, top = max(0.0, region.x + window["pageX"]), max(0.0, region.y + window["pageY"])
    right = min(region.x + region.width + window["pageX"], max(size["width"], window["clientWidth"]))
    bottom = min(region.y + region.height + window["pageY"], max(size["height"], window["clientHeight"]))
    if right - left < 1 or bottom - top < 1:
        raise ActionInvalid(f"region: nothing of it is on the page, which is {size['width']} x {size['height']}")
    height = min(bottom - top, _tallest(metrics))
    clip = {"x": left, "y": top, "width": right - left, "height": height, "scale": 1}
    return await _shot(tab, {**_SHOT, "clip": clip, "captureBeyondViewport": True})


def _tallest(metrics: dict[str, Any]) -> float:
    """CSS pixels that a picture of this page may be high."""
    scale: float = metrics["layoutViewport"]["clientWidth"] / max(1, metrics["cssLayoutViewport"]["clientWidth"])
    return _MAX_HEIGHT / max(1.0, scale)


def as_shot(data: bytes) -> Shot:
    """JPEG data with its size."""
    width, height = Image.open(io.BytesIO(data)).size
    return Shot(data, "image/jpeg", width, height)


async def _shot(tab: Readable, asked: dict[str, Any]) -> bytes:
    """One screenshot; asked for again where Chromium has not drawn the page yet, which it answers with an error."""
    session = await tab.session()
    for _ in range(_TRIES - 1):
        try:
            return base64.b64decode((await session.send("Page.captureScreenshot", asked))["data"])
        except PlaywrightError as error:
            if "Unable to capture" not in error.message:
                raise
        await tab.read(_DRAWN)
    return base64.b64decode((await session.send("Page.captureScreenshot", asked))["data"])
