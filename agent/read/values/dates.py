"""Dates as ISO 8601, read by the page's locale; None for a relative one or one that two readings fit."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import dateparser
from babel import Locale

from shoal.agent.read.values.locales import locale_of

_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s?(Z|[+-]\d{2}:?\d{2})?)?")
_DATE_SHAPES = (
    re.compile(r"\b\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4}\b"),
    re.compile(r"\b\d{4}[./]\d{1,2}[./]\d{1,2}\b"),
    re.compile(
        r"\b\d{1,2}(?:st|nd|rd|th|er|\.|º)?(?:\s+(?:de|of))?\s+[^\W\d_]{3,}\.?,?(?:\s+(?:de|of))?\s+\d{4}\b", re.I
    ),
    re.compile(r"\b[^\W\d_]{3,}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}\b", re.I),
)
_NUMERIC = re.compile(r"(\d{1,2})[./-]\s?(\d{1,2})[./-]\s?(\d{2,4})")


def read_date(text: str, lang: str = "", *, with_time: bool = False) -> str | None:
    """The date that `text` states as ISO 8601; None for a relative one, or one whose day and month are not certain."""
    iso = _ISO.search(text)
    if iso:
        try:
            datetime(int(iso[1]), int(iso[2]), int(iso[3]))
        except ValueError:
            return None
        day = f"{iso[1]}-{iso[2]}-{iso[3]}"
        if not with_time:
            return day
        return f"{day}T{iso[4] if iso[4].count(':') > 1 else iso[4] + ':00'}{iso[5] or ''}" if iso[4] else None
    for shape in _DATE_SHAPES:
        hit = shape.search(text)
        if not hit or (with_time and ":" not in text):  # midnight would be an invention
            continue
        if moment := _parsed(text if with_time else hit.group(), lang):
            return moment.isoformat() if with_time else moment.date().isoformat()
    return None


def _parsed(text: str, lang: str) -> datetime | None:
    locale = locale_of(lang)
    settings: dict[str, Any] = {"STRICT_PARSING": True, "PARSERS": ["absolute-time"]}
    numeric = _NUMERIC.search(text)
    if numeric:
        order = _day_order(numeric, locale)
        if order is None:
            return None
        settings["DATE_ORDER"] = order
    languages = [locale.language, "en"] if locale is not None and locale.language != "en" else ["en"]
    parsed: datetime | None
    try:
        parsed = dateparser.parse(text, languages=list(dict.fromkeys(languages)), settings=settings)
    except ValueError:  # a language that the library does not know
        parsed = dateparser.parse(text, languages=["en"], settings=settings)
    return parsed


def _day_order(numeric: re.Match[str], locale: Locale | None) -> str | None:
    first, second = int(numeric[1]), int(numeric[2])
    if first > 12 or "." in numeric.group():
        return "DMY"
    if second > 12:
        return "MDY"
    if first == second:
        return "DMY"
    if locale is None or (locale.language == "en" and not locale.territory):
        return None  # 03/04 is March or April
    pattern = locale.date_formats["short"].pattern
    return "MDY" if pattern.lower().startswith("m") else "DMY"
