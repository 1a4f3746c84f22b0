"""Conversion of a page's texts to the value that a property asks for. None for what cannot be read without guessing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from shoal.agent.read.schema import Property
from shoal.agent.read.values.currencies import currency_codes, read_currency
from shoal.agent.read.values.dates import read_date
from shoal.agent.read.values.numbers import read_number, read_price, read_rating
from shoal.agent.read.values.phrases import Phrase, phrase, squash
from shoal.agent.read.values.quantities import read_quantity, states_no_unit
from shoal.agent.read.values.stock import read_stock
from shoal.agent.read.values.text_values import money_bounds_in
from shoal.agent.read.word_lists.value_words import FALSE_WORDS, TRUE_WORDS
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.patterns import fitting
from shoal.agent.support.web_addresses import joined


@dataclass(frozen=True, slots=True)
class Raw:
    """One value as a page states it."""

    text: str  # as shown, or as the structured data writes it
    parts: tuple[str, ...] = ()  # the text nodes of a short text that is split over elements
    exact: str = ""  # machine-readable twin: datetime, content, value or aria-label
    href: str = ""  # where it links to, or the picture's address
    structured: bool = False  # written for machines: a plain number has a decimal point
    named: bool = False  # it stands in a line of facts, right beside its label
    bare: str = ""  # the text without the badges at its end, where it has some


@dataclass(frozen=True, slots=True)
class ValueHints:
    """Hints for reading values: of the page, not of one value."""

    lang: str = ""  # BCP 47
    base: str = ""  # URL that relative addresses belong to


def convert(prop: Property, raw: Raw, reading: ValueHints, beside: str = "") -> Json:
    """`raw` as the JSON value that `prop` asks for, an amount in the unit that it asks for; None when it is not one.

    Args:
        beside: the unit that stands beside the value's name: "Weight (kg)".
    """
    if prop.enum:
        return _enum(prop, raw)
    kind = prop.concept.kind if prop.concept else "text"
    types = prop.types
    if "boolean" in types and (types == {"boolean"} or kind == "availability"):
        return _boolean(kind, raw)
    if types & {"number", "integer"} and not ("string" in types and kind == "text"):
        text = f"{raw.text} {beside}" if beside and states_no_unit(raw.text) else raw.text
        unit = "" if raw.structured else prop.unit_for(text, reading.lang)
        if unit and not (text == raw.text and states_no_unit(text)):
            return _in_unit(text, unit, types, reading)
        if kind == "price" and _is_other_currency(prop, raw.text, reading):
            return None
        bounds = None if raw.structured else money_bounds_in(raw.text)
        if bounds is None:
            return _typed_number(kind, types, raw, reading)
        bound = bounds[1] if _MOST & set(prop.phrases[0]) else bounds[0] if _LEAST & set(prop.phrases[0]) else None
        single = bounds[0] if bound is None and bounds[1] is None else bound  # "from £9" is a price
        return None if single is None else _typed_number("price", types, Raw(single), reading)
    if not types or "string" in types:
        return _string(prop, kind, raw, reading)
    return None


_LEAST, _MOST = frozenset({"min", "minimum", "low", "lowest"}), frozenset({"max", "maximum", "high", "highest"})
"""Words of names for the ends of a span."""


def without_bound(name: Phrase) -> Phrase:
    """The words of a name without those for the end of a span."""
    return tuple(word for word in name if word not in _LEAST | _MOST)


_WORDS = frozenset({"all", "top", "cup"})
"""Words of names that are codes of currencies as well."""


def _is_other_currency(prop: Property, text: str, reading: ValueHints) -> bool:
    """True for "£12" where `price_eur` is asked for."""
    asked = re.search(r"(?:^|_|(?<=[a-z]))([A-Z]{3}|[a-z]{3})$", prop.name)
    code = asked[1].upper() if asked and asked[1].lower() not in _WORDS else ""
    stated = read_currency(text, reading.lang) if code in currency_codes() else None
    return stated is not None and stated != code


def _in_unit(text: str, unit: str, types: frozenset[str], reading: ValueHints) -> Json:
    amount = read_quantity(text, unit, reading.lang[:2] or "en")
    if amount is None or amount == int(amount):
        return None if amount is None else int(amount)
    return amount if "number" in types else None


def _typed_number(kind: str, types: frozenset[str], raw: Raw, reading: ValueHints) -> Json:
    value: Decimal | None = None
    for text in (raw.exact, raw.text):
        if not text:
            continue
        exact = raw.structured or text is raw.exact
        value = read_amount(text, kind, reading.lang, raw.parts if text is raw.text else (), exact=exact)
        if value is not None:
            break
    if value is None:
        return None
    if value == value.to_integral_value():
        return int(value)
    return float(value) if "number" in types else None


def read_amount(text: str, kind: str, lang: str, parts: tuple[str, ...] = (), *, exact: bool = False) -> Decimal | None:
    """The one number that `text` states for a concept of this kind; None where that is not clear.

    Args:
        parts: the texts of the elements that a price is split over.
        exact: the text is for programs: a point is its decimal sign.
    """
    if exact and re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", text):
        return Decimal(text.strip())
    if kind == "price":
        return read_price(text, lang, parts)
    if kind == "rating":
        return read_rating(text, lang)
    if kind == "gtin":
        return Decimal(digits) if (digits := re.sub(r"\D", "", text)) else None
    return read_number(text, lang)


_TRUE = frozenset(squash(word) for word in TRUE_WORDS)
_FALSE = frozenset(squash(word) for word in FALSE_WORDS)


def read_boolean(text: str) -> bool | None:
    """Yes or no, in several languages or as a tick; None for anything else."""
    squashed = squash(text).strip(" .!,:;")
    first = squashed.split(",")[0].split("(")[0].strip()
    for wording in (squashed, first):
        if wording in _TRUE:
            return True
        if wording in _FALSE:
            return False
    return None


def _boolean(kind: str, raw: Raw) -> bool | None:
    for text in (raw.text, raw.exact):
        if not text:
            continue
        if kind == "availability":
            stock = read_stock(text)
            if stock is not None:
                return stock == "in"
        plain = read_boolean(text)
        if plain is not None:
            return plain
        if kind == "availability" and re.fullmatch(r"\s*\d+\s*", text):
            return int(text) > 0
    return None


def _enum(prop: Property, raw: Raw) -> Json:
    texts = [text for text in (raw.exact, raw.text) if text]
    for text in texts:
        for value in prop.enum:
            if squash(str(value)) == squash(text) or phrase(str(value)) == phrase(re.split(r"[/#]", text)[-1]):
                return value
    if prop.concept and prop.concept.kind == "currency":
        codes = {read_currency(text) for text in texts}
        return next((value for value in prop.enum if value in codes), None)
    if prop.concept and prop.concept.kind == "availability":
        stock = next((state for text in texts if (state := read_stock(text))), None)
        return next((value for value in prop.enum if stock and read_stock(str(value)) == stock), None)
    within = {
        str(v): v
        for v in prop.enum
        for text in texts
        if len(text) <= 80 and f" {squash(str(v))} " in f" {squash(text)} "
    }
    return next(iter(within.values())) if len(within) == 1 else None


_MAX_NAME = 250  # characters; what is longer is no name
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def clean(text: str, *, lines: bool = False) -> str:
    """`text` with single spaces; with `lines`, line breaks stay."""
    if not lines:
        return " ".join(text.split())
    return "\n".join(row for row in (" ".join(line.split()) for line in text.splitlines()) if row)


def _string(prop: Property, kind: str, raw: Raw, reading: ValueHints) -> str | None:
    shown = raw.bare or raw.text
    text = clean(shown, lines=bool(prop.concept and prop.concept.name == "description"))
    if prop.format in ("uri", "uri-reference", "iri", "url") or kind in ("image", "url"):
        address = raw.href or raw.exact or (text if re.match(r"(https?:)?//|/|[\w./-]+\.\w{2,4}$", text) else "")
        return joined(reading.base, address) or None if address and " " not in address else None
    if prop.format in ("date", "date-time"):
        timed = prop.format == "date-time"
        for written in (raw.exact, raw.text):
            if written and (found_date := read_date(written, reading.lang, with_time=timed)):
                return found_date
        return None
    if prop.format in ("email", "idn-email") or (prop.concept and prop.concept.name == "email"):
        hit = _EMAIL.search(raw.href) or _EMAIL.search(text)
        return hit.group() if hit else None
    if kind == "currency":
        return read_currency(raw.exact, reading.lang) or read_currency(text, reading.lang)
    if kind == "availability" and raw.structured:
        text = re.split(r"[/#]", text)[-1]
    text = re.sub(r"\s*[¶🔗]\s*$|\s+[§#]\s*$", "", text)  # the mark of a link to the heading itself
    if kind == "name":
        text = text if len(text) <= _MAX_NAME else ""
    if kind == "gtin":
        digits = re.sub(r"[\s-]", "", text)
        # Beside a label that says so, other codes than the standard's count as well: shops have their own.
        own = text if raw.named and re.fullmatch(r"(?=.*\d)\w{6,40}", text) else ""
        text = digits if re.fullmatch(r"\d{8,14}|\d{9}[\dXx]", digits) else own
    text = text or clean(raw.exact)
    if prop.pattern and text:
        text = fitting(prop.pattern, text)
    return text or None
