"""Items of a job that ended of late."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import or_, select

from shoal.agent.support.json_value import Json
from shoal.services.events import JobEvent
from shoal.services.store.database import codec
from shoal.services.store.database.tables import event
from shoal.services.store.database.transaction import Tx
from shoal.services.store.read.reading import job_row
from shoal.services.store.records import Counts

RECENT_S = 300.0
"""Seconds that a rate looks back: long enough for slow items, short enough to follow changes of a site or
the cluster.
"""
_ANEW = (JobEvent.SUBMITTED, JobEvent.STARTED, JobEvent.RESUMED, JobEvent.RETRIED)
"""Events after which earlier figures say nothing of now: nothing ran, or items were opened again."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Items that ended in a time."""

    seconds: float  # the time that was looked at
    ended: int  # items; less than 0 where some were opened again meanwhile


def pace(tx: Tx, job: int, tenant: str | None) -> Pace | None:
    """Return what ended in the last minutes, or since the job began, was resumed or retried;
    None: its events are gone.

    Raises:
        NotFound: there is no such job, or it is another tenant's.
    """
    counts, since = job_row(tx, job, tenant).counts, tx.now - RECENT_S
    query = (
        select(event.c.at, event.c.data)
        .where(event.c.job == job, or_(event.c.at <= since, event.c.name.in_(_ANEW)))
        .order_by(event.c.seq.desc())
        .limit(1)
    )
    base = tx.conn.execute(query).one_or_none()
    if base is None:
        return None
    data: Json = codec.load_json(base.data)
    return Pace(tx.now - max(base.at, since), counts.final - Counts(**data["counts"]).final)
