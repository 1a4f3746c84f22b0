"""Lists of the page that is open, and its ways on, as the page's tree has them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from shoal.agent.browser import Context
from shoal.agent.read.drawn.page_tree import read_tree
from shoal.agent.read.links.list_page import ListPage, list_page_of


async def read_list_page(
    page: Context,
    find: Mapping[str, str] | None = None,
    *,
    onward: bool = False,
    words: Collection[str] = (),
    counts: bool = False,
) -> ListPage:
    """Return what the page offers to loop over and to go on by,
    in one call.

    Args:
        find: The caller's `select` and `next`, which may be CSS or words.
        onward: As of `list_page_of`, like `words` and `counts`.

    Raises:
        BrowserError: The page answered no tree.
    """
    tree = await read_tree(page, find)
    return await asyncio.to_thread(list_page_of, tree, onward=onward, words=words, counts=counts)


async def read_ways_on(page: Context, asked: str | None) -> ListPage:
    """Only the ways to the next page; `asked` is the caller's selector or words of it."""
    return await read_list_page(page, {"next": asked} if asked else None, onward=True)
