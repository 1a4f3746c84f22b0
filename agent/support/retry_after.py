"""When somebody who answered wants to be asked again, by the header Retry-After."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping

_DIGITS = re.compile(r"[0-9]+")
_LONGEST_S = 31_536_000.0
"""A year: no caller waits longer, and a clock can take the number."""


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return what an answer's Retry-After says, a number of seconds or a date, as seconds from now;
    None: nothing.

    A date counts from the answer's own Date: our clock may be minutes from the server's.

    Args:
        headers: by name; one that tells upper from lower case has lower-case names.
    """
    header = headers.get("retry-after")
    if not header:
        return None
    if _DIGITS.fullmatch(header.strip()):
        return min(_LONGEST_S, float(header))
    when = _seconds(header)
    if when is None:
        return None
    sent = _seconds(headers.get("date", ""))
    return min(_LONGEST_S, max(0.0, when - (time.time() if sent is None else sent)))


def _seconds(date: str) -> float | None:
    """A header's date as seconds since the epoch."""
    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError, OSError):  # no date, or one that no clock shows
        return None
