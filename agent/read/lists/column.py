"""A column of a run: values that have one place, label or link in all its records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from lxml.html import HtmlElement

from shoal.agent.read.lists.pieces import Piece
from shoal.agent.read.lists.words import split_words
from shoal.agent.read.values.text_values import Day, shape

ColumnKind = Literal["text", "day", "identifier", "money", "link", "image"]
Value = str | Day
Key = tuple[object, ...]
"""A place that values have in common."""

_NO_LETTERS = re.compile(r"[\W\d]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FIGURE = re.compile(r"\d")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Stretch:
    """The pieces of a value, first and last, by order."""

    first: int
    last: int

    def overlaps(self, other: Stretch) -> bool:
        """True when both hold one piece."""
        return self.first <= other.last and other.first <= self.last


@dataclass(eq=False)
class Column:
    """Values of one place in all records of a run; None where a record has none."""

    kind: ColumnKind
    source: Key  # the place, and the part of its text
    values: list[Value | None]
    label: str = ""  # what stands beside, before or above the values
    hint: str = ""  # classes and the like
    whole: bool = True  # the values are all that stands at the place
    links: list[HtmlElement | None] = field(default_factory=list)
    stretches: Mapping[int, Stretch] = field(default_factory=dict)  # by record
    first: Piece | None = None  # of the first record that has a value
    unsteady: float = 0.0  # share of the records that have another number of such places
    place: float = 0.5  # where in the records it stands, 0 to 1
    names: frozenset[str] = frozenset()  # words that a term or its meaning may be called
    loose_names: frozenset[str] = frozenset()  # the same of what only looks like a term and its meaning
    leads: bool = False  # nothing names it, and it is a record's link, or begins the records
    in_cells: bool = False  # the values stand in cells of a table, or in parts of definitions
    part: float = 1.0  # share of their cells' text that the values are

    @cached_property
    def present_values(self) -> list[Value]:
        """The values that there are."""
        return [value for value in self.values if value not in (None, "")]

    @cached_property
    def texts(self) -> list[str]:
        """The values that are texts."""
        return [value for value in self.present_values if isinstance(value, str)]

    @property
    def count(self) -> int:
        """Return how many records have a value."""
        return len(self.present_values)

    @property
    def cover(self) -> float:
        """Share of the records that have a value."""
        return len(self.present_values) / max(1, len(self.values))

    @cached_property
    def distinct(self) -> float:
        """Share of the values that differ."""
        return len(set(map(str, self.present_values))) / max(1, self.count)

    @cached_property
    def distinct_letters(self) -> float:
        """Share of the texts that differ by more than figures and signs."""
        keys = {_NO_LETTERS.sub("", text).casefold() for text in self.texts}
        return len(keys) / max(1, len(self.texts))

    @cached_property
    def words(self) -> float:
        """Words of a text, in the mean."""
        return _mean([len(_WORD.findall(text)) for text in self.texts])

    @cached_property
    def length(self) -> float:
        """Characters of a text, in the mean."""
        return _mean([len(text) for text in self.texts])

    @cached_property
    def with_figures(self) -> float:
        """Share of the texts with figures."""
        return _mean([_FIGURE.search(text) is not None for text in self.texts])

    @cached_property
    def figure_share(self) -> float:
        """Share of a text's words that have figures, in the mean."""
        return _mean([_words_with_figures(text) / max(1, len(text.split())) for text in self.texts])

    @cached_property
    def letters(self) -> list[frozenset[str]]:
        """The words of each text, in lower case and without figures."""
        return [frozenset(_LETTERS.findall(text.casefold())) for text in self.texts]

    @cached_property
    def form(self) -> str:
        """The commonest shape of the texts."""
        return max(self._forms, key=self._forms.__getitem__, default="")

    @cached_property
    def form_share(self) -> float:
        """Share of the texts that have it."""
        return self._forms[self.form] / max(1, len(self.texts))

    @cached_property
    def _forms(self) -> Counter[str]:
        return Counter(map(shape, self.texts))

    @cached_property
    def label_words(self) -> list[str]:
        """The words of the label."""
        return list(split_words(self.label))

    @cached_property
    def hint_words(self) -> list[str]:
        """The words of the classes."""
        return list(split_words(self.hint))

    def share_of(self, sizes: Mapping[int, int]) -> float:
        """Return the share of their cells' text that the values are; 1 outside of cells.

        Args:
            sizes: characters of the cell that each value stands in, by record.
        """
        values = ((self.values[record], size) for record, size in sizes.items())
        lengths = [(len(value), max(len(value), size)) for value, size in values if isinstance(value, str)]
        whole = sum(size for _, size in lengths)
        return sum(length for length, _ in lengths) / whole if whole else 1.0


def _words_with_figures(text: str) -> int:
    return sum(_FIGURE.search(word) is not None for word in text.split())


def _mean(numbers: Sequence[float]) -> float:
    """The mean; 0 of nothing. `statistics.mean` is exact, and takes ten times as long."""
    return sum(numbers) / len(numbers) if numbers else 0.0
