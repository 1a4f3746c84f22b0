"""A document whose connection ends half-way: Chromium gives it up, and Playwright waits on until its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request

from shoal.agent.chromium.faults import net_error
from shoal.agent.errors import ConnectionLost

_KNOWN_S = 0.5
"""Seconds after its request failed within which a navigation says so itself, which it does before it has a document."""


@asynccontextmanager
async def cut_off(page: Page) -> AsyncIterator[None]:
    """Ends the navigation in its body when the document's connection was lost on the way.

    Raises:
        ConnectionLost.
    """
    lost = ""

    def failed(request: Request) -> None:
        nonlocal lost
        why = net_error(f"net::{request.failure}".replace("net::net::", "net::")) or ""
        if why and why != "ERR_ABORTED" and _is_document(request, page):  # what was aborted was replaced by another
            lost = f"the connection to {request.url} ended before the page was whole: {why}"
            limit.reschedule(asyncio.get_running_loop().time() + _KNOWN_S)

    try:
        async with asyncio.timeout(None) as limit:
            page.on("requestfailed", failed)
            try:
                yield
            finally:
                page.remove_listener("requestfailed", failed)
    except TimeoutError as error:
        raise ConnectionLost(lost, url=page.url) from error


def _is_document(request: Request, page: Page) -> bool:
    try:
        return request.is_navigation_request() and request.frame == page.main_frame
    except PlaywrightError:  # it belongs to no frame of this page any more
        return False
