"""The seam between one page of a list and the next: a list that changes while it is paged shows some records again."""

from __future__ import annotations

import json
from collections.abc import Sequence

from shoal.agent.types import Record


def value_texts(records: Sequence[Record]) -> tuple[str, ...]:
    """Return what tells records apart: their values, as text."""
    return tuple(json.dumps(record.value, sort_keys=True) for record in records)


def repeated_at_seam(before: Sequence[str], now: Sequence[str]) -> int:
    """Return how many records at the end of one page stand at the beginning of the next one again;
    0 for none.

    A page whose own records are not all different tells nothing: the next one may begin with another record that reads
    alike. A page that begins with all of the page before is that page, or it has grown.

    Args:
        before: what tells the records of the page before from each other, in their order.
        now: the same of the page that followed it.
    """
    if len(set(before)) < len(before) or len(set(now)) < len(now) or not now or now[0] not in before[1:]:
        return 0
    first = before.index(now[0])
    again = len(before) - first
    return again if list(before[first:]) == list(now[:again]) else 0


def shift_message(again: int, page: int) -> str:
    """Return what a list is told to lack whose page began with so many records of the page before."""
    records = "record" if again == 1 else f"{again:,} records"
    return (
        f"the list shifted while it was paged: page {page:,} began with the last {records} of the page before, "
        "so others may have come in before them"
    )
