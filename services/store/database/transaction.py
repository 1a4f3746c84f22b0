"""One transaction: named queries, ids and host ids made ready for it, and the events that it will add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, CursorResult, Row

from shoal.agent.support.json_value import Json
from shoal.services.events import JobEvent
from shoal.services.store.database import codec
from shoal.services.store.database.cache import Caches
from shoal.services.store.database.queries import load
from shoal.services.store.database.states import FINAL_STATES, State

T_co = TypeVar("T_co", covariant=True)

_ALL_ROWS = "%(rows)s"
"""In a query of PostgreSQL that takes all rows as one JSON text."""


class Operation(Protocol[T_co]):
    """The work of a transaction. It may run again after a deadlock, so it changes nothing but the database."""

    def __call__(self, tx: Tx) -> T_co: ...


@dataclass(slots=True)
class Tx:
    """An open transaction, handed to the functions that do the store's work."""

    conn: Connection
    now: float  # seconds since the epoch, by the store's clock
    caches: Caches
    first: Mapping[str, int] = field(default_factory=dict)  # first id of the block reserved from each counter
    hosts: Mapping[str, int] = field(default_factory=dict)  # ids of the host names that were asked for
    _totals: dict[str, Counter[State]] = field(default_factory=dict)  # what to add, by tenant
    _events: list[dict[str, Json]] = field(default_factory=list)

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.conn.dialect.name

    def many(self, values: Sequence[int | float | str]) -> Json:
        """A parameter that holds many values."""
        return codec.dump_json(list(values)) if self.dialect == "sqlite" else codec.dump_array(values)

    def run(self, query: str, /, **params: Json) -> CursorResult[Any]:
        """Runs a named query."""
        return self.conn.exec_driver_sql(load(self.dialect)[query], params)

    def rows(self, query: str, /, **params: Json) -> Sequence[Row[Any]]:
        """All rows of a named query."""
        return self.run(query, **params).all()

    def rows_made(self, query: str, make: str, /, *, n: int, **params: Json) -> Sequence[Row[Any]]:
        """All `n` rows of a named query; another one adds those that are not there yet."""
        rows = self.rows(query, **params)
        if len(rows) < n:
            self.run(make, **params)
            rows = self.rows(query, **params)
        return rows

    def each(self, name: str, rows: Sequence[Mapping[str, Json]]) -> int:
        """Runs a named query for many rows; gives how many rows it changed."""
        if not rows:
            return 0
        query = load(self.dialect)[name]
        if _ALL_ROWS in query:
            return self.conn.exec_driver_sql(query, {"rows": codec.dump_json(rows)}).rowcount
        return self.conn.exec_driver_sql(query, list(rows)).rowcount

    def know_hosts(self, names: Iterable[str]) -> None:
        """Makes sure that `hosts` has these names; new ones get an id."""
        known = {name: self.caches.domains.get(name) for name in names if name not in self.hosts}
        unknown = sorted(name for name, number in known.items() if number is None)
        ids = {name: number for name, number in known.items() if number is not None}
        if unknown:
            self.run("add_hosts", hosts=self.many(unknown))
            ids |= {row.host: row.id for row in self.rows("hosts", hosts=self.many(unknown))}
        self.hosts = {**self.hosts, **ids}

    def event(self, job: int, tenant: str, name: JobEvent, data: Mapping[str, Json]) -> None:
        """Adds a row to the feed when the transaction ends."""
        self._events.append(
            {
                "n": len(self._events),
                "job": job,
                "tenant": tenant,
                "name": name.value,
                "data": codec.dump_json(data),
                "at": self.now,
            }
        )

    def add_to_total(self, tenant: str, state: State, n: int) -> None:
        """Adds items that ended so to a tenant's totals when the transaction ends."""
        if tenant not in self._totals:
            self._totals[tenant] = Counter()
        self._totals[tenant][state] += n

    @property
    def changed(self) -> bool:
        """Return whether those who wait for a change should look."""
        return bool(self._events)

    def flush(self) -> None:
        """Writes totals and events, as the transaction's last statements: see the order of locks in `common.sql`.

        Commits that end jobs of a tenant wait for that tenant's totals, and commits with events for the feed: the
        later they are taken, the shorter.
        """
        totals = [
            {"tenant": tenant, **{state.column: change[state] for state in FINAL_STATES}}
            for tenant, change in self._totals.items()
            if any(change.values())
        ]
        self.each("add_totals", totals)
        self.each("add_events", self._events)
