"""Text into values: numbers, prices, currencies, dates, booleans, ratings and enums, read by the page's locale.

Everything here answers None for what cannot be read without guessing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urljoin

import dateparser
from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.numbers import (
    NumberFormatError,
    get_currency_symbol,
    get_territory_currencies,
    list_currencies,
    parse_decimal,
)
from price_parser import Price

from agent.policies.rules.schema import Property
from agent.policies.rules.vocabulary import (
    FALSE_WORDS,
    FORMERLY,
    IN_STOCK,
    OUT_OF,
    OUT_OF_STOCK,
    PREORDER,
    STARS,
    TRUE_WORDS,
)
from agent.policies.rules.words import fold, phrase, squash

Json = Any
Stock = Literal["in", "out", "preorder"]


@dataclass(frozen=True, slots=True)
class Raw:
    """One value as a page states it."""

    text: str  # as shown, or as the structured data writes it
    parts: tuple[str, ...] = ()  # the text nodes of a short text that is split over elements
    exact: str = ""  # machine-readable twin: datetime, content, value or aria-label
    href: str = ""  # where it links to, or the picture's address
    structured: bool = False  # written for machines: a plain number has a decimal point


@dataclass(frozen=True, slots=True)
class Reading:
    """What helps to read values: of the page, not of one value."""

    lang: str = ""  # BCP 47
    base: str = ""  # URL that relative addresses belong to


def convert(prop: Property, raw: Raw, reading: Reading) -> Json:
    """`raw` as the JSON value that `prop` asks for; None when it is not one."""
    if prop.enum:
        return _enum(prop, raw)
    kind = prop.concept.kind if prop.concept else "text"
    types = prop.types
    if "boolean" in types and (types == {"boolean"} or kind == "availability"):
        return _boolean(kind, raw)
    if types & {"number", "integer"} and not ("string" in types and kind == "text"):
        return _typed_number(kind, types, raw, reading)
    if not types or "string" in types:
        return _string(prop, kind, raw, reading)
    return None


# --- numbers ------------------------------------------------------------------------------------------

_SPACES = " \u00a0\u202f\u2009"
_NUMBER = re.compile(
    rf"(?<![\w.,])[-−+]?(?:\d{{1,3}}(?:[{_SPACES}'’]\d{{3}})+(?!\d)(?:[.,]\d{{1,2}}(?!\d))?|\d+(?:[.,]\d+)*)"
)
_GLUED = re.compile(r"\d+(?:[.,'’]\d+)*")
_PERCENT = re.compile(r"\d+(?:[.,]\d+)?\s*%")
_DASH_CENTS = re.compile(r"(\d)[.,][-–—]+")


@lru_cache(maxsize=200)
def locale_of(lang: str) -> Locale | None:
    """The CLDR locale of a page language; None for an unknown one."""
    if not lang:
        return None
    try:
        return Locale.parse(lang.strip().replace("_", "-"), sep="-")
    except (UnknownLocaleError, ValueError):
        head = re.split(r"[-_]", lang.strip())[0]
        return locale_of(head) if head and head != lang.strip() else None


def number_tokens(text: str) -> list[str]:
    """The distinct numbers written in `text`, percentages left out when others are there."""
    plain = _DASH_CENTS.sub(r"\1", text)
    found = list(dict.fromkeys(_NUMBER.findall(_PERCENT.sub(" ", plain))))
    found = found or list(dict.fromkeys(_NUMBER.findall(plain)))
    return found or list(dict.fromkeys(_GLUED.findall(plain)))


def decimal_of(token: str, lang: str = "", *, price: bool = False) -> Decimal | None:
    """The number that `token` writes.

    With both separators the last one is the decimal sign. One alone, before exactly three digits, groups thousands in
    a price; elsewhere the page's locale decides. `1 299` and `1'299` are grouped.
    """
    bare = token.replace("−", "-").lstrip("+")
    bare = re.sub(rf"[{_SPACES}'’]", "", bare)
    dots, commas = bare.count("."), bare.count(",")
    if dots and commas:
        decimal_sign = "." if bare.rfind(".") > bare.rfind(",") else ","
        if bare.count(decimal_sign) > 1:
            return None
    elif dots > 1 or commas > 1:
        decimal_sign = ""
        if not re.fullmatch(r"-?\d{1,3}([.,]\d{3})+", bare):
            return None
    elif dots or commas:
        decimal_sign = _lone_separator(bare, "." if dots else ",", lang, price)
    else:
        decimal_sign = ""
    plain = "".join("." if sign == decimal_sign else sign for sign in bare if sign not in ".," or sign == decimal_sign)
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def _lone_separator(bare: str, sign: str, lang: str, price: bool) -> str:
    """The decimal sign of a number with one separator: `sign`, or "" when it groups thousands."""
    if not re.fullmatch(r"-?[1-9]\d{0,2}[.,]\d{3}", bare):
        return sign
    if price:
        return ""
    locale = locale_of(lang)
    if locale is not None:
        try:
            return "" if parse_decimal(bare, locale=locale, strict=True) == bare_digits(bare) else sign
        except NumberFormatError:
            return sign
    return "" if sign == "," else sign


def bare_digits(text: str) -> Decimal:
    """The digits of `text` as one whole number, its sign kept."""
    return Decimal(re.sub(r"[.,]", "", text))


def read_number(text: str, lang: str = "", *, price: bool = False) -> Decimal | None:
    """The one number in `text`; None when there is none or more than one."""
    values = {value for token in number_tokens(text) if (value := decimal_of(token, lang, price=price)) is not None}
    return values.pop() if len(values) == 1 else None


def read_price(text: str, lang: str = "", parts: tuple[str, ...] = ()) -> Decimal | None:
    """The one amount in `text`: `1.299,00 €`, `1 299 Kč`, `49,-`, or split over `parts` (`1,299` and `00`)."""
    if len(parts) > 1:
        joined = _split_price(parts, lang)
        if joined is not None:
            return joined
    tokens = number_tokens(text)
    if len(tokens) > 1:
        tokens = [token for token in tokens if _near_currency(token, text)]
        tokens = [token for token in tokens if not _formerly(token, text)] or tokens
    values = {value for token in tokens if (value := decimal_of(token, lang, price=True)) is not None}
    return values.pop() if len(values) == 1 else None


def _split_price(parts: tuple[str, ...], lang: str) -> Decimal | None:
    whole = ""
    for part in parts:
        digits = part.strip().strip("".join(_CURRENCY_SIGNS) + _SPACES)
        if re.fullmatch(r"\d[\d.,'’\u00a0\u202f ]*[.,]\d{2}", digits):
            return decimal_of(digits, lang, price=True)
        if whole and re.fullmatch(r"[.,]?\d{2}", digits):
            return decimal_of(re.sub(r"\D", "", whole) + "." + digits[-2:])
        if re.fullmatch(r"\d[\d.,'’\u00a0\u202f ]*", digits):
            if whole:
                return None
            whole = digits
        elif digits not in ("", ".", ",", "-"):
            return None
    return None


def _formerly(token: str, text: str) -> bool:
    """Whether the words right before the amount say that it is not the one asked now."""
    before = re.sub(r"[^a-z ]+", " ", fold(text[: text.find(token)]))[-30:]
    words = before.split()
    return any(" ".join(words[-count:]) in _FORMER for count in (1, 2, 3) if len(words) >= count)


def _near_currency(token: str, text: str) -> bool:
    at = text.find(token)
    around = text[max(0, at - 5) : at] + " " + text[at + len(token) : at + len(token) + 5]
    return any(sign in around for sign in _CURRENCY_SIGNS) or bool(_CODE.search(around))


def read_rating(text: str, lang: str = "") -> Decimal | None:
    """The rating that `text` states: `4.5 out of 5`, `4,5 von 5 Sternen`, `★★★★☆`, `4.5`."""
    filled = text.count("★") + text.count("⭐")
    if filled and not re.search(r"\d", text):
        return Decimal(filled) if filled + text.count("☆") <= 10 else None
    said = fold(text)
    scaled = re.search(rf"(\d+(?:[.,]\d+)?)\s*(?:{'|'.join(map(re.escape, OUT_OF))})\s*(\d+)\b", said)
    if scaled:
        value = decimal_of(scaled.group(1))
        return value if value is not None and value <= int(scaled.group(2)) else None  # 18/10 is steel
    starred = re.search(rf"(\d+(?:[.,]\d+)?)[\s-]*(?:{'|'.join(STARS)}|★|⭐)", said)
    if starred:
        return decimal_of(starred.group(1))
    if "%" in text:
        return None
    bare = _BRACKETS.sub(" ", text)
    if re.search(r"\d\s+[^\W\d_]{2,}", bare):
        return None  # "19 votes" counts something else
    value = read_number(bare, lang)
    return value if value is not None and 0 <= value <= _MOST_STARS else None


_MOST_STARS = 10
_FORMER = frozenset(squash(text) for text in FORMERLY)
_BRACKETS = re.compile(r"\([^)]*\)")
_RATING_SHAPE = re.compile(
    rf"(?:^|\s)\d+(?:[.,]\d+)?\s*(?:{'|'.join(one for one in OUT_OF if one != '/')})\s*(?:5|10)\b"
    rf"|[★⭐☆]{{3,}}|\d\s*(?:{'|'.join(STARS)})\b"
)


def looks_like_rating(text: str) -> bool:
    """Whether `text` is a rating by its form alone."""
    return len(text) <= 80 and bool(_RATING_SHAPE.search(fold(text)))


def _typed_number(kind: str, types: frozenset[str], raw: Raw, reading: Reading) -> Json:
    value: Decimal | None = None
    for text in (raw.exact, raw.text):
        if not text:
            continue
        if (raw.structured or text is raw.exact) and re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", text):
            value = Decimal(text.strip())
        elif kind == "price":
            value = read_price(text, reading.lang, raw.parts if text is raw.text else ())
        elif kind == "rating":
            value = read_rating(text, reading.lang)
        elif kind == "gtin":
            value = Decimal(digits) if (digits := re.sub(r"\D", "", text)) else None
        else:
            value = read_number(text, reading.lang)
        if value is not None:
            break
    if value is None:
        return None
    if value == value.to_integral_value():
        return int(value)
    return float(value) if "number" in types else None


# --- currencies ---------------------------------------------------------------------------------------

_SIGNS = {
    "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₴": "UAH", "₺": "TRY", "₩": "KRW", "₪": "ILS", "₫": "VND", "฿": "THB",
    "₦": "NGN", "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "lei": "RON", "лв": "BGN", "R$": "BRL", "US$": "USD", "A$": "AUD",
    "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "MX$": "MXN", "Fr.": "CHF", "SFr.": "CHF",
    "NT$": "TWD", "₱": "PHP", "₸": "KZT", "₡": "CRC",
}  # fmt: skip
_SHARED = {"$": "$", "¥": "¥", "￥": "¥", "kr": "kr", "kr.": "kr", "Rs": "Rs", "円": "¥", "元": "¥"}
"""Signs of several currencies: the page's territory decides."""
_CURRENCY_SIGNS = tuple(sorted([*_SIGNS, *_SHARED], key=len, reverse=True))
_CODES: frozenset[str] = frozenset(list_currencies("en")) & frozenset(list_currencies())
_CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")


def read_currency(text: str, lang: str = "") -> str | None:
    """The ISO 4217 code that `text` states by code or sign; a shared sign is settled by the page's territory."""
    text = text.strip()
    if text.upper() in _CODES and len(text) == 3:
        return text.upper()
    codes = {code for code in _CODE.findall(text) if code in _CODES}
    if len(codes) == 1 and re.search(r"\d", text):
        return codes.pop()
    sign = str(Price.fromstring(text).currency or next((one for one in _CURRENCY_SIGNS if one in text), ""))
    for known in _CURRENCY_SIGNS:  # the library answers "$" for "US$" with some amounts
        if known in text and len(known) > len(sign):
            sign = known
    if sign in _SIGNS:
        return _SIGNS[sign]
    if sign in _SHARED:
        return _by_territory(_SHARED[sign], lang)
    if sign.upper() in _CODES:
        return sign.upper()
    return None


@lru_cache(maxsize=200)
def _by_territory(sign: str, lang: str) -> str | None:
    """The currency of the language's territory (its likely one when none is said), when it uses `sign`."""
    locale = locale_of(lang)
    if locale is None:
        return None
    territory = locale.territory or _likely_territory(locale.language)
    for code in get_territory_currencies(territory) if territory else ():
        home = get_currency_symbol(str(code), locale=locale_of(f"{locale.language}-{territory}") or locale)
        if sign in (home, home[-1:]) or (sign == "¥" and home in ("￥", "¥")):
            return str(code)
    return None


def _likely_territory(language: str) -> str:
    """Where a language without a territory is likeliest at home, by CLDR."""
    parts = str(get_global("likely_subtags").get(language, "")).split("_")
    return parts[-1] if len(parts) > 1 else ""


# --- stock, booleans, enums ---------------------------------------------------------------------------


def _phrases(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        sorted({" ".join(squash(re.sub(r"[\W_]+", " ", text)).split()) for text in texts}, key=len, reverse=True)
    )


_OUT, _IN, _PRE = _phrases(OUT_OF_STOCK), _phrases(IN_STOCK), _phrases(PREORDER)
_ZERO = re.compile(
    r"^(?:only )?0 (?:piece |pcs |stuck |item )?(?:in stock|left|available|auf lager|skladem|en stock|op voorraad)"
)
_SOME = re.compile(
    r"\b(?:only |nur noch |noch |plus que |posledni |last |letzte )?(\d+) (?:\w+ )?"
    r"(?:in stock|left|available|auf lager|verfugbar|skladem|en stock|op voorraad|remaining)\b"
    r"|\b(?:only|nur noch|plus que) \d+\b"
    r"|\b(?:last|letzte|derniers|dernieres|ultimas|posledni) \d+ (?:piece|pieces|item|items|stuck|pcs|exemplaires|unidades|kusy|ks)\b"
)
_SCHEMA_STOCK: dict[str, Stock] = {
    "instock": "in", "limitedavailability": "in", "onlineonly": "in", "instoreonly": "in", "madetoorder": "in",
    "outofstock": "out", "soldout": "out", "discontinued": "out", "backorder": "out", "reserved": "out",
    "preorder": "preorder", "presale": "preorder",
}  # fmt: skip


def read_stock(text: str) -> Stock | None:
    """Whether `text` says that something can be had: a schema.org URL, or a phrase in one of several languages."""
    tail = re.split(r"[/#]", text.strip())[-1].replace("_", "").replace(" ", "").replace("-", "").lower()
    if tail in _SCHEMA_STOCK:
        return _SCHEMA_STOCK[tail]
    said = _said(text)
    if not said:
        return None
    padded = f" {said} "
    if _ZERO.match(said) or any(f" {one} " in padded for one in _OUT):
        return "out"
    if any(f" {one} " in padded for one in _PRE):
        return "preorder"
    some = _SOME.search(said)
    if some:
        return "out" if some.group(1) == "0" else "in"
    return "in" if any(f" {one} " in padded for one in _IN) else None


def _said(text: str) -> str:
    """The folded words of `text`, with single spaces and nothing else."""
    return " ".join(re.sub(r"[\W_]+", " ", squash(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))).split())


def stock_line(text: str) -> Stock | None:
    """`read_stock` for a line without a label: the line has to begin with the phrase, or be little else.

    One word alone proves nothing when more follows ("Available in three colours"), except a time of delivery.
    """
    stock = read_stock(text)
    if stock is None or len(text) > 60:
        return None
    said = _said(text)
    known = max((one for one in (*_OUT, *_IN, *_PRE) if f" {one} " in f" {said} "), key=len, default="")
    some = _SOME.search(said)
    if max(len(known), len(some.group()) if some else 0) >= 0.6 * len(said):
        return stock
    first = max((one for one in (*_OUT, *_IN, *_PRE) if f"{said} ".startswith(f"{one} ")), key=len, default="")
    rest = fold(text)[len(first) :]
    if not first:
        return None
    return stock if " " in first or re.match(r"\s*[,.;:!–—(-]", rest) or _DELIVERY.search(rest) else None


_DELIVERY = re.compile(
    r"\b(?:in|within|ab|bis|until|sous|dans|en|do|now)\b.*(?:\d|now|day|tag|woche|week|jour|dia|dni)"
)


_TRUE = frozenset(squash(word) for word in TRUE_WORDS)
_FALSE = frozenset(squash(word) for word in FALSE_WORDS)


def read_boolean(text: str) -> bool | None:
    """Yes or no, in several languages or as a tick; None for anything else."""
    said = squash(text).strip(" .!,:;")
    first = said.split(",")[0].split("(")[0].strip()
    for one in (said, first):
        if one in _TRUE:
            return True
        if one in _FALSE:
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
        stock = next((found for text in texts if (found := read_stock(text))), None)
        return next((value for value in prop.enum if stock and read_stock(str(value)) == stock), None)
    within = {
        str(v): v
        for v in prop.enum
        for text in texts
        if len(text) <= 80 and f" {squash(str(v))} " in f" {squash(text)} "
    }
    return next(iter(within.values())) if len(within) == 1 else None


# --- dates --------------------------------------------------------------------------------------------

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
        if found := _parsed(text if with_time else hit.group(), lang):
            return found.isoformat() if with_time else found.date().isoformat()
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


# --- strings ------------------------------------------------------------------------------------------

_MAX_NAME = 250  # characters; what is longer is no name
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def clean(text: str, *, lines: bool = False) -> str:
    """`text` with single spaces; with `lines`, line breaks stay."""
    if not lines:
        return " ".join(text.split())
    return "\n".join(row for row in (" ".join(one.split()) for one in text.splitlines()) if row)


def _string(prop: Property, kind: str, raw: Raw, reading: Reading) -> str | None:
    text = clean(raw.text, lines=bool(prop.concept and prop.concept.name == "description"))
    if prop.format in ("uri", "uri-reference", "iri", "url") or kind in ("image", "url"):
        found = raw.href or raw.exact or (text if re.match(r"(https?:)?//|/|[\w./-]+\.\w{2,4}$", text) else "")
        return urljoin(reading.base, found) if found and " " not in found else None
    if prop.format in ("date", "date-time"):
        timed = prop.format == "date-time"
        for one in (raw.exact, raw.text):
            if one and (found_date := read_date(one, reading.lang, with_time=timed)):
                return found_date
        return None
    if prop.format in ("email", "idn-email") or (prop.concept and prop.concept.name == "email"):
        hit = _EMAIL.search(raw.href) or _EMAIL.search(text)
        return hit.group() if hit else None
    if kind == "currency":
        return read_currency(raw.exact, reading.lang) or read_currency(text, reading.lang)
    if kind == "availability" and raw.structured:
        text = re.split(r"[/#]", text)[-1]
    if kind == "name":
        text = re.sub(r"\s*[¶§#🔗]\s*$", "", text)
        text = text if len(text) <= _MAX_NAME else ""
    if kind == "gtin":
        digits = re.sub(r"[\s-]", "", text)
        text = digits if re.fullmatch(r"\d{8,14}|\d{9}[\dXx]", digits) else ""
    text = text or clean(raw.exact)
    if prop.pattern and text and not re.search(prop.pattern, text):
        hit = re.search(prop.pattern.strip("^$"), text)
        text = hit.group() if hit else ""
    return text or None
