"""Dates, numbers and quantities as texts write them, read as what they say.

"14 March 2024", "14.03.2024" and "2024-03-14" are one day; "1.299,00" and "1299" one number; "1.5 kg" and "1500 g" one
weight. Where a notation has two meanings, both are readings of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Generic, TypeVar

from babel.dates import get_month_names

T = TypeVar("T")

_LOCALES = ("en", "de", "fr", "es", "it", "pt", "nl")
_CENTURY = 2000
_NUMERIC_DATE = re.compile(
    r"(?<![\w.])(?:(?P<y>\d{4})[-/.](?P<ym>\d{1,2})[-/.](?P<yd>\d{1,2})|"
    r"(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<c>\d{4}|\d{2}))(?!\w|[-/.]\d)"
)
_NUMBER = re.compile(
    r"(?<![\w.,])[-+−]?\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|(?:(?<!\w)[-+−])?\d+(?:[.,]\d+)*"
)
_UNITS: dict[str, tuple[str, float]] = {
    **{"mm": ("length", 0.001), "cm": ("length", 0.01), "m": ("length", 1.0), "km": ("length", 1000.0)},
    **{"mg": ("mass", 0.001), "g": ("mass", 1.0), "kg": ("mass", 1000.0), "t": ("mass", 1e6)},
    **{"ml": ("volume", 0.001), "cl": ("volume", 0.01), "l": ("volume", 1.0)},
    **{"ms": ("time", 0.001), "s": ("time", 1.0), "min": ("time", 60.0), "h": ("time", 3600.0)},
    **{"kb": ("data", 1e3), "mb": ("data", 1e6), "gb": ("data", 1e9), "tb": ("data", 1e12)},
}
_UNIT_WORDS = {
    **dict.fromkeys(("meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("kilometer", "kilometers", "kilometre", "kilometres"), "km"),
    **dict.fromkeys(("gram", "grams", "gramm"), "g"),
    **dict.fromkeys(("kilogram", "kilograms", "kilogramm", "kilo", "kilos"), "kg"),
    **dict.fromkeys(("liter", "liters", "litre", "litres"), "l"),
    **dict.fromkeys(("second", "seconds", "sec", "sekunden", "sekunde"), "s"),
    **dict.fromkeys(("minute", "minutes", "mins", "minuten"), "min"),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "stunde", "stunden"), "h"),
}
_UNIT = "|".join(sorted({*_UNITS, *_UNIT_WORDS}, key=len, reverse=True))
_QUANTITY = re.compile(
    rf"(?<!\d)(?<!\d[.,])({_NUMBER.pattern.replace('+(?:[.,]', '{1,7}(?:[.,]', 1)})[ \u00a0]?({_UNIT})\b", re.IGNORECASE
)
"""It begins where a number does, and groups of three digits have an end: a page of digits without a unit is read once,
not again from each of its digits."""

Quantity = tuple[str, float]
"""A dimension, and the amount in its base unit."""


@dataclass(frozen=True, slots=True)
class Written(Generic[T]):
    """One value in a text."""

    start: int
    end: int
    readings: frozenset[T]  # what it may mean


def dates_in(text: str) -> Iterator[Written[date]]:
    """The dates of `text`, each with the days that it may be."""
    for match in _NUMERIC_DATE.finditer(text):
        if match["y"]:
            days = _days([(match["y"], match["ym"], match["yd"])])
        else:
            a, b, year = match["a"], match["b"], match["c"]
            days = _days([(year, b, a), (year, a, b)])
        if days:
            yield Written(match.start(), match.end(), days)
    months = _month_numbers()
    for match in _worded_date().finditer(text):
        month = months[(match["m1"] or match["m2"]).casefold().rstrip(".")]
        days = _days([(match["y1"] or match["y2"], str(month), match["d1"] or match["d2"])])
        if days:
            yield Written(match.start(), match.end(), days)


def is_day_of_month(before: str, after: str) -> bool:
    """Return whether a number between two texts is a day: a month's name follows it, or stands before it."""
    months = _month_numbers()
    following = re.match(r"(?:st|nd|rd|th|\.|º)?\s{0,3}(?:of |de )?([^\W\d_]{3,12})", after)
    leading = re.search(r"([^\W\d_]{3,12})\.?\s{1,3}$", before)
    return any(hit is not None and hit[1].casefold() in months for hit in (following, leading))


def quantities_in(text: str) -> Iterator[Written[Quantity]]:
    """The numbers of `text` that have a unit, in base units."""
    for match in _QUANTITY.finditer(text):
        word = match[2].casefold()
        kind, scale = _UNITS[_UNIT_WORDS.get(word, word)]
        amounts = frozenset((kind, round(number * scale, 9)) for number in readings_of(match[1]))
        if amounts:
            yield Written(match.start(), match.end(), amounts)


def numbers_in(text: str) -> Iterator[Written[float]]:
    """The numbers of `text`."""
    for match in _NUMBER.finditer(text):
        numbers = frozenset(readings_of(match.group()))
        if numbers:
            yield Written(match.start(), match.end(), numbers)


def readings_of(text: str) -> Iterator[float]:
    """Yield what a written number may mean: "1.234" is one and a bit to some, and over a thousand to others."""
    sign = -1 if text[0] in "-−" else 1
    digits = re.sub(r"[^\d.,]", "", text)
    whole = re.sub(r"[.,]", "", digits)
    if len(whole) > 300:
        return
    separators = [mark for mark in digits if mark in ".,"]
    groups = re.split(r"[.,]", digits)
    if all(len(group) == 3 for group in groups[1:]) and len(set(separators)) <= 1:
        yield sign * float(whole)
    if separators and separators.count(separators[-1]) == 1:
        yield sign * float("".join(groups[:-1]) + "." + (groups[-1] or "0"))


def _days(triples: list[tuple[str, str, str]]) -> frozenset[date]:
    return frozenset(day for triple in triples if (day := _day(*triple)) is not None)


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year) + (_CENTURY if len(year) == 2 else 0), int(month), int(day))
    except ValueError:
        return None


@cache
def _month_numbers() -> dict[str, int]:
    names: dict[str, int] = {}
    for locale in _LOCALES:
        for width in ("wide", "abbreviated"):
            for number, name in get_month_names(width, locale=locale).items():
                names.setdefault(str(name).casefold().rstrip("."), number)
    return names


@cache
def _worded_date() -> re.Pattern[str]:
    month = "|".join(sorted(map(re.escape, _month_numbers()), key=len, reverse=True))
    day, year = r"(?<!\d)\d{1,2}", r"\d{4}"
    return re.compile(
        rf"(?P<d1>{day})(?:st|nd|rd|th|\.|º)?\s*[-/ ]?\s*(?:of |de )?"
        rf"(?P<m1>{month})\.?,?\s*[-/ ]?\s*(?:de )?(?P<y1>{year})"
        rf"|(?P<m2>{month})\.?\s+(?P<d2>{day})(?:st|nd|rd|th)?,?\s+(?P<y2>{year})",
        re.IGNORECASE,
    )
