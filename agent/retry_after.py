"""When somebody who answered wants to be asked again, by the header Retry-After."""

from __future__ import annotations

import email.utils
import re
import time

_DIGITS = re.compile(r"[0-9]+")
_LONGEST_S = 31_536_000.0
"""A year: nobody waits longer, and whoever reckons with the answer gets a number that a clock can take."""


def retry_after_seconds(header: str | None) -> float | None:
    """A Retry-After header, which is a number of seconds or a date, as seconds from now; None when it says nothing."""
    if not header:
        return None
    if _DIGITS.fullmatch(header.strip()):
        return min(_LONGEST_S, float(header))
    try:
        when = email.utils.parsedate_to_datetime(header).timestamp()
    except (ValueError, OverflowError, OSError):  # no date, or one that no clock shows
        return None
    return min(_LONGEST_S, max(0.0, when - time.time()))
