"""The locale that a page's language names."""

from __future__ import annotations

import re
from functools import lru_cache

from babel import Locale, UnknownLocaleError


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
