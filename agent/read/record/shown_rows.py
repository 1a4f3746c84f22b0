"""The rows of a page: short blocks of shown text, looked up by the words that they hold."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from lxml.html import HtmlElement

from shoal.agent.read.record.main_matter import MainMatter

_TAGS = ("li", "tr", "p", "dd", "div", "label", "section")
_LONGEST = 2_000
"""Characters of a row."""
_WORD = re.compile(r"\d+(?:[.,/]\d+)?|[^\W\d_]+")
_FRACTION = re.compile(r"(?=[¼-¾⅐-⅞])")
_ZEROS = re.compile(r"[.,]0+$")
_MOST_WORDS = 0.9
"""Share of an entry's words that a row must hold; it must hold all its numbers."""


_BULLETS = re.compile(r"^[▢□☐•\-–\s]+")


def entry_text(item: HtmlElement, view: MainMatter) -> str:
    """The text of a list's entry without its bullet."""
    return _BULLETS.sub("", view.text(item)) if view.is_visible(item) else ""


class ShownRows:
    """The rows of a page's shown text. Made once for the lists of a record."""

    def __init__(self, view: MainMatter) -> None:
        self._view = view

    def show(self, entry: str) -> bool:
        """True when one row holds the entry's words and numbers and little more, in their order or with its end first.

        A page has "sugar | 200 g" where structured data have "200 g sugar".
        """
        return any(True for _ in self._holding(entry))

    def add_numbers(self, entry: str, place: int) -> bool:
        """True when a row holds the entry, which has no number, and one beside it that is not its place in the list."""
        return any(word[0].isdigit() and word != str(place) for row in self._holding(entry) for word in row)

    def _holding(self, entry: str) -> Iterator[Mapping[str, int]]:
        words = row_words(entry)
        rows, by_word = self._rows
        known = [word for word in words if word in by_word]
        if known and len(known) >= _MOST_WORDS * len(words):
            rarest = min(known, key=lambda word: len(by_word[word]))
            yield from (rows[at] for at in by_word[rarest] if _holds(rows[at], words))

    @cached_property
    def _rows(self) -> tuple[list[dict[str, int]], dict[str, list[int]]]:
        """The place of each word in each row, and the rows of each word."""
        view = self._view
        rows: list[dict[str, int]] = []
        by_word: dict[str, list[int]] = defaultdict(list)
        for el in view.page.root.iter(*_TAGS):
            if 0 < view.text_length(el) <= _LONGEST and view.is_visible(el) and not _holds_rows(el):
                words = row_words(view.text(el))
                for word in words:
                    by_word[word].append(len(rows))
                rows.append(words)
        return rows, by_word


def row_words(text: str) -> dict[str, int]:
    """The words and numbers of a text, folded, with their places: "225.0g" is "225 g", and "1½" is "1 1/2"."""
    plain = unicodedata.normalize("NFKC", _FRACTION.sub(" ", text)).casefold().replace("\u2044", "/")
    return {word: at for at, word in enumerate(dict.fromkeys(_ZEROS.sub("", word) for word in _WORD.findall(plain)))}


def _holds(row: Mapping[str, int], words: Mapping[str, int]) -> bool:
    if len(row) > 2 * len(words) + 6 or any(word[0].isdigit() and word not in row for word in words):
        return False
    places = [row[word] for word in words if word in row]
    descents = sum(after < before for before, after in itertools.pairwise(places))
    return len(places) >= _MOST_WORDS * len(words) and (descents == 0 or (descents == 1 and places[-1] < places[0]))


def _holds_rows(el: HtmlElement) -> bool:
    """True for an element that is a list or a table, or holds one: what it says are several rows."""
    return next(el.iterdescendants("li", "tr"), None) is not None
