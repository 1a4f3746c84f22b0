"""Shares of tenants in live views and event streams: what one tenant opens takes nothing from another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest

from shoal.services.errors import QuotaExceeded
from shoal.services.live_messages import PREFIX
from shoal.services.web import deps
from shoal.services.web.live import rooms
from tests.gateway_world import World, world
from tests.patience import soon

STREAMS, ROOMS = 6, 3


@pytest.fixture
async def here(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr(deps, "MOST_STREAMS", STREAMS)
    monkeypatch.setattr(rooms, "MOST_ROOMS", ROOMS)
    async with world(auth=True, help_token="a" * 32, live_url="http://gateway:8700") as made:
        yield made


class Tenant:
    """The client of one tenant, with what it has open."""

    def __init__(self, here: World, name: str, key: str) -> None:
        self._here = here
        self.name = name
        self.headers = {"Authorization": f"Bearer {key}"}
        self._open: list[asyncio.Task[object]] = []

    async def submit(self) -> tuple[str, str]:
        """A new job and its session."""
        spec = {"url": "https://shop.example/", "goal": "look"}
        job = (await self._here.client.post("/v1/jobs", json=spec, headers=self.headers)).json()["id"]
        listed = (await self._here.client.get(f"/v1/jobs/{job}/sessions", headers=self.headers)).json()
        return job, listed["sessions"][0]["id"]

    async def opens(self, *paths: str) -> None:
        """Opens streams that stay open."""
        before = self._here.deps.streams.count_of(self.name)
        self._open += [
            asyncio.create_task(self._here.client.get(path, headers=self.headers, timeout=None)) for path in paths
        ]
        async with soon(30):
            while self._here.deps.streams.count_of(self.name) < before + len(paths):
                await asyncio.sleep(0.01)

    async def refused(self, path: str) -> str:
        """Why a stream is not opened."""
        answer = await asyncio.wait_for(self._here.client.get(path, headers=self.headers), 30)
        assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded"), answer.text
        assert int(answer.headers["retry-after"]) >= 1
        return str(answer.json()["detail"])

    async def close(self) -> None:
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)


@pytest.fixture
async def tenants(here: World) -> AsyncIterator[tuple[Tenant, Tenant]]:
    names = ("mallory", "acme")
    made = [Tenant(here, name, await here.key("submit", "read", "control", tenant=name)) for name in names]
    yield made[0], made[1]
    for tenant in made:
        await tenant.close()


async def in_rooms(here: World, most: int) -> None:
    async with soon(30):
        while len(await here.store.states(PREFIX)) < most:
            await asyncio.sleep(0.01)


async def test_views_of_sessions_that_do_not_run_take_no_room(here: World, tenants: tuple[Tenant, Tenant]) -> None:
    mallory, acme = tenants
    _, running = await acme.submit()
    await here.claim()
    queued = [(await mallory.submit())[1] for _ in range(STREAMS)]
    await mallory.opens(*(f"/v1/sessions/{session}/live" for session in queued))
    assert here.app.state.live_rooms._by_session == {}
    for session in queued:
        path = f"/v1/sessions/{session}/live"
        answer = await asyncio.wait_for(
            here.client.post(path, json={"do": "take"}, headers=mallory.headers), rooms.LINK_S / 2
        )
        assert (answer.status_code, answer.json()["detail"]) == (409, "The session does not run: it is queued.")
    await acme.opens(f"/v1/sessions/{running}/live")
    await in_rooms(here, 1)
    assert (await here.client.get(f"/v1/sessions/{running}/progress", headers=acme.headers)).json()["running"]


async def test_a_view_gets_its_room_when_its_session_runs(
    here: World, tenants: tuple[Tenant, Tenant], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.web.live.viewing._LOOK_S", 0.05)
    mallory, _ = tenants
    _, session = await mallory.submit()
    await mallory.opens(f"/v1/sessions/{session}/live")
    assert here.app.state.live_rooms.by_session(int(session[1:])) is None
    await here.claim()
    await in_rooms(here, 1)
    assert here.app.state.live_rooms.by_session(int(session[1:])).viewers == 1


async def test_each_tenant_has_its_own_share_of_rooms(here: World, tenants: tuple[Tenant, Tenant]) -> None:
    mallory, acme = tenants
    mine, theirs = [(await mallory.submit())[1] for _ in range(ROOMS + 1)], (await acme.submit())[1]
    await here.claim()
    await mallory.opens(*(f"/v1/sessions/{session}/live" for session in mine[:ROOMS]))
    await in_rooms(here, ROOMS)
    assert f"at {ROOMS} running sessions" in await mallory.refused(f"/v1/sessions/{mine[ROOMS]}/live")
    told = (await here.client.get(f"/v1/sessions/{mine[ROOMS]}/progress", headers=mallory.headers)).json()
    assert f"at {ROOMS} running sessions" in told["missing"]
    await acme.opens(f"/v1/sessions/{theirs}/live")
    await in_rooms(here, ROOMS + 1)
    operator = Tenant(here, "ops", await here.key("admin", tenant="ops"))
    await operator.opens(f"/v1/sessions/{mine[ROOMS]}/live")
    await in_rooms(here, ROOMS + 2)
    await operator.close()


def test_each_tenant_has_its_own_share_of_people_at_a_session() -> None:
    room = rooms.Room(1, "mallory", "mallory")
    with ExitStack() as looking:
        for _ in range(rooms.MOST_VIEWERS):
            looking.enter_context(room.viewing("mallory"))
        with pytest.raises(QuotaExceeded, match=f"{rooms.MOST_VIEWERS} people who look at this session"):
            looking.enter_context(room.viewing("mallory"))
        with room.viewing("ops"):
            assert room.viewers == rooms.MOST_VIEWERS + 1
    assert room.viewers == 0


async def test_each_tenant_has_its_own_share_of_event_streams(here: World, tenants: tuple[Tenant, Tenant]) -> None:
    mallory, acme = tenants
    (job, session), (their_job, _) = await mallory.submit(), await acme.submit()
    await mallory.opens(*([f"/v1/jobs/{job}/events"] * (STREAMS - 1)), f"/v1/sessions/{session}/live")
    for path in (f"/v1/jobs/{job}/events", f"/v1/jobs/{job}/events?follow=false", f"/v1/sessions/{session}/live"):
        assert f"{STREAMS} event streams" in await mallory.refused(path)
    await acme.opens(f"/v1/jobs/{their_job}/events")
    await mallory.close()
    assert here.deps.streams.count_of("mallory") == 0
    await mallory.opens(f"/v1/jobs/{job}/events")


async def test_streams_that_are_opened_at_once_take_no_more_than_the_share(
    here: World, tenants: tuple[Tenant, Tenant]
) -> None:
    mallory, _ = tenants
    job, _ = await mallory.submit()
    path, most = f"/v1/jobs/{job}/events", 0
    tasks = [asyncio.create_task(here.client.get(path, headers=mallory.headers)) for _ in range(4 * STREAMS)]
    async with soon(30):
        while sum(task.done() for task in tasks) < 3 * STREAMS:
            most = max(most, here.deps.streams.count_of("mallory"))
            await asyncio.sleep(0)
    assert {task.result().status_code for task in tasks if task.done()} == {429}
    assert (most, here.deps.streams.count_of("mallory")) == (STREAMS, STREAMS)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
