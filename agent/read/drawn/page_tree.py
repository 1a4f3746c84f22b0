"""The tree of the page that is open."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from shoal.agent.browser import Context, PageDocument
from shoal.agent.errors import BrowserError
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_of_answer
from shoal.agent.read.drawn.document_page import draw_open_document

MOST_ELEMENTS = 40_000
"""Of a page that is read: reading takes 2 s of 20,000 elements."""


async def page_on(document: PageDocument) -> Page | None:
    """The page's tree; None where it is too large to be read in good time."""
    page = await read_tree(document)
    return None if is_large(page) else page


async def drawn_page(document: Context, find: Mapping[str, str] | None = None) -> Page:
    """The page's tree, however large; of a document that is no HTML the tree of what it states.

    Args:
        find: selectors by name, whose elements the page's `matches` names.
    """
    page = await read_tree(document, find)
    drawn = "html" in page.content_type or page.root.find(".//pre[@data-document-source]") is not None
    if drawn or not await draw_open_document(document, page.content_type, page.url):
        return page
    return await read_tree(document, find)


async def read_tree(document: PageDocument, find: Mapping[str, str] | None = None, *, boxes: bool = False) -> Page:
    """The page's tree, however large; with `boxes` where each element lies, too.

    Raises:
        BrowserError: The page answered no tree.
    """
    answer = await document.read(SCRIPT, {"boxes": boxes, "find": dict(find or {})})
    if not isinstance(answer, Mapping):
        raise BrowserError("the page answered no tree")
    return await asyncio.to_thread(page_of_answer, answer)


def is_large(page: Page) -> bool:
    """True for a page that takes too long to be read as a list, or by all its witnesses."""
    return len(page.marks) > MOST_ELEMENTS
