"""Jobs that ended of late, with their items and cost, by spans of time."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Integer, cast, func, select

from shoal.services.store.database.states import State
from shoal.services.store.database.tables import job
from shoal.services.store.database.transaction import Tx
from shoal.services.store.read.reading import when
from shoal.services.store.records import ActivitySpan


def activity(tx: Tx, tenant: str | None, span_s: int, spans: int) -> list[ActivitySpan]:
    """The last `spans` spans of `span_s` seconds, the oldest first; the last one is not over yet."""
    last = int(tx.now // span_s)
    first = last - spans + 1
    number: ColumnElement[int] = cast(func.floor(job.c.finished_at / span_s), Integer)
    sums = ("completed", "terminated", "failed", "unsure", "canceled", "prompt_tokens", "completion_tokens")
    query = (
        select(
            number.label("number"),
            func.count().label("jobs"),
            func.count().filter(job.c.status == State.COMPLETED).label("good_jobs"),
            *(func.sum(job.c[name]).label(name) for name in (*sums, "model_calls", "pages")),
            func.sum(job.c.finished_at - func.coalesce(job.c.started_at, job.c.finished_at)).label("seconds"),
        )
        .where(job.c.finished_at >= first * span_s)
        .group_by("number")
    )
    if tenant is not None:
        query = query.where(job.c.tenant == tenant)
    rows = {int(row.number): row for row in tx.conn.execute(query)}
    return [_span(rows.get(number), number, span_s) for number in range(first, last + 1)]


def _span(row: object, number: int, span_s: int) -> ActivitySpan:
    def n(name: str) -> int:
        return int(getattr(row, name, 0) or 0)

    return ActivitySpan(
        since=when(number * span_s),
        jobs=n("jobs"),
        jobs_completed=n("good_jobs"),
        items=sum(map(n, ("completed", "terminated", "failed", "unsure", "canceled"))),
        items_completed=n("completed"),
        items_canceled=n("canceled"),
        prompt_tokens=n("prompt_tokens"),
        completion_tokens=n("completion_tokens"),
        model_calls=n("model_calls"),
        pages=n("pages"),
        seconds=float(getattr(row, "seconds", 0.0) or 0.0),
    )
