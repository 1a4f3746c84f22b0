"""The main text of a page with its title, author and date, by trafilatura; and second opinions on text and date."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import htmldate
import trafilatura

from shoal.agent.read.record.main_matter import MainMatter

_PARAGRAPH = 40
"""Characters from which a paragraph counts as main text."""
_PARTS = ("p", "li", "h2", "h3", "h4", "blockquote", "pre")


@dataclass(frozen=True, slots=True)
class MainText:
    """The main text of a page, by its reader; "" for a part that it does not find."""

    title: str = ""
    author: str = ""
    day: str = ""  # as it writes it
    text: str = ""


def read_main_text(view: MainMatter) -> MainText:
    """The page's main text and what stands around it.

    Libraries are given the whole tree: of shown parts alone they read worse.
    """
    said = _extracted(view, with_metadata=True)
    if not said:
        return MainText()
    return MainText(
        title=said.get("title") or "",
        author=(said.get("author") or "").replace("; ", ", "),
        day=said.get("date") or "",
        text=said.get("text") or "",
    )


def read_strictly(view: MainMatter) -> str:
    """The main text by the same library, which leaves out more of what may not belong to it; "" for none."""
    return _extracted(view, favor_precision=True).get("text") or ""


def _extracted(view: MainMatter, *, with_metadata: bool = False, favor_precision: bool = False) -> dict[str, Any]:
    """Return what trafilatura reads; empty where it finds no main text."""
    document = trafilatura.bare_extraction(
        view.page.copy(),
        url=view.page.url,
        with_metadata=with_metadata,
        include_comments=False,
        favor_precision=favor_precision,
    )
    if document is None:
        return {}
    return document if isinstance(document, dict) else document.as_dict()


def read_stated_day(view: MainMatter) -> str:
    """The day that the page's markup states as its own, without guesses from its text; "" for none."""
    return htmldate.find_date(view.page.copy(), url=view.page.url, original_date=True, extensive_search=False) or ""


def longest_text(view: MainMatter) -> str:
    """The text of the block whose own paragraphs hold most of it: a reading that shares nothing with the library's."""
    weights: Counter[int] = Counter()
    page = view.page
    for el in view.main_elements("p"):
        length, parent = view.text_length(el), el.getparent()
        if length <= _PARAGRAPH or parent is None:
            continue
        weights[page.number(parent)] += length
        if parent.getparent() is not None:
            weights[page.number(parent.getparent())] += int(length * 0.6)
    if not weights:
        return ""
    block = page.elements[max(weights, key=lambda number: weights[number])]
    inside = set(block.iter())
    return " ".join(
        view.text(el)
        for el in block.iter(*_PARTS)
        if view.in_main(el)
        and not any(above.tag in ("p", "li", "blockquote") and above in inside for above in el.iterancestors())
    )
