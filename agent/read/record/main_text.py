"""The main text of a page with its title, author and date, by trafilatura; and second opinions on text and date."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import htmldate
import trafilatura

from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.words import folded, likeness_of_texts

_PARAGRAPH = 40
"""Characters from which a paragraph counts as main text."""
NEARLY = 0.8
"""Likeness from which two readings of a main text agree."""
_WHOLLY = 0.97
"""Likeness from which no other reading is asked for."""
_DEEPEST = 200
"""Levels of a tree: the library takes time by their square, and pages for people have 60."""
_PARTS = ("p", "li", "h2", "h3", "h4", "blockquote", "pre")


@dataclass(frozen=True, slots=True)
class MainText:
    """The main text of a page, by its reader; "" for a part that it does not find."""

    title: str = ""
    author: str = ""
    day: str = ""  # as it writes it
    text: str = ""


class MainTexts:
    """Readings of a page's main text, each made once where it is asked for.

    Libraries are given the whole tree: of shown parts alone they read worse.
    """

    def __init__(self, view: MainMatter) -> None:
        self._view = view

    @cached_property
    def main(self) -> MainText:
        """The main text and what stands around it, as the library reads them."""
        extracted = _extracted(self._view, with_metadata=True)
        return MainText(
            title=extracted.get("title") or "",
            author=(extracted.get("author") or "").replace("; ", ", "),
            day=extracted.get("date") or "",
            text=extracted.get("text") or "",
        )

    @cached_property
    def strict(self) -> str:
        """The main text by the same library, which leaves out more of what may not belong to it; "" for none."""
        return _extracted(self._view, favor_precision=True).get("text") or ""

    @cached_property
    def longest(self) -> str:
        """The text of the block whose own paragraphs hold most of it: it shares nothing with the library's reading."""
        return _longest_text(self._view)

    @cached_property
    def text(self) -> str:
        """Of the library's readings the one that the longest block bears out best; its first where it bears out none.

        They differ by what stands before and after a text: notices, menus, other articles.
        """
        first = self.main.text
        likeness = likeness_of_texts(first, self.longest) if first and self.longest else 1.0
        if likeness >= _WHOLLY:
            return first
        others = (_without_apart(first, self._view), self.strict)
        best, other = max(((likeness_of_texts(text, self.longest), text) for text in others), key=lambda each: each[0])
        return other if best > max(likeness, NEARLY) else first


def _without_apart(text: str, view: MainMatter) -> str:
    """A text without the lines that the page's main matter does not show."""
    return "\n".join(line for line in text.split("\n") if folded(line) in view.main_folded)


def _extracted(view: MainMatter, *, with_metadata: bool = False, favor_precision: bool = False) -> dict[str, Any]:
    """Return what trafilatura reads; empty where it finds no main text, and of a page that is too deep."""
    if view.depth > _DEEPEST:
        return {}
    document = trafilatura.bare_extraction(
        view.page.copy(),
        url=view.page.url,
        fast=True,  # other readers that it would ask take a quarter of the time, and give more of what does not belong
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


def _longest_text(view: MainMatter) -> str:
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
