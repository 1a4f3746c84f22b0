"""Currencies by code or sign; a sign that several share is settled by the page's territory."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from babel.core import get_global
from babel.numbers import get_currency_symbol, get_territory_currencies, list_currencies
from price_parser import Price

from shoal.agent.read.values.locales import locale_of

_SIGNS = {
    "€": "EUR",
    "£": "GBP",
    "₹": "INR",
    "₽": "RUB",
    "₴": "UAH",
    "₺": "TRY",
    "₩": "KRW",
    "₪": "ILS",
    "₫": "VND",
    "฿": "THB",
    "₦": "NGN",
    "zł": "PLN",
    "Kč": "CZK",
    "Ft": "HUF",
    "lei": "RON",
    "лв": "BGN",
    "R$": "BRL",
    "US$": "USD",
    "A$": "AUD",
    "AU$": "AUD",
    "C$": "CAD",
    "CA$": "CAD",
    "NZ$": "NZD",
    "HK$": "HKD",
    "S$": "SGD",
    "MX$": "MXN",
    "Fr.": "CHF",
    "SFr.": "CHF",
    "NT$": "TWD",
    "₱": "PHP",
    "₸": "KZT",
    "₡": "CRC",
}
_SHARED = {"$": "$", "¥": "¥", "￥": "¥", "kr": "kr", "kr.": "kr", "Rs": "Rs", "円": "¥", "元": "¥"}
"""Signs of several currencies: the page's territory decides."""
CURRENCY_SIGNS = tuple(sorted([*_SIGNS, *_SHARED], key=len, reverse=True))
_LONGEST = 2_000
"""Characters of a text in which a currency is looked for: the library's time grows with the square of what it is
given."""
CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")


@cache
def currency_codes() -> frozenset[str]:
    """Return the codes of ISO 4217. Read when one is asked for: a process that reads no pages needs none."""
    return frozenset(list_currencies("en")) & frozenset(list_currencies())


def read_currency(text: str, lang: str = "") -> str | None:
    """The ISO 4217 code that `text` states by code or sign; a shared sign is settled by the page's territory."""
    text = text.strip()[:_LONGEST]
    if text.upper() in currency_codes() and len(text) == 3:
        return text.upper()
    codes = {str(code) for code in CODE.findall(text) if code in currency_codes()}
    if len(codes) == 1 and re.search(r"\d", text):
        return codes.pop()
    sign = str(Price.fromstring(text).currency or next((mark for mark in CURRENCY_SIGNS if mark in text), ""))
    for known in CURRENCY_SIGNS:  # the library answers "$" for "US$" with some amounts
        if known in text and len(known) > len(sign):
            sign = known
    if sign in _SIGNS:
        return _SIGNS[sign]
    if sign in _SHARED:
        return _by_territory(_SHARED[sign], lang)
    if sign.upper() in currency_codes():
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
    """Return where a language without a territory is likeliest at home, by CLDR."""
    parts = str(get_global("likely_subtags").get(language, "")).split("_")
    return parts[-1] if len(parts) > 1 else ""
