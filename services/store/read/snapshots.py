"""Small shared state: named snapshots, and sessions by status for metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, delete, func, select, text, tuple_

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.services.store.database import codec
from shoal.services.store.database.states import FINAL_STATES, QUEUED_STATES, State
from shoal.services.store.database.tables import session, state
from shoal.services.store.database.transaction import Tx
from shoal.services.store.records import Unclaimable


def put_state(tx: Tx, name: str, data: Mapping[str, Json]) -> None:
    """Keeps a snapshot."""
    tx.run("put_state", name=name, data=codec.dump_json(dict(data)), at=tx.now)


def get_states(tx: Tx, prefix: str) -> dict[str, tuple[Mapping[str, Json], float]]:
    """Snapshots whose name begins so, each with its age in seconds."""
    rows = tx.conn.execute(select(state).where(_begins(prefix)).order_by(state.c.name))
    return {row.name: (codec.load_json(row.data), tx.now - row.at) for row in rows}


def drop_states(tx: Tx, prefix: str, older_than_s: float) -> None:
    """Forgets snapshots whose name begins so and that were not put for so long."""
    tx.conn.execute(delete(state).where(_begins(prefix), state.c.at < tx.now - older_than_s))


def _begins(prefix: str) -> ColumnElement[bool]:
    """Return the condition that a name begins so, to the letter: LIKE ignores case in SQLite."""
    return func.substr(state.c.name, 1, len(prefix)) == prefix


def open_by_status(tx: Tx) -> dict[tuple[str, Status], int]:
    """Open sessions by tenant and status."""
    counts: Counter[tuple[str, Status]] = Counter()
    for row in tx.rows("open_by_tenant"):
        kind = State(row.state)
        paused = row.status == State.PAUSED and kind in QUEUED_STATES
        counts[row.tenant, Status.PAUSED if paused else kind.status] += int(row.n)
    return dict(counts)


def count_by_status(tx: Tx) -> dict[tuple[str, Status], int]:
    """Open sessions and ended items by tenant and status."""
    counts = Counter(open_by_status(tx))
    for row in tx.rows("final_by_tenant"):
        for final in FINAL_STATES:
            counts[row.tenant, final.status] += int(getattr(row, final.column))
    return {key: n for key, n in counts.items() if n}


def unclaimable(tx: Tx, partitions: Sequence[tuple[int, int]]) -> Unclaimable:
    """Queued sessions that no worker can begin, and how many are ready in some partitions, given as (job, domain)."""
    (row,) = tx.rows("unclaimable")
    return Unclaimable(int(row.delayed), int(row.held), int(row.learning), _ready(tx, partitions) if partitions else {})


def _ready(tx: Tx, partitions: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    partition = (session.c.job, session.c.domain)
    counted = (
        select(*partition, func.count().label("n"))
        .where(text(f"state = {int(State.QUEUED)}"), tuple_(*partition).in_(partitions))
        .group_by(*partition)
    )
    return {(row.job, row.domain): int(row.n) for row in tx.conn.execute(counted)}
