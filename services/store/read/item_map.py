"""States of a job's items, in item order, as cheaply as a map of 100,000 cells needs them."""

from __future__ import annotations

from shoal.agent.status import Status
from shoal.services.errors import NotFound
from shoal.services.store.database.states import QUEUED_STATES, State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id
from shoal.services.store.read.reading import job_row

_ORDER = tuple(Status)
_FIRST_LETTER = ord("A")
"""Offset that the statement adds to each state."""


def item_states(tx: Tx, job: int, tenant: str | None) -> bytes:
    """A byte for each item that is a row by now: the position of its status in `Status`.

    Raises:
        NotFound: there is no such job, or it is another tenant's.
    """
    paused = job_row(tx, job, tenant).status is Status.PAUSED
    shown = [Status.PAUSED if paused and state in QUEUED_STATES else state.status for state in State]
    codes = bytes.maketrans(bytes(_FIRST_LETTER + state for state in State), bytes(map(_ORDER.index, shown)))
    letters: str = tx.run("item_states", job=job).scalar_one() or ""
    return letters.encode().translate(codes)


def item_session(tx: Tx, job: int, place: int, tenant: str | None) -> int:
    """The session of the item at a place of the map.

    Raises:
        NotFound: there is none.
    """
    job_row(tx, job, tenant)
    row = tx.run("item_at", job=job, place=place).one_or_none()
    if row is None:
        raise NotFound(f"{job_id(job)} has no item at {place}")
    return int(row.id)
