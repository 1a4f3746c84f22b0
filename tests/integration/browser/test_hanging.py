"""A Chromium that hangs: its process is there, and answers nothing."""

from __future__ import annotations

import asyncio
import os
import signal

import psutil
import pytest

from agent.browser import Browser
from agent.chromium.launch import launch
from agent.errors import BrowserGone
from services.browsers import owner as module
from services.browsers.config import BrowserLimits
from services.browsers.owner import BrowserOwner
from tests.integration.browser.conftest import Site


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
            async with asyncio.timeout(30):
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
