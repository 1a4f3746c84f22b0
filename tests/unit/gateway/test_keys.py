"""Who may do what: keys, scopes, tenants, and what protects a gateway without keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import pytest

from shoal.services.errors import BadSetting
from shoal.services.web.app import create_app
from shoal.services.web.http.api_keys import EVERYBODY, Caller, hash_key, make_key
from shoal.services.web.http.auth import needs_keys
from tests.gateway_world import World, api_world, completed

SPEC = {"url": "https://shop.example/", "goal": "read"}


@pytest.fixture
async def locked() -> AsyncIterator[World]:
    async with api_world(auth=True) as made:
        yield made


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def test_without_a_valid_key_nothing_is_told(locked: World) -> None:
    for headers in ({}, bearer("shoal_wrong"), bearer("other"), {"Authorization": "Basic eDp5"}, bearer("")):
        for path in ("/v1/jobs", "/v1/jobs/j1", "/v1/status", "/v1/sessions/s1", "/v1/artifacts/a"):
            answer = await locked.client.get(path, headers=headers)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()["code"] == "unauthenticated"


async def test_probes_need_no_key(locked: World) -> None:
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert (await locked.client.get(path)).status_code == 200, path


async def test_a_scope_opens_its_own_doors_only(locked: World) -> None:
    read, submit, control = [await locked.key(scope) for scope in ("read", "submit", "control")]
    client = locked.client
    made = await client.post("/v1/jobs", json=SPEC, headers=bearer(submit))
    assert made.status_code == 201
    place = made.headers["location"]
    for key, expected in ((read, (403, 200, 403)), (submit, (201, 403, 403)), (control, (403, 403, 200))):
        answers = (
            await client.post("/v1/jobs", json=SPEC, headers=bearer(key)),
            await client.get(place, headers=bearer(key)),
            await client.post(f"{place}/pause", headers=bearer(key)),
        )
        assert tuple(answer.status_code for answer in answers) == expected
    refused = await client.get(place, headers=bearer(submit))
    assert refused.json()["detail"] == "This needs the scope `read`; the key has submit."


async def test_tenants_see_and_touch_only_what_is_theirs(locked: World) -> None:
    ours = bearer(await locked.key("read", "submit", "control", tenant="acme"))
    theirs = bearer(await locked.key("read", "submit", "control", tenant="other"))
    operator = bearer(await locked.key("admin", tenant="ops"))
    client = locked.client
    made = (await client.post("/v1/jobs", json=SPEC, headers=ours)).headers["location"]
    job = (await client.get(made, headers=ours)).json()
    await locked.run(lambda work: completed({"a": 1}))
    place, session = f"/v1/jobs/{job['id']}", f"/v1/sessions/{job['root_session']}"
    for path in (place, f"{place}/sessions", f"{place}/results", f"{place}/events?follow=false", session):
        assert (await client.get(path, headers=ours)).status_code == 200, path
        assert (await client.get(path, headers=operator)).status_code == 200, path
        assert (await client.get(path, headers=theirs)).status_code == 404, path
    for verb in ("cancel", "pause", "resume", "retry"):
        assert (await client.post(f"{place}/{verb}", headers=theirs)).status_code == 404
    assert (await client.delete(place, headers=theirs)).status_code == 404
    assert (await client.get("/v1/jobs", headers=theirs)).json()["jobs"] == []
    assert len((await client.get("/v1/jobs", headers=operator)).json()["jobs"]) == 1
    assert (await client.get("/v1/status", headers=theirs)).json()["sessions"]["completed"] == 0
    assert (await client.get("/v1/status", headers=ours)).json()["sessions"]["completed"] == 1


async def test_the_same_idempotency_key_of_two_tenants_is_two_jobs(locked: World) -> None:
    keys = [bearer(await locked.key("submit", tenant=tenant)) for tenant in ("acme", "other")]
    made = [
        (await locked.client.post("/v1/jobs", json=SPEC, headers={**key, "Idempotency-Key": "k"})).json()["id"]
        for key in keys
    ]
    assert made[0] != made[1]


async def test_a_revoked_key_stops_working(locked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.web.http.auth.KNOWN_FOR_S", 0.0)
    key = await locked.key("read")
    assert (await locked.client.get("/v1/jobs", headers=bearer(key))).status_code == 200
    row = await locked.store.find_key(hash_key(key))
    assert row is not None
    await locked.store.revoke_key(row.id)
    assert (await locked.client.get("/v1/jobs", headers=bearer(key))).status_code == 401


async def test_one_tenant_may_only_ask_so_often() -> None:
    async with api_world(auth=True, requests_per_s=2.0) as limited:
        key, second = bearer(await limited.key("read")), bearer(await limited.key("read"))
        other = bearer(await limited.key("read", tenant="other"))
        answers = [await limited.client.get("/v1/jobs", headers=key) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429, 429]
        assert answers[-1].headers["retry-after"] == "1"
        assert (await limited.client.get("/v1/jobs", headers=second)).status_code == 429  # the same tenant's
        assert (await limited.client.get("/v1/jobs", headers=other)).status_code == 200


async def test_a_tenant_has_one_rate_at_all_gateways() -> None:
    async with api_world(auth=True, requests_per_s=2.0) as first:
        key = bearer(await first.key("read"))
        other = httpx.ASGITransport(create_app(first.deps))
        async with httpx.AsyncClient(transport=other, base_url="http://127.0.0.1:8700") as second:
            answers = [await client.get("/v1/jobs", headers=key) for client in [first.client, second] * 3]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429, 429]


async def test_keys_are_kept_as_hashes_only(locked: World) -> None:
    key = await locked.key("read")
    assert all(key not in str(row) for row in await locked.store.keys())
    assert len(make_key()) == len("shoal_") + 43
    assert make_key() != make_key()


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"Host": "rebound.example:8700"}, "Host header"),
        ({"Host": "[127.0.0.1"}, "Host header"),
        ({"Origin": "http://[evil"}, "other origins"),
        ({"Origin": "https://evil.example"}, "other origins"),
        ({"Origin": "null"}, "other origins"),
        ({"Sec-Fetch-Site": "cross-site"}, "other origins"),
        ({"Sec-Fetch-Site": "same-site"}, "other origins"),
        ({"Origin": "http://127.0.0.1:9999"}, "other origins"),
    ],
)
async def test_a_foreign_page_cannot_use_a_gateway_without_keys(headers: dict[str, str], why: str) -> None:
    async with api_world() as here:
        answer = await here.client.post("/v1/jobs", json=SPEC, headers=headers)
        assert answer.status_code == 403
        assert why in answer.json()["detail"]


async def test_a_page_of_the_gateway_itself_can() -> None:
    async with api_world() as here:
        headers = {"Origin": "http://127.0.0.1:8700", "Sec-Fetch-Site": "same-origin"}
        assert (await here.client.post("/v1/jobs", json=SPEC, headers=headers)).status_code == 201
        assert (await here.client.get("/v1/jobs", headers={"Host": "localhost:8700"})).status_code == 200
        assert (await here.client.get("/v1/jobs", headers={"Host": "[::1]:8700"})).status_code == 200


def test_keys_may_be_left_out_on_loopback_only() -> None:
    assert not needs_keys("auto", "127.0.0.1")
    assert not needs_keys("auto", "localhost")
    assert not needs_keys("auto", "::1")
    assert needs_keys("auto", "0.0.0.0")
    assert needs_keys("auto", "10.0.0.5")
    assert needs_keys("on", "127.0.0.1")
    assert not needs_keys("off", "127.0.0.1")
    with pytest.raises(BadSetting, match="SHOAL_AUTH=off"):
        needs_keys("off", "0.0.0.0")


async def test_status_tells_a_tenant_nothing_of_others(locked: World) -> None:
    """Names, shares and sites of other tenants are theirs; so is whatever a snapshot may say one day."""
    await locked.store.put_state(
        "dispatcher/main",
        {
            **{"slots": 4, "busy": 1, "lanes_waiting": {"a free slot": 2}, "workers": [{"name": "w1", "slots": 4}]},
            **{"tenants": {"acme": 3, "other": 1}, "weights": {"acme": 5.0}, "figures": {"counts": []}, "new": 1},
            "held": {"7": {"secret-supplier.example": ["domain limit", 0]}},
        },
    )
    told = await locked.client.get("/v1/status", headers=bearer(await locked.key("read", tenant="other")))
    assert "acme" not in told.text
    assert "secret-supplier" not in told.text
    seen = told.json()
    assert seen["capacity"]["slots"] == 4
    (own,) = seen["dispatchers"].values()
    assert own["tenants"] == {"other": 1}
    assert set(own) == {"age_s", "slots", "busy", "lanes_waiting", "workers", "tenants"}
    admin = (await locked.client.get("/v1/status", headers=bearer(await locked.key("admin")))).json()
    assert {"held", "weights", "figures", "new"} <= set(admin["dispatchers"]["main"])


@pytest.mark.parametrize("held", ["read", "submit", "control", "admin"])
def test_a_scope_that_there_is_not_is_held_by_no_key(held: str) -> None:
    caller = Caller("acme", frozenset({held, "schedule-results:1"}))
    unknown: Any = "contrl"
    assert not caller.may(unknown) and not EVERYBODY.may(unknown)
    assert not caller.may(cast(Any, "schedule-results:1")) and caller.may_read_results(1)
    assert caller.may_read_results(2) == (held in ("read", "admin")) == caller.may_read_results(None)
    assert EVERYBODY.may_read_results(2)


def test_a_key_that_was_made_for_a_schedule_s_name_reads_no_schedule_of_that_number() -> None:
    assert not Caller("acme", frozenset({"results:1"})).may_read_results(1)
