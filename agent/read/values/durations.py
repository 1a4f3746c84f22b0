"""Lengths of time: ISO 8601, and words with the units of a page's language."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from itertools import product
from typing import Literal

import isodate
from babel import UnknownLocaleError
from babel.units import format_unit

from shoal.agent.read.words import one_line

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
"""Seconds of each unit that a field may ask for."""

_SOME_DAY = datetime(2000, 1, 1)
"""From where months and years are counted."""
_LENGTHS: tuple[Literal["long", "short", "narrow"], ...] = ("long", "short", "narrow")
_SHORT = {"hr": "hour", "hrs": "hour", "h": "hour", "mins": "minute", "min": "minute", "m": "minute", "sec": "second"}
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75", "⅓": ".333", "⅔": ".667"}
_FRACTION = re.compile(rf"(\d)?\s{0, 3}([{''.join(_FRACTIONS)}])")
_PART = re.compile(r"(?<!\d)(\d{1,9}(?:[.,]\d{1,9})?)\s{0,3}([^\W\d_]+)")


def read_seconds(text: str, lang: str = "en") -> float | None:
    """The length of time that `text` states, in seconds; None where it states none, or several."""
    line = one_line(text)
    if re.match(r"-?P", line, re.I):
        return _iso_seconds(line)
    line = _FRACTION.sub(lambda match: (match[1] or "0") + _FRACTIONS[match[2]], line)
    units = unit_words(lang)
    parts = [
        (float(amount.replace(",", ".")), units[word.casefold()])
        for amount, word in _PART.findall(line)
        if word.casefold() in units
    ]
    if not parts or len({unit for _, unit in parts}) < len(parts):
        return None
    return sum(amount * SECONDS[unit] for amount, unit in parts)


def _iso_seconds(text: str) -> float | None:
    try:
        said = isodate.parse_duration(re.sub(r"(?<=\d),(?=\d)", ".", text.upper().replace(" ", "")))
        whole = said.totimedelta(start=_SOME_DAY) if isinstance(said, isodate.Duration) else said
    except (isodate.ISO8601Error, OverflowError, ValueError):
        return None
    return float(whole.total_seconds())


@cache
def unit_words(lang: str) -> dict[str, str]:
    """The words for seconds, minutes, hours and days in a language and in English, with the unit that each means."""
    words: dict[str, str] = {}
    for code in (lang, "en"):
        for unit, length, amount in product(SECONDS, _LENGTHS, (1, 2, 5)):
            try:
                said = format_unit(amount, f"duration-{unit}", length, locale=code)
            except (UnknownLocaleError, ValueError):
                continue
            for word in re.findall(r"[^\W\d_]+", said):
                words.setdefault(word.casefold(), unit)
    return {**words, **_SHORT}
