"""Playwright's raw trace of a context in the browser's folder: it goes with the context, and has a bound."""

from __future__ import annotations

import asyncio
import stat
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.acting import raw_traces
from shoal.agent.chromium.chromium_browser import ChromiumBrowser
from shoal.agent.chromium.process.launch import launch
from shoal.agent.errors import BrowserError
from shoal.agent.types import Action
from tests.integration.browser.conftest import Site
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.asyncio(loop_scope="session")

TRACED = ContextOptions(trace=True)
SECRET = "tops3cret-Word"


@pytest_asyncio.fixture(loop_scope="session")
async def recorder() -> AsyncIterator[ChromiumBrowser]:
    browser = await launch()
    assert isinstance(browser, ChromiumBrowser)
    yield browser
    await browser.close()


def holding(browser: ChromiumBrowser, text: str) -> list[str]:
    """The files in the browser's folder with this text in them."""
    assert browser.folder is not None
    files = [file for file in browser.folder.rglob("*") if file.is_file()]
    return [file.name for file in files if text.encode() in file.read_bytes()]


def recorded(browser: ChromiumBrowser) -> list[str]:
    """Files and folders of traces."""
    assert browser.folder is not None
    names = [path.name for path in browser.folder.iterdir()]
    return [name for name in names if name.startswith(("trace-", "gone-", "resources", "screencast"))]


async def test_a_raw_trace_goes_with_its_context_and_leaves_another_one_whole(
    recorder: ChromiumBrowser, site: Site, tmp_path: Path
) -> None:
    assert recorder.folder is not None
    assert stat.S_IMODE(recorder.folder.stat().st_mode) == 0o700
    first, second = await recorder.new_context(TRACED), await recorder.new_context(TRACED)
    for context, address in ((first, f"{site.url}/pictures?{SECRET}"), (second, f"{site.url}/pictures")):
        await context.goto(address)
        await context.observe()
    await first.act(Action("keyboard_type", {"text": SECRET}))
    assert await first.end_trace(str(tmp_path / "first.zip"))
    assert holding(recorder, SECRET), "else this test shows nothing"
    await first.close()
    assert [name for name in holding(recorder, SECRET) if name.startswith("trace-")] == []

    assert await second.end_trace(str(tmp_path / "second.zip"))
    with zipfile.ZipFile(tmp_path / "second.zip") as trace:
        assert trace.testzip() is None
        assert any(name.startswith("resources/") for name in trace.namelist())
        assert b"/pictures" in trace.read("trace.network")
    await second.close()
    assert recorded(recorder) == []


async def test_the_trace_of_a_context_that_is_closed_at_once_goes_too(recorder: ChromiumBrowser, site: Site) -> None:
    context = await recorder.new_context(TRACED)
    await context.goto(f"{site.url}/pictures?{SECRET}")
    await context.close()
    assert (holding(recorder, SECRET), recorded(recorder)) == ([], [])


async def test_a_trace_that_grows_too_large_is_given_up(
    recorder: ChromiumBrowser, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_traces, "MOST_RAW_BYTES", 1_000)
    monkeypatch.setattr(raw_traces, "_LOOK_S", 0.05)
    context = await recorder.new_context(TRACED)
    await context.goto(f"{site.url}/pictures")
    async with asyncio.timeout(PATIENCE_S):
        while any(name.startswith("trace-") for name in recorded(recorder)):
            await asyncio.sleep(0.05)
    with pytest.raises(BrowserError, match="more than 1,000 bytes"):
        await context.end_trace(str(tmp_path / "trace.zip"))
    assert (await context.observe()).url == f"{site.url}/pictures", "the session goes on"
    await context.close()
    assert recorded(recorder) == []
