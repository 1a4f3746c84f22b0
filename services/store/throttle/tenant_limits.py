"""Operators' settings for single tenants while the cluster runs: a quota of waiting sessions, and a weight.

Each value is a row of its own, so that two changes of one tenant do not undo each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete

from shoal.services.store.database.database import Database
from shoal.services.store.database.tables import state
from shoal.services.store.database.transaction import Tx
from shoal.services.store.read.snapshots import get_states, put_state

_PREFIXES = {"quota": "tenant_quota/", "weight": "tenant_weight/"}
"""Of the rows of each value; the tenant's name follows."""


@dataclass(frozen=True, slots=True)
class TenantLimits:
    """The settings by tenant; for those that are not named the installation's settings hold."""

    quotas: Mapping[str, int]  # sessions that may wait; 0: as many as the tenant likes
    weights: Mapping[str, float]


class TenantStore:
    """The limits of tenants. Each method is one transaction; a lost database raises `StoreAway`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def limits(self) -> TenantLimits:
        """Return what is set now."""
        return await self._db.read(_limits)

    async def change(self, tenant: str, changes: Mapping[str, float | None]) -> None:
        """Sets what is named, `quota` or `weight`. None takes it away, so that the settings hold again."""
        rows = {_PREFIXES[name] + tenant: value for name, value in changes.items()}
        await self._db.write(lambda tx: _change(tx, rows))


def _limits(tx: Tx) -> TenantLimits:
    quotas, weights = (
        {name.removeprefix(prefix): data["value"] for name, (data, _) in get_states(tx, prefix).items()}
        for prefix in _PREFIXES.values()
    )
    return TenantLimits(quotas, weights)


def _change(tx: Tx, changes: Mapping[str, float | None]) -> None:
    for name, value in changes.items():
        if value is None:
            tx.conn.execute(delete(state).where(state.c.name == name))
        else:
            put_state(tx, name, {"value": value})
