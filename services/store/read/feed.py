"""The feed of what happens, as a gateway reads it for all who follow jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from shoal.services.store.database import tables
from shoal.services.store.database.transaction import Tx
from shoal.services.store.read.reading import event_row
from shoal.services.store.records import EventRow


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Events of some jobs since an event."""

    events: tuple[EventRow, ...]
    seq: int  # the event up to which the feed was looked through


def feed_page(tx: Tx, after: int | None, jobs: Sequence[int], limit: int) -> FeedPage:
    """The next events of `jobs`, with the number up to which nothing of theirs is left out."""
    newest: int = tx.run("last_event").scalar_one()
    if after is None or newest <= after:
        return FeedPage((), newest if after is None else after)
    table = tables.event
    is_there = table.c.job.not_in(select(tables.deleted.c.job))
    query = select(table).where(table.c.seq > after, table.c.seq <= newest, table.c.job.in_(jobs), is_there)
    rows = tuple(map(event_row, tx.conn.execute(query.order_by(table.c.seq).limit(limit))))
    return FeedPage(rows, rows[-1].seq if len(rows) == limit else newest)
