"""A Chromium that hangs: its process is there, and answers nothing."""

from __future__ import annotations

import asyncio
import os
import signal

import psutil
import pytest

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.chromium import call_deadlines
from shoal.agent.chromium.acting import acting_context
from shoal.agent.chromium.acting.settling.readiness import Readiness
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.process.launch import launch
from shoal.agent.errors import BrowserGone, PageHangs, ReadTimeout
from shoal.agent.types import Action
from shoal.services.browsers.config import BrowserLimits
from shoal.services.browsers.session_parts import browser_owner as module
from shoal.services.browsers.session_parts.browser_owner import BrowserOwner
from tests.integration.browser.conftest import Site
from tests.patience import PATIENCE_S


async def test_a_chromium_that_hangs_is_ended_and_replaced(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ANSWER_S", 3.0)
    made: list[Browser] = []

    async def start() -> Browser:
        made.append(await launch())
        return made[-1]

    owner = BrowserOwner(start, BrowserLimits())
    try:
        async with owner.lend() as browser:
            context = await browser.new_context()
            await context.goto(f"{site.url}/second")
            pids = (await browser.health()).pids
            os.kill(pids[0], signal.SIGSTOP)
            assert (await browser.health()).alive, "that is all that can be seen from outside"
            reading = asyncio.create_task(context.goto(f"{site.url}/wanted"))
            async with asyncio.timeout(PATIENCE_S):
                await owner.suspect(browser)
                async with owner.lend() as other:
                    assert other is made[1]
                    again = await other.new_context()
                    assert (await again.goto(f"{site.url}/second")).status == 200
                    await again.close()
                with pytest.raises(BrowserGone):
                    await reading
        assert (owner.restarts, owner.running) == (1, 1)
    finally:
        await owner.close()
    assert not any(psutil.pid_exists(pid) for pid in pids)


async def test_every_look_at_a_page_says_that_its_browser_hangs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that another browser mends: what a session was about to see is tried again."""
    monkeypatch.setattr(call_deadlines, "_ANSWER_S", 3.0)
    browser = await launch()
    context = await browser.new_context(ContextOptions(action_timeout_s=3.0))
    bare = await browser.new_context(ContextOptions(action_timeout_s=3.0, reading=True))
    try:
        for one in (context, bare):
            await one.goto(f"{site.url}/second")
        await context.observe()
        os.kill((await browser.health()).pids[0], signal.SIGSTOP)
        looks = (context.observe, context.screenshot, context.storage_state, bare.screenshot, bare.storage_state)
        # Beside each other: each waits out its own time limit.
        for told in await asyncio.gather(*(look() for look in looks), return_exceptions=True):
            assert isinstance(told, BrowserGone) and told.retryable
            assert "does not answer" in str(told)
    finally:
        await browser.close()


async def test_a_page_that_hangs_alone_is_told_as_such(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_deadlines, "_ANSWER_S", 3.0)
    browser = await launch()
    try:
        for reading in (False, True):
            context = await browser.new_context(ContextOptions(action_timeout_s=2.0, reading=reading))
            await context.goto(f"{site.url}/second")
            with pytest.raises(ReadTimeout):  # a script of ours that takes long is no page that hangs
                await context.read("() => new Promise(() => {})")
            await context.read("() => { setTimeout(() => { for (;;); }, 0) }")
            looks = (context.read("() => 1"), context.observe(), context.screenshot())
            for told in await asyncio.gather(*looks, return_exceptions=True):
                assert isinstance(told, PageHangs) and told.retryable
                assert "while its browser does" in str(told)
            other = await browser.new_context()
            assert (await other.goto(f"{site.url}/second")).status == 200
    finally:
        await browser.close()


async def never(*_: object) -> None:
    await asyncio.Event().wait()


async def test_a_look_that_is_slow_on_a_page_that_is_well_is_told_as_such(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = await launch()
    try:
        context = await browser.new_context(ContextOptions(action_timeout_s=1.0))
        await context.goto(f"{site.url}/second")
        monkeypatch.setattr(acting_context, "prospect", never)
        monkeypatch.setattr(acting_context, "viewport_shot", never)
        monkeypatch.setattr(Tab, "walk", never)
        looks = (context.prospect(Action("click", {"bid": "1"})), context.observe(), context.screenshot())
        for told in await asyncio.gather(*looks, return_exceptions=True):
            assert isinstance(told, ReadTimeout), told
        assert await context.read("() => 1") == 1
    finally:
        await browser.close()


async def test_a_page_that_is_never_ready_is_looked_at_all_the_same(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait for it is none of the look's time."""
    browser = await launch()
    try:
        context = await browser.new_context(ContextOptions(action_timeout_s=1.0, look_timeout_s=PATIENCE_S))
        await context.goto(f"{site.url}/second")
        monkeypatch.setattr(Readiness, "come", never)
        async with asyncio.timeout(PATIENCE_S):
            assert (await context.observe()).in_progress == "scripts without a pause"
    finally:
        await browser.close()


@pytest.mark.parametrize("reading", [False, True])
async def test_a_browser_that_stood_still_for_a_while_ends_no_item(site: Site, reading: bool) -> None:
    """It answers again before it is given up: the read that it did not answer is tried by another attempt."""
    browser = await launch()
    try:
        context = await browser.new_context(ContextOptions(action_timeout_s=2.0, reading=reading))
        await context.goto(f"{site.url}/second")
        main = (await browser.health()).pids[0]
        os.kill(main, signal.SIGSTOP)
        asyncio.get_running_loop().call_later(3.0, os.kill, main, signal.SIGCONT)
        with pytest.raises(ReadTimeout) as told:
            await context.read("() => 1")
        assert told.value.retryable
        assert await context.read("() => 1") == 1
    finally:
        await browser.close()
