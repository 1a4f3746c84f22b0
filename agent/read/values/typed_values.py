"""Dates, times and numbers as HTML's typed inputs take them, read in the spelling of a language."""

from __future__ import annotations

import re
from datetime import date

from shoal.agent.read.values.dates import read_date
from shoal.agent.read.values.numbers import decimal_of

_AS_TYPED = {
    "month": re.compile(r"\d{4,}-\d{2}"),
    "week": re.compile(r"\d{4,}-W\d{2}"),
    "time": re.compile(r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?"),
    "datetime-local": re.compile(r"\d{4,}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?"),
    "number": re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?"),
}
SPELLINGS = {
    "date": "2027-03-07",
    "month": "2027-03",
    "week": "2027-W10",
    "time": "14:30",
    "datetime-local": "2027-03-07T14:30",
    "number": "1234.5",
}
"""One value of each type, as HTML writes it."""
_TIME = re.compile(
    r"(?<!\d)(\d{1,2})(?:[:.h](\d{2})(?::(\d{2}))?)?\s*(am|pm|a\.m\.|p\.m\.|uhr|h)?(?![\d\w])", re.IGNORECASE
)
_MONTH = re.compile(r"(\d{1,2})[./-](\d{4})|(\d{4})[./](\d{1,2})")
_WEEK = re.compile(r"(?:\D*)(\d{1,2})\D+(\d{4})|(\d{4})\D+(\d{1,2})")


def typed_value(type_: str, text: str, lang: str = "") -> str | None:
    """`text` as an input of this type takes it; None where it says no such thing, or two readings fit.

    A type that takes any text takes it as it is.
    """
    text = text.strip()
    if type_ not in SPELLINGS or (type_ in _AS_TYPED and _AS_TYPED[type_].fullmatch(text)):
        return text
    match type_:
        case "date":
            return read_date(text, lang)
        case "month":
            return _month(text, lang)
        case "week":
            return _week(text, lang)
        case "time":
            return _time(text)
        case "datetime-local":
            return _moment(text, lang)
    number = decimal_of(text, lang)
    return None if number is None else f"{number:f}"


def _month(text: str, lang: str) -> str | None:
    if hit := _MONTH.fullmatch(text):
        month, year = (hit[1], hit[2]) if hit[1] else (hit[4], hit[3])
        return f"{year}-{int(month):02}" if 1 <= int(month) <= 12 else None
    day = read_date(text, lang) or read_date(f"1 {text}", lang)  # "March 2027" names no day
    return day[:7] if day else None


def _week(text: str, lang: str) -> str | None:
    if day := read_date(text, lang):
        year, week, _ = date.fromisoformat(day).isocalendar()
        return f"{year}-W{week:02}"
    hit = _WEEK.fullmatch(text)
    if hit is None:
        return None
    week, year = map(int, (hit[1], hit[2]) if hit[1] else (hit[4], hit[3]))
    return f"{year}-W{week:02}" if 1 <= week <= 53 else None


def _time(text: str) -> str | None:
    hit = _TIME.fullmatch(text)
    if hit is None or not (hit[2] or hit[4]):
        return None
    hour, minute, half = int(hit[1]), int(hit[2] or 0), (hit[4] or "")[:1].lower()
    if half in ("a", "p"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59:
        return None
    return f"{hour:02}:{minute:02}" + (f":{hit[3]}" if hit[3] else "")


def _moment(text: str, lang: str) -> str | None:
    day = read_date(text, lang)
    times = [time for hit in _TIME.finditer(text) if hit[2] and ":" in hit[0] and (time := _time(hit[0].strip()))]
    return f"{day}T{times[0]}" if day and len(times) == 1 else None
