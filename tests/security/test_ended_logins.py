"""Logging out ends a login: a copy of its cookie opens nothing, at any gateway of the store, until it would be over."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import httpx
import pytest

from shoal.services.errors import StoreAway
from shoal.services.store.store import Store
from shoal.services.web.api import events
from shoal.services.web.app import create_app
from shoal.services.web.http import auth
from shoal.services.web.openid.config import OpenId
from shoal.services.web.pages.login import COOKIE
from tests.gateway_world import World, world
from tests.openid_provider import CLIENT, faulty_provider
from tests.openid_provider import SECRET as CLIENT_SECRET
from tests.patience import soon

SECRET = b"s" * 32
PUBLIC = "http://127.0.0.1:8700"


@dataclass
class Gateways:
    """Two gateways of one store, and the cookie of a login at the first."""

    world: World
    second: httpx.AsyncClient
    cookie: str = ""

    async def at(self, client: httpx.AsyncClient, path: str = "/status") -> int:
        """Return what a copy of the cookie gets at a gateway."""
        client.cookies.clear()
        return (await client.get(path, headers={"Cookie": f"{COOKIE}={self.cookie}"})).status_code

    async def log_out(self) -> httpx.Response:
        cookie = {"Cookie": f"{COOKIE}={self.cookie}"}
        page = (await self.world.client.get("/status", headers=cookie)).text
        token = re.search(r'name="token" value="([^"]+)"', page)
        assert token is not None
        return await self.world.client.post("/logout", data={"token": token[1]}, headers=cookie)


@pytest.fixture(params=["key", "openid"])
async def gateways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gateways]:
    """Somebody has logged in, by a key or at a provider."""
    monkeypatch.setattr(auth, "KNOWN_FOR_S", 0.0)
    monkeypatch.setattr(events, "OVER_S", 0.05)
    async with AsyncExitStack() as stack:
        openid = OpenId()
        if request.param == "openid":
            provider = await stack.enter_async_context(faulty_provider())
            provider.claims = {"sub": "u1", "groups": ["admins"]}
            told = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": CLIENT_SECRET, "tenant": "acme"}
            openid = OpenId(**told, roles={"admins": "admin"}, public_url=PUBLIC)
        here = await stack.enter_async_context(world(auth=True, openid=openid, cookie_secret=SECRET))
        transport = httpx.ASGITransport(create_app(replace(here.deps)))
        second = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url=PUBLIC))
        if request.param == "key":
            answer = await here.client.post("/login", data={"key": await here.key("read", "submit")})
        else:
            sent = await here.client.get("/login/openid")
            async with httpx.AsyncClient() as elsewhere:
                back = await elsewhere.get(sent.headers["location"])
            answer = await here.client.get(back.headers["location"])
        assert answer.status_code == 303, answer.text
        yield Gateways(here, second, answer.cookies[COOKIE])


async def test_a_copied_cookie_is_refused_at_every_gateway_after_logging_out(gateways: Gateways) -> None:
    first, second = gateways.world.client, gateways.second
    assert [await gateways.at(first), await gateways.at(second)] == [200, 200]
    answer = await gateways.log_out()
    assert answer.status_code == 303 and f"{COOKIE}=" in answer.headers["set-cookie"]
    for client in (first, second):
        for path in ("/status", "/", "/new", "/artifacts/a"):
            assert await gateways.at(client, path) == 303, path


async def test_an_event_stream_ends_with_the_login_that_opened_it(gateways: Gateways) -> None:
    key = await gateways.world.key("submit", tenant="acme")
    spec = {"url": "https://shop.example/", "goal": "look"}
    made = await gateways.world.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
    stream = asyncio.create_task(gateways.at(gateways.second, f"/jobs/{made.json()['id']}/events"))
    async with soon(30):
        while not gateways.world.deps.streams.count_of("acme"):
            await asyncio.sleep(0.01)
    await gateways.log_out()
    assert await asyncio.wait_for(stream, 30) == 200


async def test_another_login_of_the_same_key_goes_on() -> None:
    async with world(auth=True, cookie_secret=SECRET) as here:
        key = await here.key("read")
        cookies = [(await here.client.post("/login", data={"key": key})).cookies[COOKIE] for _ in range(2)]
        assert cookies[0] != cookies[1]
        ended, other = (Gateways(here, here.client, cookie) for cookie in cookies)
        await ended.log_out()
        assert [await ended.at(here.client), await other.at(here.client)] == [303, 200]


async def test_a_login_that_could_not_be_ended_is_not_told_as_ended(
    gateways: Gateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(self: Store, login: str, lasts_s: float) -> None:
        raise StoreAway("the store does not answer")

    monkeypatch.setattr(Store, "end_login", away)
    answer = await gateways.log_out()
    assert answer.status_code == 503 and "set-cookie" not in answer.headers
