"""Amounts with a unit: lengths of time, weights, sizes, powers, in the unit that a field asks for.

Babel names the units in a page's language, pint converts, isodate reads ISO 8601.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import isodate
from babel import UnknownLocaleError
from babel.units import format_unit

from shoal.agent.read.values.numbers import decimal_of, fractions_as_decimals
from shoal.agent.read.values.phrases import fold
from shoal.agent.read.words import is_plural, one_line

if TYPE_CHECKING:
    from pint import UnitRegistry

_UNITS = {
    "duration": ("second", "minute", "hour", "day", "week", "month", "year"),
    "mass": ("milligram", "gram", "kilogram", "ounce", "pound"),
    "length": ("millimeter", "centimeter", "meter", "kilometer", "inch", "foot", "yard", "mile"),
    "power": ("milliwatt", "watt", "kilowatt", "megawatt", "horsepower"),
    "energy": ("watt-hour", "kilowatt-hour", "joule", "kilojoule", "calorie", "kilocalorie"),
    "volume": ("milliliter", "centiliter", "deciliter", "liter", "fluid-ounce"),
    "digital": ("kilobyte", "megabyte", "gigabyte", "terabyte"),
    "frequency": ("hertz", "kilohertz", "megahertz", "gigahertz"),
    "electric": ("volt",),
    "area": ("square-centimeter", "square-meter", "square-kilometer", "square-foot", "square-mile", "hectare", "acre"),
    "speed": ("meter-per-second", "kilometer-per-hour", "mile-per-hour", "knot"),
    "temperature": ("celsius", "fahrenheit"),
    "pressure": ("hectopascal", "millibar", "bar"),
}
"""Units by what they measure, as CLDR names them."""
_PINT = {"celsius": "degC", "fahrenheit": "degF", "square-meter": "meter ** 2", "square-foot": "foot ** 2"} | {
    "square-centimeter": "centimeter ** 2", "square-kilometer": "kilometer ** 2", "square-mile": "mile ** 2",
}  # fmt: skip
"""Units that pint calls otherwise than in the words of CLDR's names."""
_KIND_OF = {unit: kind for kind, units in _UNITS.items() for unit in units}
_SPELLINGS = {
    "duration": {"hr": "hour", "hrs": "hour", "h": "hour", "mins": "minute", "min": "minute", "m": "minute"}
    | {"sec": "second", "secs": "second", "s": "second", "std": "hour"},
    "mass": {"lbs": "pound", "kgs": "kilogram", "gr": "gram"},
    "length": {'"': "inch", "”": "inch", "metre": "meter", "metres": "meter"},
    "area": {"m2": "square-meter", "qm": "square-meter", "sqm": "square-meter", "km2": "square-kilometer"}
    | {"sqft": "square-foot", "ft2": "square-foot", "sf": "square-foot"},
    "speed": {"kmh": "kilometer-per-hour", "kph": "kilometer-per-hour", "kmph": "kilometer-per-hour"}
    | {"mph": "mile-per-hour", "ms": "meter-per-second", "kn": "knot", "kt": "knot", "kts": "knot"},
    "temperature": {"celsius": "celsius", "fahrenheit": "fahrenheit"},
    "pressure": {"mbar": "millibar"},
    "volume": {"litre": "liter", "litres": "liter", "ltr": "liter"},
}
"""Spellings of pages that CLDR does not have."""
_WRITTEN: Mapping[str, tuple[re.Pattern[str], str]] = {
    "area": (re.compile(r"\b(?:sq(?:uare)?\.?\s?(?:ft|feet|foot)\b\.?|ft\.?\s?²)", re.I), "sqft"),
    "speed": (re.compile(r"\b(km|m|mi)/(h|s)(?:r|our|ec)?\b", re.I), r"\1\2"),
}
"""Spellings of more than one word, and one word for them."""
_CALENDAR = frozenset({"month", "year"})
"""Lengths of time that are no fixed number of days."""
_OF_DEGREES = {"c": "celsius", "f": "fahrenheit"}
_DEGREES = re.compile(r".*temp.*|high|low|min|max|dew|feels?")
"""Words of a name before a letter that means a scale of temperatures."""
_CODES = {"KGM": "kilogram", "GRM": "gram", "LBR": "pound", "ONZ": "ounce", "MTR": "meter", "CMT": "centimeter"} | {
    "MMT": "millimeter", "INH": "inch", "FOT": "foot", "LTR": "liter", "MLT": "milliliter", "WTT": "watt",
    "KWT": "kilowatt", "KWH": "kilowatt-hour", "SEC": "second", "MIN": "minute", "HUR": "hour", "DAY": "day",
}  # fmt: skip
"""UN/CEFACT codes, which structured data state as `unitCode`."""
_OF_AMOUNTS = {"min": "minute", "in": "inch"}
"""Last words of names that may mean a unit, as in `prep_time_min`, or none: `price_min`, `checked_in`."""
_TIMES = re.compile(
    r".{0,30}(?:time|zeit|dauer)|duration|duree|duracion|duracao|durata|temps|tiempo|tempo"
    r"|prep(?:aration)?|cook(?:ing)?|bak(?:e|ing)|wait(?:ing)?|walk(?:ing)?|driv(?:e|ing)"
)
"""Words of a name that say that it asks for a length of time, folded."""
_GREATEST = frozenset({"max", "maximum"})
_IN_UNIT = re.compile(r"(?:\bin |\()([^\W\d_]{1,20})\b")
"""The place of the unit in a description."""

_SOME_DAY = datetime(2000, 1, 1)
"""From where months and years are counted."""
_LENGTHS: tuple[Literal["long", "short", "narrow"], ...] = ("long", "short", "narrow")
_RATIO = re.compile(r"(?<![\d/.,])(?<!\d[ -])([1-9]\d?)[/⁄](\d{1,2})(?![\d/])")
_SEVERAL = re.compile(
    r"\d\s{0,3}(?:[-–—~x×*]|to|bis|à|a|až|hasta|do)\s{0,3}\d|(?<!\d)\d{1,9}\s{0,3}(?:/|or|oder|ou)\s{0,3}\d", re.I
)
"""A range, or the sizes of several sides."""
_HOURS = re.compile(r"(?<![\d.,:])(\d{1,3})\s?h\s?(\d{1,2})$", re.I)
"""Hours, and minutes without their word: `1h15`."""
_BESIDE = re.compile(r"\d\s{0,3}([^\d\s,;.()\[\]+/]{1,30})")
"""The word beside a number."""
_PART = re.compile(r"(?<![\w.,:])([-−]?\d{1,9}(?:[.,]\d{1,9}){0,3})\s{0,3}([^\d\s,;.()\[\]+/]{0,30})(/?)")


def read_quantity(text: str, unit: str, lang: str = "en") -> float | None:
    """The amount that `text` states, in `unit`; None where it states none in a unit of that kind, or several."""
    line = one_line(text)
    kind = _KIND_OF[unit]
    if kind == "duration" and re.match(r"-?P[\dT]", line, re.I):
        seconds = _iso_seconds(line)
        return None if seconds is None else _converted(seconds, "second", unit)
    line = _RATIO.sub(_as_decimal, fractions_as_decimals(line, rounded=True))
    if _SEVERAL.search(line):
        return None
    if kind in _WRITTEN:
        line = _WRITTEN[kind][0].sub(_WRITTEN[kind][1], line)
    if kind == "duration":
        line = _HOURS.sub(r"\1 h \2 min", line)
    words = unit_words(kind, lang)
    parts: dict[str, float] = {}
    for amount, word, per in _PART.findall(line):
        stated, number = _unit_of(word, words), decimal_of(amount, lang)
        if stated is None or per:
            continue
        if number is None or stated in parts:
            return None
        parts[stated] = float(number)
    if not parts or (kind == "duration" and any((stated in _CALENDAR) != (unit in _CALENDAR) for stated in parts)):
        return None
    return _rounded(sum(_converted(amount, stated, unit) for stated, amount in parts.items()))


def states_no_unit(text: str) -> bool:
    """True for a number beside which no word or sign stands that might be a unit."""
    return not re.search(r"\d\s{0,3}[^\W\d_]|\d\s{0,3}[°%\"'”″′]|\d:\d", text) and not _SEVERAL.search(text)


def shows_amount(text: str, unit: str, lang: str = "en") -> bool:
    """True where `text` states an amount of what a unit measures, clear or not: `1-2 hours` for `minute`."""
    line, kind = one_line(text), _KIND_OF[unit]
    if kind == "duration" and re.match(r"-?P[\dT]", line, re.I):
        return True
    words = unit_words(kind, lang)
    return any(_unit_of(word, words) for word in _BESIDE.findall(line))


def is_amount(text: str, lang: str = "en") -> bool:
    """True for one number with its unit, and nothing else: `30 minutes`."""
    part = _PART.fullmatch(text.strip())
    return part is not None and not part[3] and any(_unit_of(part[2], unit_words(kind, lang)) for kind in _UNITS)


def requested_unit(name: str, description: str, x_unit: str) -> str:
    """The unit that a schema asks a number for in: by its `x-unit`, its name or its description; "" for none.

    A name tells it by its last word, `weight_kg`, and a name of one word by a plural, `minutes`: `day` may be that of a
    month. `min` is the least of something as well. A description tells it by "in grams" or "(kg)", or is the unit:
    one that only mentions a unit, as "price per day" does, asks for none.
    """
    if x_unit:
        return unit_named(x_unit) or ""
    words = _words_of(name)
    if len(words) > 1 and words[-1].lower() in _OF_AMOUNTS:
        words.pop()
    if len(words) > 1 and words[-1].lower() in _OF_DEGREES and _DEGREES.fullmatch(words[-2].lower()):
        return _OF_DEGREES[words[-1].lower()]
    if words[-1].lower() in _CALENDAR:  # one of a date
        words = []
    if len(words) > 1 and words[-2].lower() != "per" and (unit := unit_named(words[-1])):
        return unit
    if len(words) == 1 and len(words[0]) > 2 and is_plural(words[0]) and (unit := unit_named(words[0])):
        return unit
    wordings = [*_IN_UNIT.findall(description), description.strip(" .")]
    return next((unit for word in wordings if (unit := unit_named(word))), "")


def unit_perhaps(name: str, others: Iterable[str] = ()) -> str:
    """The unit that the last word of a name may mean: `min` of `prep_time_min`; "" for none.

    `min` may be minutes of a length of time alone, and not where another name asks for the greatest of the same.
    """
    *words, last = map(fold, _words_of(name))
    unit = _OF_AMOUNTS.get(last, "") if words and words[-1] != "per" else ""
    if unit == "minute" and not any(map(_TIMES.fullmatch, words)):
        return ""
    greatest = ({fold(word) for word in _words_of(other)} for other in others) if unit == "minute" else ()
    return "" if any(asked & _GREATEST and asked - _GREATEST == set(words) for asked in greatest) else unit


def _words_of(name: str) -> list[str]:
    return re.findall(r"[^\W_]+?(?=[A-Z][a-z]|_|\W|$)|[^\W_]+", name) or [""]


def unit_named(word: str) -> str | None:
    """The unit that a word of a schema or of structured data means: `kg`, `minutes`, `KGM`; None for any other."""
    if word in _CODES:
        return _CODES[word]
    if word.lower() == "m":
        return "meter"
    kinds = ("duration", *(kind for kind in _UNITS if kind != "duration"))
    return next((unit for kind in kinds if (unit := _unit_of(word, unit_words(kind, "en")))), None)


def unit_beside(labels: Iterable[Sequence[str]]) -> str:
    """The word of a unit at the end of a label, as words: "Weight (kg)"; "" for none."""
    return next((label[-1] for label in labels if len(label) > 1 and unit_named(label[-1])), "")


def _unit_of(word: str, words: dict[str, str]) -> str | None:
    """The unit of a word by its exact spelling, then by small letters where that is one unit: mW is not MW."""
    return words.get(word) or words.get(word.casefold())


def _as_decimal(match: re.Match[str]) -> str:
    above, below = int(match[1]), int(match[2])
    return f"{above / below:.8f}" if above < below else match.group()


def _iso_seconds(text: str) -> float | None:
    try:
        duration = isodate.parse_duration(re.sub(r"(?<=\d),(?=\d)", ".", text.upper().replace(" ", "")))
        whole = duration.totimedelta(start=_SOME_DAY) if isinstance(duration, isodate.Duration) else duration
    except (isodate.ISO8601Error, OverflowError, ValueError):
        return None
    return float(whole.total_seconds())


def _converted(amount: float, stated: str, asked: str) -> float:
    if stated == asked:
        return amount
    if _KIND_OF[stated] == "temperature":
        return _rounded(float(_registry().Quantity(amount, _PINT[stated]).to(_PINT[asked]).magnitude))
    return _rounded(amount * _factor(stated, asked))


def _rounded(amount: float) -> float:
    """Nine figures: what is beyond them comes of the conversion."""
    return float(f"{amount:.9g}")


@cache
def _factor(stated: str, asked: str) -> float:
    """Of one unit in another; the same kind is measured by both."""
    return float(_registry().Quantity(1.0, _pint_name(stated)).to(_pint_name(asked)).magnitude)


def _pint_name(unit: str) -> str:
    return _PINT.get(unit) or " / ".join(part.replace("-", "_") for part in unit.split("-per-"))


@cache
def _registry() -> UnitRegistry[Any]:
    """Loaded when the first amount is converted: pint takes half a second."""
    registry: UnitRegistry[Any] = import_module("pint").UnitRegistry()
    return registry


@cache
def unit_words(kind: str, lang: str) -> dict[str, str]:
    """The words for the units of one kind in a language and in English, with the unit that each means."""
    words: dict[str, str] = {}
    for code in dict.fromkeys((lang, "en")):
        for unit, length, amount in product(_UNITS[kind], _LENGTHS, (1, 2, 5)):
            try:
                formatted = format_unit(amount, f"{kind}-{unit}", length, locale=code)
            except (UnknownLocaleError, ValueError):
                continue
            word = re.sub(r"[\d\s]", "", formatted)
            if f"{kind}-{unit}" not in word:  # CLDR has no such length
                words.setdefault(word, unit)
    spelt: dict[str, set[str]] = {}
    for word, unit in words.items():
        spelt.setdefault(word.casefold(), set()).add(unit)
    folded = {word: units.pop() for word, units in spelt.items() if len(units) == 1}
    words = {**folded, **words, **_SPELLINGS.get(kind, {})}
    words.pop("°", None)  # of whichever scale the reader is used to
    return words
