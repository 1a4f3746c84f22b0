"""Lists that a page embeds: job boards, catalogs and tables of results that stand in a frame."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from shoal.agent.errors import NavigationError, SiteRefused
from shoal.agent.page.page import Page
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.read.drawn.page_tree import read_tree

_LEAST_WIDTH, _LEAST_HEIGHT = 400, 300
"""CSS pixels. No usual size of an advert is as wide and as high: 336 x 280, 300 x 600, 970 x 250."""


async def read_embedded_list(
    state: SessionState, around: Extraction, read: Callable[[], Awaitable[Extraction]]
) -> Extraction:
    """The list of the frame that a page without a list of its own embeds; `around`, with why, where that has none.

    Opened by itself, the frame's document is read, paged and scrolled as any other, and its records name its address.

    Args:
        around: what was read of the page.
        read: reads the list of the page that is open.
    """
    outer = state.page.url
    address = await find_embedded(state)
    if not address:
        return around
    fault = await open_embedded(state, address)
    if not fault:
        embedded = await read()
        if embedded.records or embedded.empty:
            return embedded
        fault = embedded.why
    await state.page.goto(outer)
    return replace(around, why="; ".join(filter(None, (around.why, f"the frame {address}: {fault}"))))


async def find_embedded(state: SessionState) -> str:
    """The address of the largest frame of the open page; "" where none may hold a list.

    A page that actions led to is not left for one: it may not be there again under its address.
    """
    if state.has_acted:
        return ""
    return largest_frame(await read_tree(state.page, boxes=True))


async def open_embedded(state: SessionState, address: str) -> str:
    """Opens a frame's document in the page's place; why it cannot be opened, "" where it is open."""
    try:
        landing = await state.page.goto(address)
    except (NavigationError, SiteRefused) as error:
        return error.message
    return f"it answered {landing.status}" if landing.status >= 400 else ""


def largest_frame(page: Page) -> str:
    """The address of the largest frame that is shown and may hold a list; "" where there is none.

    Args:
        page: taken with its boxes.
    """
    areas: dict[str, int] = {}
    for frame in page.root.iter("iframe", "frame"):
        address = urljoin(frame.base_url or page.url, (frame.get("src") or "").strip())
        _, _, width, height = page.box(frame) or (0, 0, 0, 0)
        is_large = width >= _LEAST_WIDTH and height >= _LEAST_HEIGHT and page.is_visible(frame)
        if is_large and urlsplit(address).scheme in ("http", "https") and address != page.url:
            areas[address] = width * height
    return max(areas, key=lambda address: areas[address], default="")
