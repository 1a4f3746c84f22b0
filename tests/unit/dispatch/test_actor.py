"""The dispatcher's actor, apart from Ray."""

from __future__ import annotations

import pytest

from shoal.services.dispatch import actor
from shoal.services.errors import StoreAway
from shoal.services.store.store import Store, open_store


async def test_a_store_that_is_away_at_the_start_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor, "_AGAIN_S", 0.01)
    tries: list[str] = []

    async def away_twice(url: str, *, migrate: bool = True) -> Store:
        tries.append(url)
        if len(tries) < 3:
            raise StoreAway("the database does not answer")
        return await open_store(url)

    monkeypatch.setattr(actor, "open_store", away_twice)
    store = await actor.opened("sqlite://")
    assert len(tries) == 3
    await store.close()

    tries.clear()
    monkeypatch.setattr(actor, "_STORE_S", 0.0)
    with pytest.raises(StoreAway):
        await actor.opened("sqlite://")
