"""The quota of a tenant's waiting work, and the work that takes no room."""

from __future__ import annotations

import pytest

from shoal.services.web.http import quota
from tests.gateway_world import api_world

SPEC = {"url": "https://shop.example/", "goal": "read the prices"}


async def test_a_tenant_with_too_much_waiting_is_asked_to_come_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "COUNTED_FOR_S", 0.0)
    async with api_world(tenant_queued=1) as busy:
        await busy.submit()
        answer = await busy.client.post("/v1/jobs", json=SPEC)
        assert answer.status_code == 429
        assert answer.json()["detail"] == "1 sessions of this tenant are waiting already; at most 1 may."
        assert int(answer.headers["retry-after"]) >= 1


async def test_a_quota_does_not_ask_for_what_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    async def everything() -> None:
        raise AssertionError("the quota asked for the totals of all jobs that ever were")

    async with api_world(tenant_queued=2) as busy:
        monkeypatch.setattr(busy.store, "counts_by_status", everything)
        for _ in range(2):
            await busy.submit()
        assert (await busy.client.post("/v1/jobs", json=SPEC)).status_code == 429


@pytest.mark.parametrize("where", ["header", "body"])
async def test_a_tenant_at_its_quota_gets_the_job_that_stands_under_its_key(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(quota, "COUNTED_FOR_S", -1.0)
    async with api_world(tenant_queued=1) as busy:
        first = await busy.submit(idempotency_key="k")
        headers, spec = (
            ({"Idempotency-Key": "k"}, SPEC) if where == "header" else ({}, {**SPEC, "idempotency_key": "k"})
        )
        again = await busy.client.post("/v1/jobs", json={**spec, "goal": "look"}, headers=headers)
        assert (again.status_code, again.json().get("id")) == (200, first)
        other = await busy.client.post("/v1/jobs", json={**spec, "goal": "something else"}, headers=headers)
        assert other.status_code == 409, "what the key stands for is told as ever"
        fresh = await busy.client.post("/v1/jobs", json=SPEC, headers={"Idempotency-Key": "new"})
        assert fresh.status_code == 429


async def test_single_tenants_have_quotas_of_their_own() -> None:
    async with api_world(tenant_queued=1, tenant_quotas={"default": 3}) as busy:
        for _ in range(3):
            await busy.submit()
        answer = await busy.client.post("/v1/jobs", json=SPEC)
        assert answer.status_code == 429, "jobs that were taken in since the last count are counted too"
        assert answer.json()["detail"] == "3 sessions of this tenant are waiting already; at most 3 may."
    async with api_world(tenant_queued=1, tenant_quotas={"default": 0}) as free:
        for _ in range(3):
            await free.submit()
