"""Numbers, prices, currencies and codes as pages write them."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from babel import Locale
from babel.numbers import get_currency_symbol
from price_parser import Price

from shoal.agent.read.words import one_line

_PLAIN = re.compile(r"-?\d+(\.\d+)?")
_GTIN_LENGTHS = (8, 12, 13, 14)


def read_amount(text: str) -> float | None:
    """The first number of `text`, with signs for thousands and decimals of any notation; None without one."""
    line = one_line(text)
    if _PLAIN.fullmatch(line):
        return float(line)
    if not re.search(r"\d", line):
        return None
    amount = Price.fromstring(line).amount
    return float(amount) if amount is not None else None


def read_currency_of(text: str) -> str | None:
    """The currency of an amount: its code, or its sign where several currencies have it; None without one."""
    sign = Price.fromstring(text).currency if re.search(r"\d", text) else None
    if not sign:
        return None
    if re.fullmatch(r"[A-Za-z]{3}", sign):
        return sign.upper()
    codes = _codes().get(sign, ())
    return codes[0] if len(codes) == 1 and sign != "$" else sign


@cache
def _codes() -> dict[str, list[str]]:
    codes: dict[str, list[str]] = defaultdict(list)
    for code in map(str, Locale("en").currencies):
        codes[get_currency_symbol(code, "en")].append(code)
    return codes


def has_check_digit(code: str) -> bool:
    """True when the figures of `code` are a GTIN or ISBN-13 with the right check digit."""
    figures = re.sub(r"\D", "", code)
    weighted = sum(int(sign) * (3 if place % 2 else 1) for place, sign in enumerate(reversed(figures)))
    return len(figures) in _GTIN_LENGTHS and weighted % 10 == 0
