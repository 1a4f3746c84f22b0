"""Days: dates as pages write them, as ISO 8601; and the places where a page shows a day."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import date, datetime, timedelta
from functools import cache

import dateparser
from babel import Locale, UnknownLocaleError
from dateutil import parser as dateutil_parser

from shoal.agent.read.words import one_line

_LONGEST = 60
"""Characters of a text that may be a date."""
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_BASIC = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T|$)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMERIC = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-]")
_IN_ADDRESS = re.compile(r"/((?:19|20)\d\d)[/-]?(\d\d)[/-]?(\d\d)(?!\d)")
_FIRST, _SECOND = datetime(2000, 1, 1), datetime(2001, 2, 2)
"""Two defaults for the parts that a text leaves out: where the two readings differ, a part was left out."""


def read_day(text: str, lang: str = "en") -> str | None:
    """The day that `text` states, as YYYY-MM-DD; None where a part is missing, or day and month may be exchanged."""
    line = one_line(text)
    for pattern in (_ISO, _BASIC):
        if match := pattern.match(line):
            return _valid("-".join(match.groups()))
    if not _YEAR.search(line) or len(line) > _LONGEST:
        return None
    if (match := _NUMERIC.match(line)) and int(match[1]) <= 12 and int(match[2]) <= 12 and match[1] != match[2]:
        return None
    try:
        first, second = (dateutil_parser.parse(line, default=default) for default in (_FIRST, _SECOND))
    except (ValueError, OverflowError):
        return _in_language(line, lang)
    return first.date().isoformat() if first.date() == second.date() else None


def _in_language(line: str, lang: str) -> str | None:
    try:
        moment = dateparser.parse(line, languages=[lang], settings={"STRICT_PARSING": True})
    except ValueError:  # a language that the library does not have
        return None
    return moment.date().isoformat() if moment is not None else None


def _valid(day: str) -> str | None:
    try:
        datetime.fromisoformat(day)
    except ValueError:
        return None
    return day


def day_of_address(url: str) -> str | None:
    """The day in an address such as /2024/05/31/title; None where it has none."""
    match = _IN_ADDRESS.search(url)
    return _valid("-".join(match.groups())) if match else None


def may_be_one_moment(day: str, other: str) -> bool:
    """True for two days in a row: one moment is in two zones on both."""
    return abs(date.fromisoformat(day[:10]) - date.fromisoformat(other[:10])) == timedelta(days=1)


@cache
def _month_names(lang: str) -> dict[int, frozenset[str]]:
    names: dict[int, set[str]] = defaultdict(set)
    for code in (lang, "en"):
        try:
            months = Locale(code).months
        except (UnknownLocaleError, ValueError):
            continue
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in months[context][width].items():
                    names[number].add(name.lower().strip("."))
    return {number: frozenset(spellings) for number, spellings in names.items()}


def day_is_shown(day: str, text: str, lang: str) -> bool:
    """True when lower-case `text` shows the ISO day in figures or with its month's name."""
    year, month, number = (int(part) for part in day[:10].split("-"))
    names = "|".join(map(re.escape, sorted(_month_names(lang)[month], key=len, reverse=True)))
    shown_day = rf"(?<!\d)0?{number}(?:st|nd|rd|th|er|\.|º)?"
    between, join = r"\s*(?:de |of |/|-)?\s*", r"\w*\.?,?\s*(?:de |/|-)?\s*"
    forms = (
        rf"{shown_day}{between}(?:{names}){join}{year}",
        rf"(?:{names})\w*\.?\s*{shown_day},?\s*{year}",
        rf"{year}[-/.年]\s?0?{month}[-/.月]\s?0?{number}(?!\d)",
        rf"(?<!\d)0?{number}[-/.]0?{month}[-/.]{year}",
        rf"(?<!\d)0?{month}/0?{number}/{year}",
    )
    return any(re.search(form, text) for form in forms)
