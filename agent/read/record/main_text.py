"""The main text of a page with its title, author and date, by trafilatura; and second opinions on text and date."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import htmldate
import trafilatura
from lxml.html import HtmlElement

from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.words import folded, likeness_of_texts, one_line

_PARAGRAPH = 40
"""Characters from which a block's own text is a paragraph of a main text."""
NEARLY = 0.8
"""Likeness from which two readings of a main text agree."""
_WHOLLY = 0.97
"""Likeness from which no other reading is asked for."""
_DEEPEST = 200
"""Levels of a tree: the library takes time by their square, and pages for people have 60."""
_PARAGRAPHS = ("p", "li", "dd", "blockquote", "pre")
_BY_DISTANCE = (1.0, 0.6, 0.36)
"""Weights of a paragraph for the blocks around it, the nearest first."""


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
    """The text of the block that holds most paragraphs, those right in it first; a text of links is none.

    A paragraph is any block with text of its own: many pages have no `p`. What an article holds is none of the blocks
    around it, which hold others too.
    """
    weights = defaultdict[HtmlElement, float](float)
    for el, length in _paragraphs(view).items():
        around = el.iterancestors() if el.tag in _PARAGRAPHS else itertools.chain([el], el.iterancestors())
        for holder, weight in zip(around, _BY_DISTANCE, strict=False):
            weights[holder] += weight * length
            if holder.tag == "article":
                break
    if not weights:
        return ""
    block = max(weights, key=lambda holder: weights[holder])
    return one_line("".join(piece for _, piece in view.main_pieces(block)))


def _paragraphs(view: MainMatter) -> Mapping[HtmlElement, int]:
    """By block: the characters of its own text, without links and without the blocks in it; short ones left out."""
    page, lengths = view.page, Counter[int]()
    blocks = [0] * len(page.elements)
    for number, el in enumerate(page.elements):
        parent = el.getparent()
        inline = parent is not None and not view.parts_lines(number)
        blocks[number] = blocks[page.number(parent)] if inline else number
    for number, piece in view.main_pieces():
        if number >= 0 and not view.linked[number]:
            lengths[blocks[number]] += len(piece.strip())
    return {page.elements[number]: length for number, length in lengths.items() if length > _PARAGRAPH}
