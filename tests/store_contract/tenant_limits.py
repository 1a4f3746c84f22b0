"""Operators' limits for single tenants are kept, value by value."""

from __future__ import annotations

import asyncio

from tests.store_world import World


async def test_quotas_and_weights_are_set_and_taken_away_each_by_itself(w: World) -> None:
    await asyncio.gather(w.store.tenants.change("acme", {"quota": 3}), w.store.tenants.change("acme", {"weight": 2.0}))
    await w.store.tenants.change("a%_b", {"quota": 0, "weight": 0.5})
    limits = await w.store.tenants.limits()
    assert (dict(limits.quotas), dict(limits.weights)) == ({"acme": 3, "a%_b": 0}, {"acme": 2.0, "a%_b": 0.5})
    await w.store.tenants.change("acme", {"quota": None})
    await w.store.tenants.change("a%_b", {"weight": None})
    limits = await w.store.tenants.limits()
    assert (dict(limits.quotas), dict(limits.weights)) == ({"a%_b": 0}, {"acme": 2.0})
