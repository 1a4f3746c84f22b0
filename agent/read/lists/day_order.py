"""The days of a column: which of two numbers is the month is settled by the list as a whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from shoal.agent.read.lists.column import Column
from shoal.agent.read.lists.pieces import PagePieces
from shoal.agent.read.values.text_values import Day, DayOrder


def days_of(column: Column, columns: Sequence[Column], pieces: PagePieces) -> list[str | None]:
    """The days of a column as YYYY-MM-DD, by one order of day and month; None where the order is open and matters.

    The list's other columns of days tell the order where the column's own days do not.
    """
    order = _order_of(_open_days([column]), pieces) or _order_of(_open_days(columns), pieces)
    return [value.iso(order) if isinstance(value, Day) else None for value in column.values]


def _open_days(columns: Sequence[Column]) -> list[Day]:
    return [value for column in columns for value in column.present_values if isinstance(value, Day) and value.is_open]


def _order_of(days: Sequence[Day], pieces: PagePieces) -> DayOrder | None:
    """The order of day and month: the one that all days have, else by sign, by the list's own order, by language."""
    if not days:
        return None
    fits: dict[DayOrder, int] = {
        "mdy": sum(day.fits("mdy") for day in days),
        "dmy": sum(day.fits("dmy") for day in days),
    }
    if fits["mdy"] != fits["dmy"]:
        return "mdy" if fits["mdy"] > fits["dmy"] else "dmy"
    if days[0].sign == ".":
        return "dmy"
    month_first, day_first = _turns(days, "mdy"), _turns(days, "dmy")
    nearly_sorted = min(month_first, day_first) <= 0.05 * len(days) < max(month_first, day_first) / 2
    if len(days) > 3 and nearly_sorted:
        return "mdy" if month_first < day_first else "dmy"
    language = (pieces.page.root.get("lang") or "").casefold()
    if language == "en-us" or re.search(r"\.(gov|mil|us)$", urlsplit(pieces.base).hostname or ""):
        return "mdy"
    return "dmy" if language[:2] not in ("", "en") else None


def _turns(days: Sequence[Day], order: DayOrder) -> int:
    """Pairs of neighbours that are out of order, where the list is sorted by day either way."""
    sequence = [day.iso(order) or "" for day in days]
    rising = sum(day < following for day, following in pairwise(sequence))
    falling = sum(day > following for day, following in pairwise(sequence))
    return min(rising, falling)
