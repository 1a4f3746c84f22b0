"""Places of short values on a page: by themselves, beside the sign of a currency, near words that name them.

A day of the month is no number, and a word within a sentence is no value.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from shoal.agent.read.grounding.written_values import is_day_of_month, readings_of

Place = tuple[int, int]
"""Begin and end of a place in a text, in characters."""
ShortValue = float | str

NEARBY = 100
"""Characters on each side of a value in which the words that name it are looked for, beside their own."""
_MOST_PLACES = 1_000
"""Of one value that are looked at: a page may repeat a number without end."""
_LONGEST_NUMBER = 8
"""Characters of a small number: `-25.0000`."""
_LONGEST_ALONE, _MOST_WORDS_ALONE = 60, 4
"""Characters and words of a text that may be a value with a sign or a unit."""
_DATE_CHARS = 20
_UNIT_CHARS = 3
"""Letters of a unit or of a currency beside a number."""
_TO_SIGN = 2
"""Characters from an amount to the sign of its currency."""
_WORDS = re.compile(r"\w+")
_NUMBER = re.compile(r"(?:(?<!\w)[-+])?\d+(?:[.,]\d+)*")
_NUMBERED = re.compile(r"\d{1,4}[.)]\s{1,3}[^\W\d_]")
_PART_BEFORE, _PART_AFTER = re.compile(r"\d[.,:/-]$"), re.compile(r"[.,:/-]\d")
"""Characters that make a number a part of a longer one, of a time or of a day in figures."""


class Neighbourhoods:
    """The places of a page's words and small numbers.

    Args:
        texts: of the page, in lower case and with single spaces.
        whole: the same in one piece.
    """

    def __init__(self, texts: Sequence[str], whole: str) -> None:
        self._texts = texts
        self._whole = whole
        self._texts_at: dict[str, list[Place]] = {}
        self._near: dict[tuple[ShortValue, frozenset[str], int], bool] = {}

    @cached_property
    def _starts(self) -> dict[str, array[int]]:
        """Return where each word begins."""
        starts: dict[str, array[int]] = {}
        for match in _WORDS.finditer(self._whole):
            starts.setdefault(match.group(), array("L")).append(match.start())
        return starts

    @cached_property
    def _numbers(self) -> dict[float, list[Place]]:
        """Return where each number stands, in whatever notation."""
        places: dict[float, list[Place]] = {}
        for match in _NUMBER.finditer(self._whole):
            open_lists = [
                of_it
                for reading in (_readings(match.group()) if len(match.group()) <= _LONGEST_NUMBER else ())
                if len(of_it := places.setdefault(reading, [])) < _MOST_PLACES
            ]
            if open_lists and _is_number(self._whole, *match.span()):
                for of_it in open_lists:
                    of_it.append(match.span())
        return places

    @cached_property
    def _alone(self) -> frozenset[ShortValue]:
        """Return what the page shows by itself, with a sign or a unit at most."""
        alone: set[ShortValue] = set()
        for text in self._texts:
            if len(text) <= _LONGEST_ALONE and len(_WORDS.findall(text)) <= _MOST_WORDS_ALONE:
                for match in _NUMBER.finditer(text):
                    if _is_number(text, *match.span()) and _is_alone(text, *match.span()):
                        alone |= {match.group(), match.group().lstrip("-+"), *_readings(match.group())}
                if len(words := _WORDS.findall(text)) == 1:  # a word has no unit beside it
                    alone |= set(words)
        return frozenset(alone)

    def is_alone(self, value: ShortValue) -> bool:
        """Return whether a text of the page is the value, with a sign or a unit at most."""
        return value in self._alone

    @cached_property
    def _labels(self) -> dict[str, list[tuple[frozenset[str], bool]]]:
        """The words of short texts of several words, and whether a text is numbered, by each of the words.

        Left out are texts with a time, a day or a part of a number.
        """
        labels: dict[str, list[tuple[frozenset[str], bool]]] = {}
        for text in dict.fromkeys(self._texts):
            words = frozenset(_WORDS.findall(text)) if len(text) <= _LONGEST_ALONE else frozenset()
            if not 1 < len(words) <= _MOST_WORDS_ALONE or not _has_whole_numbers(text):
                continue
            for word in words:
                if len(of_it := labels.setdefault(word, [])) < _MOST_PLACES:
                    of_it.append((words, _NUMBERED.match(text) is not None))
        return labels

    def is_among(self, value: str, words: frozenset[str], telling: frozenset[str]) -> bool:
        """Return whether a short text of the page is the value and nothing but these words,
        of which one is telling.

        A title with its number needs no telling word.
        """
        texts = ((text - {value}, numbered) for text, numbered in self._labels.get(value, ()))
        return any(rest <= words and (numbered or rest & telling) for rest, numbered in texts)

    def is_near(self, value: ShortValue, groups: Iterable[frozenset[str]], within: int = NEARBY) -> bool:
        """Return whether the value stands near all words of one of some groups;
        it is no word of them itself.

        Args:
            within: how many characters on each side are looked at, beside those of the words.
        """
        return any(self._is_near(value, words - {value}, within) for words in groups)

    def _is_near(self, value: ShortValue, words: frozenset[str], within: int) -> bool:
        if not words or not all(word in self._starts for word in words):
            return False
        if (asked := (value, words, within)) not in self._near:
            reach = within + sum(len(word) + 1 for word in words)
            self._near[asked] = any(
                all(self._has(word, start - reach, end + reach) for word in words) for start, end in self._places(value)
            )
        return self._near[asked]

    def _has(self, word: str, start: int, end: int) -> bool:
        """Return whether a word stands within a part of the page."""
        starts = self._starts[word]
        at = bisect_left(starts, start)
        return at < len(starts) and starts[at] + len(word) <= end

    def is_amount(self, value: ShortValue) -> bool:
        """Return whether the value stands beside the sign of a currency."""
        return any(
            any(unicodedata.category(sign) == "Sc" for sign in self._whole[max(0, start - _TO_SIGN) : start])
            or any(unicodedata.category(sign) == "Sc" for sign in self._whole[end : end + _TO_SIGN])
            for start, end in self._places(value)
        )

    def _places(self, value: ShortValue) -> list[Place]:
        if isinstance(value, float):
            return self._numbers.get(value, [])
        if value not in self._texts_at:
            places = [(start, start + len(value)) for start in self._starts.get(value, ())[:_MOST_PLACES]]
            figures = value.isdigit()
            self._texts_at[value] = [at for at in places if not figures or not _in_number_or_date(self._whole, *at)]
        return self._texts_at[value]


def _has_whole_numbers(text: str) -> bool:
    return all(_is_number(text, *match.span()) for match in re.finditer(r"\d+", text))


@lru_cache(1_000)
def _readings(number: str) -> tuple[float, ...]:
    return tuple(readings_of(number))


def _is_number(text: str, start: int, end: int) -> bool:
    """Return whether figures are a number, and no part of a word, a time or a day."""
    return not (inside_word(text, start) or inside_word(text, end) or _in_number_or_date(text, start, end))


def _is_alone(text: str, start: int, end: int) -> bool:
    rest = _WORDS.findall(f"{text[:start]} {text[end:]}")
    joined = inside_word(text, start) or inside_word(text, end)
    return not joined and len(rest) <= 1 and all(len(word) <= _UNIT_CHARS and not word.isdigit() for word in rest)


def _in_number_or_date(text: str, start: int, end: int) -> bool:
    """Return whether a number is a part of another one, of a time or of a day: 25 in "25 novembre", "9:25", "1.25"."""
    before, after = text[max(0, start - _DATE_CHARS) : start], text[end : end + _DATE_CHARS]
    return bool(_PART_BEFORE.search(before) or _PART_AFTER.match(after) or is_day_of_month(before, after))


def inside_word(text: str, at: int) -> bool:
    """Return whether a place of a text has letters or figures on both of its sides."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
