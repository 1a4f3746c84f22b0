"""Codes of things that carry a check digit."""

from __future__ import annotations

import re

_GTIN_LENGTHS = (8, 12, 13, 14)


def has_check_digit(code: str) -> bool:
    """True when the figures of `code` are a GTIN or ISBN-13 with the right check digit."""
    figures = re.sub(r"\D", "", code)
    weighted = sum(int(sign) * (3 if place % 2 else 1) for place, sign in enumerate(reversed(figures)))
    return len(figures) in _GTIN_LENGTHS and weighted % 10 == 0
