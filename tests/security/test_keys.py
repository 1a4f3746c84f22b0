"""API keys: they end when they are told to, also for what was opened with them, and limits hold at every door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from shoal.services.errors import StoreAway
from shoal.services.web.api import events
from shoal.services.web.http import auth
from shoal.services.web.http.api_keys import hash_key, make_key
from tests.gateway_world import World, world

SPEC = {"url": "https://shop.example/", "goal": "read"}


class Clock:
    """The store's clock."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def here(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr(auth, "KNOWN_FOR_S", 0.0)
    monkeypatch.setattr(events, "OVER_S", 0.05)
    async with world(auth=True, clock=clock) as made:
        yield made


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def lasting(here: World, seconds: float | None) -> str:
    """A key that expires after so long."""
    key = make_key()
    await here.store.create_key("test", "acme", ["read", "submit", "control"], hash_key(key), seconds)
    return key


async def revoke(here: World, key: str) -> None:
    row = await here.store.find_key(hash_key(key))
    assert row is not None
    await here.store.revoke_key(row.id)


async def logged_in(here: World, key: str) -> None:
    """The client has the dashboard's cookie of `key` from now on."""
    answer = await here.client.post("/login", data={"key": key})
    assert answer.status_code == 303, answer.text
    here.client.cookies = httpx.Cookies(answer.cookies)


async def test_an_expired_key_opens_nothing(here: World, clock: Clock) -> None:
    key = await lasting(here, 3600)
    clock.now += 3599
    assert (await here.client.get("/v1/jobs", headers=bearer(key))).status_code == 200
    await logged_in(here, key)
    assert (await here.client.get("/")).status_code == 200
    clock.now += 1
    answer = await here.client.get("/v1/jobs", headers=bearer(key))
    assert (answer.status_code, answer.json()["detail"]) == (401, "The API key has expired.")
    assert (await here.client.post("/v1/jobs", json=SPEC, headers=bearer(key))).status_code == 401
    assert (await here.client.get("/")).status_code == 303  # to the login
    assert (await here.client.post("/login", data={"key": key})).status_code == 401


@pytest.mark.parametrize("end", ["revoked", "expired"])
@pytest.mark.parametrize("door", ["api", "dashboard"])
async def test_an_event_stream_ends_with_its_key(here: World, clock: Clock, end: str, door: str) -> None:
    key, owner = await lasting(here, 3600), await lasting(here, None)
    made = await here.client.post("/v1/jobs", json=SPEC, headers=bearer(owner))
    job = made.json()["id"]
    if door == "dashboard":
        await logged_in(here, key)
    headers = bearer(key) if door == "api" else {}
    path = f"{'/v1' if door == 'api' else ''}/jobs/{job}/events"
    # The transport gives an answer when it is whole.
    stream = asyncio.create_task(here.client.get(path, headers=headers))
    while not here.deps.metrics.event_streams._value.get():
        assert not stream.done(), stream.result().text
        await asyncio.sleep(0.01)
    await asyncio.wait([stream], timeout=0.3)
    assert not stream.done(), "its key still holds"
    if end == "revoked":
        await revoke(here, key)
    else:
        clock.now += 3600
    async with asyncio.timeout(60):
        answer = await stream
    assert answer.text.count("event: ") == 1  # what there was when it began
    assert (await here.client.post(f"/v1/jobs/{job}/cancel", headers=bearer(owner))).status_code == 200
    again = await here.client.get(path, headers=headers)
    assert again.status_code in (303, 401)


async def test_the_dashboard_is_held_to_the_rate_of_its_tenant(clock: Clock) -> None:
    async with world(auth=True, requests_per_s=2.0, clock=clock) as limited:  # nothing is allowed anew meanwhile
        key, other = await lasting(limited, None), await limited.key("read", tenant="other")
        await logged_in(limited, key)
        paths = ("/", "/status", "/", "/jobs/j1", "/", "/status", "/jobs/j1/events")
        answers = [(await limited.client.get(path)).status_code for path in paths]
        assert answers[:4] == [200, 200, 200, 404]
        assert answers[4:] == [429, 429, 429]
        # It is one limit for both doors, and another tenant's is its own.
        assert (await limited.client.get("/v1/jobs", headers=bearer(key))).status_code == 429
        assert (await limited.client.get("/v1/jobs", headers=bearer(other))).status_code == 200


async def test_the_last_use_of_a_key_is_kept_and_costs_one_write_a_minute(
    here: World, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await lasting(here, None)
    writes: list[int] = []
    note = here.store.note_key_use

    async def counted(number: int) -> None:
        writes.append(number)
        await note(number)

    monkeypatch.setattr(here.store, "note_key_use", counted)
    for _ in range(20):
        assert (await here.client.get("/v1/jobs", headers=bearer(key))).status_code == 200
    (row,) = await here.store.keys()
    assert writes == [row.id]
    assert row.used_at is not None
    assert row.used_at.timestamp() == clock.now


async def test_a_store_that_cannot_be_written_keeps_no_caller_out(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    key = await lasting(here, None)

    async def away(number: int) -> None:
        raise StoreAway("read-only")

    monkeypatch.setattr(here.store, "note_key_use", away)
    assert (await here.client.get("/v1/jobs", headers=bearer(key))).status_code == 200
