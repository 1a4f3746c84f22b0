"""The rate of each tenant's requests, at several gateways."""

from __future__ import annotations

from unittest.mock import AsyncMock

import pytest

from shoal.services.errors import QuotaExceeded
from shoal.services.store.store import open_store
from shoal.services.web.http.rate_limit import RateLimit
from tests.store_world import Clock


async def test_floods_at_two_gateways_get_one_rate_and_the_store_is_asked_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    store = await open_store("sqlite://", clock=clock)
    monkeypatch.setattr(store, "spend", AsyncMock(wraps=store.spend))
    gateways = [RateLimit(store, 50.0, clock=clock) for _ in range(2)]
    admitted = refused = 0
    for _ in range(1_000):  # ten seconds
        clock.now += 0.01
        for gateway in gateways * 3:
            try:
                await gateway.admit("acme")
                admitted += 1
            except QuotaExceeded as error:
                assert 0 < float(str(error.details["retry_after_s"])) < 1
                refused += 1
    await store.close()
    assert admitted + refused == 6_000
    assert 10 * 50 + 2 * 50 - 1 <= admitted <= 10 * 50 + 2 * 50 + 2 * 10  # what two gateways have not told yet
    assert store.spend.await_count < 200


async def test_no_limit_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    store = await open_store("sqlite://")
    monkeypatch.setattr(store, "spend", AsyncMock(wraps=store.spend))
    limit = RateLimit(store, 0.0)
    for _ in range(1_000):
        await limit.admit("acme")
    await store.close()
    assert store.spend.await_count == 0


async def test_a_low_rate_is_kept_to_the_request() -> None:
    clock = Clock()
    store = await open_store("sqlite://", clock=clock)
    limit = RateLimit(store, 0.1, clock=clock)
    await limit.admit("acme")
    with pytest.raises(QuotaExceeded, match=r"0\.1 requests per second") as refused:
        await limit.admit("acme")
    assert refused.value.details["retry_after_s"] == pytest.approx(10)
    clock.now += 10
    await limit.admit("acme")
    await store.close()
