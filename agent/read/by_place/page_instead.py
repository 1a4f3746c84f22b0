"""Pages that answer with success and stand in the place of a loop's item, or of a job's page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from shoal.agent.browser import Context
from shoal.agent.errors import AccessDenied
from shoal.agent.read.grounding.other_pages import SHORT, error_named, page_names
from shoal.agent.read.values.phrases import squash
from shoal.agent.support.printable import readable_json
from shoal.agent.support.web_addresses import address_parts
from shoal.agent.types import LoopItem

PAGE_INSTEAD_JS = (Path(__file__).parent / "page_instead.js").read_text(encoding="utf-8")
_CHARS_JS = "() => document.body ? document.body.innerText.length : 0"
"""Takes longer than all else, and is asked only of a page that may be another."""


async def refuse_other_page(page: Context, item: LoopItem) -> None:
    """Lets a page pass that is not plainly another one in the place of the item's.

    A page is that of its item where the link to it, or the job's goal, is called as the page is: a manual has a page on
    "404".

    Raises:
        AccessDenied: a login or a puzzle stands there, or a text that refuses access.
        PageMissing, ServerBusy, ServerFailed: the text of such an error stands there.
    """
    answer = await page.read(PAGE_INSTEAD_JS)
    parsed = readable_json(answer) if isinstance(answer, str) else None
    if not isinstance(parsed, Mapping):
        return  # a page that takes no scripts says nothing of the kind
    url, title, headings = str(parsed["url"]), str(parsed["title"]), list(map(str, parsed["headings"]))
    names, puzzle = list(page_names(title, headings)), bool(parsed["puzzle"])
    error_of = partial(error_named, asks_password=bool(parsed["password"]))
    if not puzzle and not any(error_of(name, is_short=True) for name in names):
        return
    chars = int(await page.read(_CHARS_JS))
    for name in names:
        error = error_of(name, is_short=chars < SHORT)
        if error is not None and not _is_of(item, name):
            raise error(f"{url} shows {name!r} instead of the page that was asked for", url=url)
    if puzzle and chars < SHORT // 3 and not any(_is_of(item, name) for name in names):
        raise AccessDenied(f"{url} shows a puzzle for people instead of the page that was asked for", url=url)


def _is_of(item: LoopItem, name: str) -> bool:
    """Return whether the link to the item's page is called so, or leads to an address that is."""
    words = squash(name)
    label, path = squash(item.label), squash(re.sub(r"[\W_]+", " ", address_parts(item.value).path))
    return bool(words) and (words in label or words in path or words.replace(" ", "") in path.replace(" ", ""))
