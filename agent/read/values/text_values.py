"""Values that stand in texts: days, amounts of money, identifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from typing import Literal

from babel import Locale
from rapidfuzz import fuzz, process

from shoal.agent.support.bounded_cache import bounded_cache

_LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl", "sv", "da", "pl", "fi", "ca")
"""Languages whose names of months and of days of the week are known."""
_LONGEST = 20_000
_KEPT = 400
"""Characters of a text of which the values are remembered: a page's runs share their texts."""
_WORD = r"[^\W\d_]{3,12}"
_DAY = re.compile(
    rf"""(?<![\w.-])(?:
    (?P<y1>[12]\d{{3}})(?P<s1>[-/.])(?P<m1>\d{{1,2}})(?P=s1)(?P<d1>\d{{1,2}})(?!\d)(?:T[\d:.]+Z?)?
  | (?P<a>\d{{1,2}})\s?(?P<s2>[-/.])\s?(?P<b>\d{{1,2}})\s?(?P=s2)\s?(?P<y2>[12]\d{{3}}|\d\d)(?![\w-])
  | (?P<n3>{_WORD})\.?\s*(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\s*[,.]?\s*(?P<y3>[12]\d{{3}})(?!\d)
  | (?P<d4>\d{{1,2}})(?:st|nd|rd|th|\.|\s?º)?[\s-]*(?:(?:de|of)\s+)?(?P<n4>{_WORD})\.?,?[\s-]*(?:(?:de|del|of)\s+)?
    (?P<y4>[12]\d{{3}}|(?<=[\s-])\d\d)(?![\w:-])
  | (?P<y5>[12]\d{{3}})[\s-](?P<n5>{_WORD})\.?[\s-](?P<d5>\d{{1,2}})(?!\d))""",
    re.X,
)
_MONEY = re.compile(
    r"(?:[$€£¥₹₽₩]|\b(?:USD|EUR|GBP|CHF|CAD|AUD|Rs\.?|R\$)\s?)\s?\d[\d.,']{0,24}(?: \d{3}(?!\d)[.,]?\d{0,2}){0,4}"
    r"|(?<!\d)\d[\d.,']{0,24}\s?(?:[€£¥円元₽]|(?:USD|EUR|GBP|CHF|kr|zł|Kč|Ft)\b)"
)
_IN_THOUSANDS = re.compile(r"(?:\s?[-–—]\s?[$€£]?\s?\d[\d.,']{0,24})?\s?[kK]\b")
_BOUNDS = re.compile(
    r"(?P<sign>[$€£¥₹₽₩]?)\s?(?P<low>\d[\d.,']{0,24})(?P<low_k>\s?[kK])?\s?[-–—]\s?[$€£¥₹₽₩]?\s?"
    r"(?P<high>\d[\d.,']{0,24})(?P<high_k>\s?[kK]\b)?(?P<behind>\s?[€£¥円元₽]|\s?(?:USD|EUR|GBP|CHF|kr|zł|Kč|Ft)\b)?"
    r"(?![\d.,]{0,24}\s?%)"
)
_END_BEFORE = re.compile(
    r"\b(?:(?P<most>up to|at most|max(?:imum|\.)?|bis(?: zu)?|jusqu['’]à|hasta|fino a)"
    r"|from|at least|starting at|min(?:imum|\.)?|ab|à partir de|desde|a partire da|vanaf)\s{0,3}$",
    re.I,
)
_SEVERAL = re.compile(rf"(?:{_MONEY.pattern})(?:\s?/\s?(?:{_MONEY.pattern}))+")
"""Amounts of which each is for someone else: "£5 / £3"."""
_EACH = re.compile(r"\s?(?:/|\b(?:per|an?|pro|je|par|al|por)\b)\s?[^\W\d_]{1,12}\b", re.I)
_PLAIN = re.compile(r"\d{1,4}(?:[.,]\d{1,2})?")
_IDENTIFIER = re.compile(r"(?<![\w])(?=[\w./:-]{0,60}\d)[A-Za-z0-9]+(?:[-/.:_][A-Za-z0-9]+)*")
_MEASURE = re.compile(r"\d+([.,]\d+)?[kmg]b?|\d+:\d\d(:\d\d)?|\d+%", re.I)
_UNIT_BEHIND = re.compile(r"\s?([kmg]b|bytes?|%|pages?)\b", re.I)
_FIGURES, _LETTERS = re.compile(r"\d+"), re.compile(r"([^\W\d]|_)+")
_JOINING = re.compile(r"\s*(,|;|&|and|y|und|et)\s*", re.I)

DayOrder = Literal["mdy", "dmy"]


@dataclass(frozen=True, slots=True)
class Day:
    """A day as a text writes it. With an open order, which of the two numbers is the month is not said."""

    year: int
    first: int  # the month, or with an open order what stands first
    second: int  # the day, or with an open order what stands second
    sign: str = ""  # between the figures, with an open order; "" where the order is said

    @property
    def is_open(self) -> bool:
        """True where day and month may be exchanged."""
        return bool(self.sign)

    def iso(self, order: DayOrder | None = None) -> str | None:
        """The day as YYYY-MM-DD; None where there is no such day, or the order is open and matters."""
        if not self.is_open or order == "mdy":
            return iso_day(self.year, self.first, self.second)
        if order == "dmy":
            return iso_day(self.year, self.second, self.first)
        month_first, day_first = self.iso("mdy"), self.iso("dmy")
        return month_first if month_first == day_first else None

    def fits(self, order: DayOrder) -> bool:
        """True when there is such a day in this order."""
        return self.iso(order) is not None


@dataclass(frozen=True, slots=True)
class DayInText:
    """A day with its place in a text."""

    start: int
    end: int
    day: Day


def iso_day(year: int, month: int, day: int) -> str | None:
    """YYYY-MM-DD; None where there is no such day."""
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


@lru_cache(50_000)
def days_in(text: str) -> tuple[DayInText, ...]:
    """The days in a text, in order."""
    if len(text) > _LONGEST:
        return ()
    days = []
    for match in _DAY.finditer(text):
        day = _day_of(match)
        if day is not None and (day.fits("mdy") or day.fits("dmy")):
            days.append(DayInText(match.start(), match.end(), day))
    return tuple(days)


def _day_of(match: re.Match[str]) -> Day | None:
    if match["y1"]:
        return Day(int(match["y1"]), int(match["m1"]), int(match["d1"]))
    if match["y2"]:
        return Day(_full_year(match["y2"]), int(match["a"]), int(match["b"]), match["s2"])
    form = next(form for form in "345" if match[f"y{form}"])
    month = month_named(match[f"n{form}"].casefold())
    return Day(_full_year(match[f"y{form}"]), month, int(match[f"d{form}"])) if month else None


def _full_year(figures: str) -> int:
    if len(figures) == 4:
        return int(figures)
    return (2000 if int(figures) < 70 else 1900) + int(figures)


@cache
def _months() -> dict[str, int]:
    names = {"sept": 9}
    for language in _LANGUAGES:
        months = Locale(language).months
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in months[context][width].items():
                    if len(name.strip(".")) > 2:
                        names.setdefault(name.strip(".").casefold(), number)
    return names


@cache
def weekday_names() -> frozenset[str]:
    """The names of the days of the week and their usual short forms, folded."""
    days = (Locale(language).days["format"][width] for language in _LANGUAGES for width in ("wide", "abbreviated"))
    return frozenset(name.strip(".").casefold() for names in days for name in names.values())


@lru_cache(5_000)
def month_named(word: str) -> int | None:
    """The number of a month, by its name in one of the known languages, slips of the pen included."""
    names = _months()
    if word in names:
        return names[word]
    if len(word) <= 4:
        return None
    near = process.extractOne(word, [name for name in names if len(name) > 4], scorer=fuzz.ratio, score_cutoff=83)
    return names[near[0]] if near else None


def one_order_fits(days: Sequence[Day], texts: int) -> bool:
    """True when figures like 8-21-24 may be days: one order of day and month fits all of them, or nearly."""
    open_ = [day for day in days if day.is_open]
    if not open_:
        return True
    fits = max(sum(day.fits("mdy") for day in open_), sum(day.fits("dmy") for day in open_))
    return fits == len(open_) or (fits >= 0.97 * len(open_) and len(days) >= 0.97 * texts)


@bounded_cache(20_000, longest=_KEPT)
def money_in(text: str) -> str | None:
    """The first amount of money in a text, with its currency, or the span or the amounts that it is one of.

    None without one, and for one in thousands ("£50k").
    """
    match = _MONEY.search(text)
    if match is None or _IN_THOUSANDS.match(text[match.end() :]):
        return None
    span = _span_in(text)
    if span and span.start() <= match.start() < span.end():
        return span[0].strip()
    several = _SEVERAL.match(text, match.start())
    return several[0] if several else match[0]


@bounded_cache(20_000, longest=_KEPT)
def money_in_words(text: str) -> str | None:
    """The first amount or span in a text, with the words that bound it and say what it is for: "Up to £9 an hour"."""
    amount = money_in(text)
    if amount is None:
        return None
    start = text.index(amount)
    before, behind = _END_BEFORE.search(text[:start]), _EACH.match(text[start + len(amount) :])
    return text[before.start() if before else start : start + len(amount) + (behind.end() if behind else 0)]


@bounded_cache(20_000, longest=_KEPT)
def money_bounds_in(text: str) -> tuple[str | None, str | None] | None:
    """The two amounts of a span, in full: "£50–60k" is from £50000 to £60000; of "up to £60" one of them.

    None where the text has none.
    """
    span = _span_in(text)
    if span is None or not (span["sign"] or span["behind"]):
        amount = money_in(text)
        before = _END_BEFORE.fullmatch(text[: text.index(amount)].strip()) if amount else None
        if before is None:
            return None
        return (None, amount) if before["most"] else (amount, None)
    bounds = [span["low"], span["high"]]
    if span["high_k"]:
        if not all(map(_PLAIN.fullmatch, bounds)):
            return None
        bounds = [f"{float(bound.replace(',', '.')) * 1_000:.0f}" for bound in bounds]
    elif span["low_k"]:
        return None
    low, high = (f"{span['sign']}{bound}{span['behind'] or ''}" for bound in bounds)
    return low, high


def _span_in(text: str) -> re.Match[str] | None:
    """The first span of amounts in a text; None for two amounts of which the second is no more: "£5 - 3 left"."""
    span = _BOUNDS.search(text)
    grows = span is not None and (span["high_k"] or _size_of(span["high"]) > _size_of(span["low"]))
    return span if grows else None


def _size_of(amount: str) -> float:
    """A rough size, whichever sign parts its decimals."""
    whole, _, cents = re.sub(r"[.,](?=\d{1,2}$)", " ", amount).partition(" ")
    return float(f"{re.sub(r'[^0-9]', '', whole) or 0}.{re.sub(r'[^0-9]', '', cents) or 0}")


@bounded_cache(20_000, longest=_KEPT)
def identifiers_in(text: str) -> Sequence[tuple[int, int]]:
    """The places of codes and numbers in a text; several of one shape with a comma between are one. No measures."""
    spans: list[tuple[int, int]] = []
    if "//" in text or "@" in text:
        return spans
    for match in _IDENTIFIER.finditer(text):
        if _MEASURE.fullmatch(match[0]) or _UNIT_BEHIND.match(text, match.end()):
            continue
        if spans and _JOINING.fullmatch(text[spans[-1][1] : match.start()]):
            last = text[spans[-1][0] : spans[-1][1]].split()[-1].strip(",;&")
            if shape(match[0]) == shape(last):
                spans[-1] = (spans[-1][0], match.end())
                continue
        spans.append((match.start(), match.end()))
    return spans


@bounded_cache(20_000, longest=_KEPT)
def shape(text: str) -> str:
    """A text's form: letters as A, figures as 9."""
    return _LETTERS.sub("A", _FIGURES.sub("9", text))
