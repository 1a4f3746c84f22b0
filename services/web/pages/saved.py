"""Entries that people keep under a name for their tenant: filters of the list of jobs, and jobs to begin with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput, NotFound
from shoal.services.store.store import Store
from shoal.services.web.http.api_keys import Caller

Kind = Literal["filter", "preset"]
MOST = 50
"""Of one kind that a tenant may keep: each page shows all of them."""
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Saved:
    """One thing that is kept."""

    id: str  # in addresses
    name: str
    data: Mapping[str, Json]


async def all_saved(store: Store, kind: Kind, caller: Caller) -> list[Saved]:
    """Return what the caller's tenant keeps, by name."""
    states = await store.states(_prefix(kind, caller))
    entries = [Saved(key.rpartition(":")[2], row["name"], row["data"]) for key, (row, _) in states.items()]
    return sorted(entries, key=lambda entry: entry.name.lower())


async def one_saved(store: Store, kind: Kind, caller: Caller, id: str) -> Saved:
    """One thing that the caller's tenant keeps.

    Raises:
        NotFound: there is no such thing.
    """
    for entry in await all_saved(store, kind, caller):
        if entry.id == id:
            return entry
    raise NotFound(f"there is no saved {kind} {id!r}")


async def save(store: Store, kind: Kind, caller: Caller, name: str, data: Mapping[str, Json]) -> Saved:
    """Keeps `data` under a name; what had the name is replaced.

    Raises:
        BadInput: the name is empty or too long, or so many are kept already.
    """
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadInput(
            f"A name has 1 to {LONGEST_NAME} characters.", errors=[{"field": "name", "reason": "is empty or too long"}]
        )
    id = hashlib.sha256(name.encode()).hexdigest()[:16]
    kept = await all_saved(store, kind, caller)
    if len(kept) >= MOST and id not in {entry.id for entry in kept}:
        raise BadInput(f"This tenant keeps {MOST} already; remove one first.", errors=[])
    await store.put_state(_prefix(kind, caller) + id, {"name": name, "data": dict(data)})
    return Saved(id, name, data)


async def forget(store: Store, kind: Kind, caller: Caller, id: str) -> None:
    """Keeps it no longer.

    Raises:
        NotFound: there is no such thing.
    """
    entry = await one_saved(store, kind, caller, id)
    await store.drop_states(_prefix(kind, caller) + entry.id, older_than_s=-1.0)


def _prefix(kind: Kind, caller: Caller) -> str:
    return f"saved/{kind}:{caller.tenant}:"
