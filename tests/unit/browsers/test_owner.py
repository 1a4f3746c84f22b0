"""Who starts, replaces and ends browsers."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from agent.testing import FakeBrowser
from services.browsers import owner as owner_module
from services.browsers.config import BrowserLimits
from services.browsers.owner import BrowserOwner


class Launches:
    """Launches fake browsers and remembers them."""

    def __init__(self) -> None:
        self.made: list[FakeBrowser] = []
        self.at_once = self.most_at_once = 0

    async def __call__(self) -> FakeBrowser:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        self.made.append(FakeBrowser({}))
        return self.made[-1]


async def test_sessions_share_one_browser_which_starts_with_the_first_of_them() -> None:
    launches = Launches()
    owner = BrowserOwner(launches, BrowserLimits())
    assert launches.made == []

    async def use() -> FakeBrowser:
        async with owner.lend() as browser:
            await asyncio.sleep(0)
            assert isinstance(browser, FakeBrowser)
            return browser

    browsers = await asyncio.gather(*(use() for _ in range(5)))
    assert len({id(browser) for browser in browsers}) == 1
    assert launches.most_at_once == 1
    await owner.close()
    assert not launches.made[0].alive


async def test_a_worn_out_browser_is_closed_when_its_last_session_ends() -> None:
    launches = Launches()
    owner = BrowserOwner(launches, BrowserLimits(max_sessions=2))
    async with AsyncExitStack() as first:
        await first.enter_async_context(owner.lend())
        await first.enter_async_context(owner.lend())
        async with owner.lend() as third:
            assert third is launches.made[1]
            assert launches.made[0].alive
            assert owner.running == 2
    assert not launches.made[0].alive
    assert launches.made[1].alive
    await owner.close()


async def test_a_dead_browser_is_replaced_at_the_next_loan() -> None:
    launches = Launches()
    owner = BrowserOwner(launches, BrowserLimits())
    async with owner.lend() as browser:
        launches.made[0].kill()
        await owner.suspect(browser)
        await owner.suspect(browser)
    async with owner.lend() as other:
        assert other is launches.made[1]
    assert owner.restarts == 1
    await owner.close()


async def test_a_living_browser_survives_a_suspicion() -> None:
    launches = Launches()
    owner = BrowserOwner(launches, BrowserLimits())
    async with owner.lend() as browser:
        await owner.suspect(browser)
    async with owner.lend() as same:
        assert same is browser
    await owner.close()


async def test_an_idle_browser_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_module, "_LOOK_EVERY_S", 0.01)
    launches = Launches()
    owner = BrowserOwner(launches, BrowserLimits(idle_s=0.02))
    async with owner.lend():
        pass
    async with asyncio.timeout(5):
        while launches.made[0].alive:
            await asyncio.sleep(0.005)
    assert owner.running == 0
    await owner.close()
