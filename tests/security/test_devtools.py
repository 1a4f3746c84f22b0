"""The way to a browser's DevTools: it has none but for those who started it."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import psutil

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.chromium_browser import ChromiumBrowser
from shoal.agent.chromium.devtools.reading_context import ReadingContext
from shoal.agent.chromium.process.launch import LaunchOptions, launch
from tests.security.world import hostile_site


async def test_no_port_and_no_socket_leads_to_a_browser(tmp_path: Path) -> None:
    browser = await launch(LaunchOptions(temp_dir=str(tmp_path)))
    assert isinstance(browser, ChromiumBrowser)
    reading, acting = await browser.new_context(ContextOptions(reading=True)), await browser.new_context()
    assert isinstance(reading, ReadingContext)
    with hostile_site() as site:
        address = site.page("/open", "<p>A page")
        await asyncio.gather(reading.goto(address), acting.goto(address))  # each by a client of its own
        assert [await context.read("() => document.title") for context in (reading, acting)] == ["A shop", "A shop"]
    processes = [psutil.Process(pid) for pid in (await browser.health()).pids]
    doors = [door for process in processes for door in process.net_connections("inet") if door.status == "LISTEN"]
    assert not doors, "every user of the machine may reach a port"
    listening = [door.laddr for process in processes for door in process.net_connections("unix") if door.laddr]
    assert not [door for door in listening if "devtools" in str(door).lower()]
    assert stat.S_IMODE(browser.folder.stat().st_mode) == 0o700, "the socket stood there while the browser began"
    assert not [path for path in browser.folder.rglob("*") if path.is_socket()]
    await browser.close()
