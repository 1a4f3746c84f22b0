"""Who starts, replaces and ends browsers."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from shoal.agent.browser import ContextOptions
from shoal.agent.errors import BrowserGone
from shoal.services.browsers.config import BrowserLimits
from shoal.services.browsers.session_parts import browser_owner as owner_module
from shoal.services.browsers.session_parts.browser_owner import BrowserOwner
from shoal.services.events import LogEvent
from shoal.services.metrics_delta import MetricsDelta
from tests.doubles import FakeBrowser
from tests.doubles.browser_double import FakeContext
from tests.patience import soon


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


async def test_the_age_of_the_oldest_browser_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(owner_module, "time", SimpleNamespace(monotonic=lambda: now))
    owner = BrowserOwner(Launches(), BrowserLimits(max_sessions=1))
    assert owner.oldest_s is None
    async with AsyncExitStack() as first:
        await first.enter_async_context(owner.lend())
        now = 107.0
        async with owner.lend():  # by a second browser
            now = 110.0
            assert (owner.running, owner.oldest_s) == (2, 10.0)
            await first.aclose()
            assert (owner.running, owner.oldest_s) == (1, 3.0)
    await owner.close()
    assert owner.oldest_s is None


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


class Hung(FakeBrowser):
    """Its process is there, and does nothing any more."""

    hung = False

    async def new_context(self, options: ContextOptions = ContextOptions()) -> FakeContext:
        if self.hung:
            raise BrowserGone("it did not open a new context in time")
        return await super().new_context(options)


async def test_a_browser_that_hangs_is_ended_under_its_sessions_and_replaced() -> None:
    made: list[Hung] = []

    async def launch() -> FakeBrowser:
        made.append(Hung({}))
        return made[-1]

    metrics_delta = MetricsDelta()
    owner = BrowserOwner(launch, BrowserLimits(), metrics_delta=metrics_delta)
    async with owner.lend() as browser:
        made[0].hung = True
        await owner.suspect(browser)
        async with owner.lend() as other, soon(14):
            assert other is made[1]
            while made[0].alive:
                await asyncio.sleep(0.005)
    assert (owner.running, owner.restarts, metrics_delta.counts["shoal_browser_restarts",]) == (1, 1, 1)
    await owner.close()


async def test_a_dead_browser_that_nobody_uses_is_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_module, "_LOOK_EVERY_S", 0.01)
    launches, metrics_delta = Launches(), MetricsDelta()
    owner = BrowserOwner(launches, BrowserLimits(), metrics_delta=metrics_delta)
    async with owner.lend():
        pass
    launches.made[0].kill()
    async with soon(14):
        while owner.running:
            await asyncio.sleep(0.005)
    assert (owner.restarts, metrics_delta.counts["shoal_browser_restarts",]) == (1, 1)
    await owner.close()


async def test_a_browser_that_holds_much_is_replaced_and_one_that_takes_all_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner_module, "_LOOK_EVERY_S", 0.01)
    launches = Launches()
    owner = BrowserOwner(launches, BrowserLimits(max_rss_bytes=1000))
    async with owner.lend(), soon(14):
        (first,) = launches.made
        first.rss_bytes = 1200
        while not owner._old:
            await asyncio.sleep(0.005)
        async with owner.lend() as second:
            assert second is launches.made[1] and first.alive
            first.rss_bytes = 1600  # no new sessions, and it grows all the same
            while first.alive:
                await asyncio.sleep(0.005)
            launches.made[1].rss_bytes = 1600
            while launches.made[1].alive:
                await asyncio.sleep(0.005)
    assert (owner.running, owner.restarts) == (0, 2)
    await owner.close()


async def test_pages_of_every_browser_that_runs_are_held_to_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_module, "_RESTRAIN_EVERY_S", 0.01)
    launches = Launches()
    owner = BrowserOwner(launches, BrowserLimits(max_sessions=1, page_bytes=77))
    async with owner.lend(), owner.lend(), soon(14):
        while not all(one.restrained for one in launches.made):
            await asyncio.sleep(0.005)
    assert [set(one.restrained) for one in launches.made] == [{77}, {77}]
    await owner.close()


async def test_an_idle_browser_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_module, "_LOOK_EVERY_S", 0.01)
    launches = Launches()
    owner = BrowserOwner(launches, BrowserLimits(idle_s=0.02))
    async with owner.lend():
        pass
    async with soon(14):
        while launches.made[0].alive:
            await asyncio.sleep(0.005)
    assert owner.running == 0
    await owner.close()


class Stubborn(FakeBrowser):
    """It ends, and says that it could not be tidied up."""

    async def close(self) -> None:
        await super().close()
        raise OSError("its folder is gone already")


async def test_browsers_are_still_replaced_after_one_could_not_be_tidied_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_module, "_LOOK_EVERY_S", 0.01)
    made: list[FakeBrowser] = [Stubborn({}), FakeBrowser({})]
    left = iter(made)

    async def launch() -> FakeBrowser:
        return next(left)

    owner = BrowserOwner(launch, BrowserLimits(idle_s=0.02))
    with capture_logs() as logs:
        for one in made:
            async with owner.lend() as browser:
                assert browser is one
            async with soon(14):
                while one.alive or owner.running:
                    await asyncio.sleep(0.005)
    failures = [line for line in logs if line["event"] == LogEvent.LOOP_FAILED]
    assert [(line["loop"], line["exc_info"]) for line in failures] == [("maintain-browsers", True)]
    await owner.close()
