"""Typed values inside of the texts of one place: days, amounts, identifiers, and the words between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from shoal.agent.read.facts.lines import BY, WROTE
from shoal.agent.read.lists.column import Column, ColumnKind, Value
from shoal.agent.read.lists.words import split_words, words_in_line
from shoal.agent.read.values.text_values import (
    DayInText,
    days_in,
    identifiers_in,
    money_bounds_in,
    money_in,
    one_order_fits,
)

BOUNDS_OF_MONEY = ("min", "max")
"""Parts of a text that states a span of money."""
_ALL_OF_CELL = 0.999
_SOME = 0.3
"""Share of the texts that state a bound of money: others may state none, as "Competitive"."""
_COUNTED = re.compile(
    r"(?<![\w.,$€£–−-])(?<!\d[ \u00a0\u202f])(?<!\d [–−-] )(?<!of )(?<!von )(?<!sur )(?<!de )(?<!/ )"
    r"(\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d[\d.,']{0,11}[kKM]?)\s(?!out\b)([^\W\d_]{3,20})\b"
)
_SHORTENED = re.compile(r"(\d{1,3}(?:[.,]\d{1,2})?)([kKM])")
_COUNT_OF = "count of"
_LONGEST_COUNTED = 200
_BY = re.compile(
    rf"(?:(?:{WROTE})\s)?(?:{BY})\s+"
    r"([^\W\d_].{1,60}?)(?=\s(?:in|on|at|am|im|le|el|il|op|den|dne)\s\S{0,12}\d|\s?[|·•(–—]|\s?/\s?\d|,|\s\d|$)",
    re.I,
)
_INVERTED = re.compile(
    rf"(?:(?:{WROTE})\s)?(?:{BY})\s+"
    r"([^\W\d_]{2,30}(?:[-'’ ][^\W\d_]{2,30})?, [^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,3})"
    r"(?:,? [\d(–-].{0,20})?\.?",
    re.I,
)
"""A family's name with given names behind a comma, as catalogues write them, in a text of nothing else."""
_LAST_WORD = re.compile(r"[^\W\d]+\W*$")
_LONGEST_END = 60
_SAYS = re.compile(r"([^\W\d_].{1,60}?)\s(?:says|said|wrote|writes|schrieb|sagt|escribió|dice|a écrit|dit)\s?:?")
_EDGE = " \t,;:|·•–—-[]"


def bare(text: str) -> str:
    """`text` without signs at its edges."""
    return words_in_line(text).strip(_EDGE).strip()


def typed_columns(place: Column) -> list[Column]:
    """The text of a place, and the days, amounts, identifiers and words that stand in it."""
    if not place.present_values:
        return []
    texts = [value if isinstance(value, str) else None for value in place.values]
    typed = _Typed(place, texts)
    columns = [*typed.days(), *typed.money()]
    if typed.mostly_day > 0.6 * len(place.present_values):
        return columns
    whole = place.part > _ALL_OF_CELL and place.in_cells
    text = typed.make("text", "", [value if whole or not value else bare(value) for value in texts], whole=True)
    columns.append(text)
    if text.present_values:
        columns += typed.counted()
        columns += typed.authors()
        columns += typed.identifiers(text)
        columns += typed.words_between(text)
    return columns


def _written_out(number: str) -> str | None:
    """A number without its letter for thousands or millions: "1.2K" is 1200. None where that is not clear."""
    if number[-1].isdigit():
        return re.sub(r"\s", "", number)
    match = _SHORTENED.fullmatch(number)
    factor = 1_000_000 if number[-1] == "M" else 1_000
    return f"{float(match[1].replace(',', '.')) * factor:.0f}" if match else None


def _counts(text: str) -> dict[str, str]:
    """Numbers by the word behind them; none for a word that has several."""
    numbers: dict[str, str | None] = {}
    for number, word in _COUNTED.findall(text):
        if words := split_words(word):
            written = _written_out(number)
            numbers[words[0]] = written if numbers.get(words[0], written) == written else None
    return {word: number for word, number in numbers.items() if number}


def is_counted(column: Column) -> bool:
    """True for numbers that are named by the word behind them: several stand in one text."""
    return str(column.source[-1]).startswith(_COUNT_OF)


class _Typed:
    def __init__(self, place: Column, texts: Sequence[str | None]) -> None:
        self.place = place
        self.texts = texts
        self.count = len(place.present_values)
        self._days = [days_in(text) if text else () for text in texts]
        if not one_order_fits([days[0].day for days in self._days if days], self.count):
            self._days = [() for _ in texts]
        self.mostly_day = sum(
            bool(days) and days[0].end - days[0].start > 0.6 * len(text or "")
            for days, text in zip(self._days, texts, strict=True)
        )
        self._beside_days = [_blanked(text, days) if text else "" for text, days in zip(texts, self._days, strict=True)]
        self._codes = [identifiers_in(text) for text in self._beside_days]

    def make(
        self, kind: ColumnKind, part: str, values: Sequence[Value | None], before: str = "", *, whole: bool = False
    ) -> Column:
        place = self.place
        source = (*place.source, part) if part else place.source
        label = f"{place.label} {before}".strip()
        return Column(
            kind,
            source,
            list(values),
            label,
            place.hint,
            whole,
            place.links,
            place.stretches,
            first=place.first,
            unsteady=place.unsteady,
            place=place.place,
            names=place.names,
            loose_names=frozenset() if part else place.loose_names,
            leads=place.leads and not part,
            in_cells=place.in_cells,
        )

    def days(self) -> list[Column]:
        """Up to three days in each text."""
        columns = []
        for nth in range(3):
            at = [days[nth] if len(days) > nth else None for days in self._days]
            enough = sum(day is not None for day in at) >= max(2, 0.4 * self.count)
            if enough or (nth == 0 and len(self.texts) == 2 and any(at)):
                ends = [days[nth - 1].end if nth and len(days) >= nth else 0 for days in self._days]
                before = self._words_before([day.start if day else None for day in at], ends)
                days = [day.day if day else None for day in at]
                whole = self.mostly_day > 0.7 * self.count
                columns.append(self.make("day", f"day {nth}", days, before, whole=whole))
        return columns

    def _words_before(self, starts: Sequence[int | None], ends: Sequence[int]) -> str:
        return _common_words(
            [
                text[end:start]
                for text, start, end in zip(self.texts, starts, ends, strict=True)
                if text is not None and start is not None
            ]
        )

    def money(self) -> list[Column]:
        amounts = [money_in(text) for text in self._beside_days]
        enough = sum(map(bool, amounts)) > 0.5 * self.count
        columns = [self.make("money", "money", amounts)] if enough else []
        bounds = [money_bounds_in(text) for text in self._beside_days]
        if sum(map(bool, bounds)) > _SOME * self.count:
            for place, bound in enumerate(BOUNDS_OF_MONEY):
                columns.append(self.make("money", bound, [each and each[place] for each in bounds], bound))
        return columns

    def counted(self) -> list[Column]:
        """Numbers that the word behind them names, as "12 comments"."""
        if self.texts and max((len(text) for text in self.texts if text), default=0) > _LONGEST_COUNTED:
            return []
        numbers_of = [_counts(text or "") for text in self.texts]
        words = Counter(word for numbers in numbers_of for word in numbers)
        return [
            replace(
                self.make("text", f"{_COUNT_OF} {word}", [numbers.get(word) for numbers in numbers_of], whole=True),
                label=word,
                hint="",
            )
            for word, count in words.items()
            if count >= max(2, 0.5 * self.count)
        ]

    def authors(self) -> list[Column]:
        """Names behind "by", or before "says"."""
        if sum(bool(text and _INVERTED.fullmatch(text)) for text in self.texts) > 0.5 * self.count:
            matches = [_INVERTED.fullmatch(text) if text else None for text in self.texts]
        else:
            matches = [_BY.match(text) or _SAYS.fullmatch(text) if text else None for text in self.texts]
        named = [match[1] if match and _is_name(match[1]) else None for match in matches]
        enough = sum(map(bool, named)) >= max(2, 0.6 * self.count)
        return [self.make("text", "author", named, "author", whole=True)] if enough else []

    def identifiers(self, text: Column) -> list[Column]:
        """The text as an identifier, and up to two identifiers in it."""
        columns = []
        dated = any(self._days)
        links = any("//" in value for value in text.texts[:5])
        coded = text.with_figures > 0.8 and sum(map(bool, self._codes)) > 0.8 * self.count
        if coded and not links and not dated and text.length < 45 and text.words <= 3.5:
            columns.append(self.make("identifier", "all", text.values, whole=True))
        for nth in range(2):
            at = [spans[nth] if len(spans) > nth else None for spans in self._codes]
            if sum(map(bool, at)) < max(2, 0.6 * self.count) or text.length >= 400:
                continue
            values = [
                each[span[0] : span[1]] if each and span else None for each, span in zip(self.texts, at, strict=True)
            ]
            if nth == 0 and text.with_figures > 0.8 and [value for value in values if value] == text.present_values:
                continue
            ends = [spans[nth - 1][1] if nth and len(spans) >= nth else 0 for spans in self._codes]
            before = self._words_before([span[0] if span else None for span in at], ends)
            columns.append(self.make("identifier", f"identifier {nth}", values, before))
        return columns

    def words_between(self, text: Column) -> list[Column]:
        """The words before the first day or number, and the longest words between two of them."""
        marks = [
            sorted([*((day.start, day.end) for day in days), *codes])
            for days, codes in zip(self._days, self._codes, strict=True)
        ]
        if sum(map(bool, marks)) <= 0.7 * self.count or text.length >= 400:
            return []
        pieces = [_between(each, spans) if each else [] for each, spans in zip(self.texts, marks, strict=True)]
        heads = _without_common_end([_unbracketed(parts[0]) if parts else None for parts in pieces])
        rest = [max(parts, key=len) if parts else "" for parts in pieces]
        last = sum(bool(parts) and part is parts[-1] for part, parts in zip(rest, pieces, strict=True))
        longest = [_unbracketed(part) or None for part in rest]
        if last < 0.5 * len(longest):  # a number follows, which the words before it name
            longest = _without_common_end(longest)
        columns: list[Column] = []
        for part, values in (("head", heads), ("rest", longest)):
            long_enough = sum(bool(value) and len(value or "") > 3 for value in values) > 0.7 * self.count
            if long_enough and not (columns and values == columns[0].values):
                columns.append(self.make("text", part, values))
        return columns


def _is_name(text: str) -> bool:
    """True for a text without figures that begins with no small letter: "by bus" is no author."""
    return not text[0].islower() and not any(map(str.isdigit, text))


def _blanked(text: str, days: Sequence[DayInText]) -> str:
    for day in days:
        text = text[: day.start] + "\x01" * (day.end - day.start) + text[day.end :]
    return text


def _between(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    edges = [(0, 0), *spans, (len(text), len(text))]
    return [text[before[1] : after[0]] for before, after in pairwise(edges)]


def _unbracketed(text: str) -> str:
    """`text` without a bracket that is not closed, and without the signs behind a number that stood before it."""
    closed = max(text.rfind(")"), text.rfind("]"))
    opened = [at for sign in "([" if (at := text.find(sign, closed + 1)) >= 0]
    return bare(re.sub(r"^\s*[.):]+", "", text[: min(opened, default=len(text))]))


def _without_common_end(texts: Sequence[str | None]) -> list[str | None]:
    """Texts without the last words that most of them share, as "No." before a number that was cut off."""
    shortened = list(texts)
    for _ in range(3):
        last = Counter(
            match[0].casefold()
            for text in shortened
            if text and (match := _LAST_WORD.search(text[-_LONGEST_END:])) and match.start() > 0
        )
        if not last or last.most_common(1)[0][1] < 0.6 * sum(map(bool, shortened)):
            break
        word = last.most_common(1)[0][0]
        shortened = [
            bare(text[: -len(word)]) if text and text.casefold().endswith(word) else text for text in shortened
        ]
    return shortened


def _common_words(before: Sequence[str]) -> str:
    """The words that stand before most values, up to three."""
    last = [split_words(text)[-3:] for text in before]
    counted = Counter(word for words in last for word in set(words))
    common = (word for words in last for word in words if counted[word] >= 0.6 * len(before))
    return " ".join(dict.fromkeys(common))
