"""Files that come by way of a window of their own, also where tabs answer late: each action ends in time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.wire.connection import Session
from shoal.agent.types import Action
from tests.integration.browser.test_files import ids
from tests.loopback import served
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIMIT_S = 4.0
"""Of an action; what is done around it, looks at the page, may take as long again."""
SLOW_S = 0.4
"""Until a new tab can be asked, as on a machine with much more to do than it can."""
ONCE = '<title>Export</title><button onclick="{does}">Export</button>'
FETCHES = "<title>File</title><a id=a href=/file.csv download>File</a><script>a.click(); {then}</script>"
PAGES = {
    "/closes": FETCHES.format(then="window.close()"),
    "/closes-late": FETCHES.format(then="setTimeout(() => window.close(), 50)"),
    "/leaves": "<script>opener.location = '/file.csv'; window.close()</script>",
}
GIVEN = {
    "a window for the file": "window.open('/file.csv')",
    "an empty window sent there": "window.open('about:blank').location = '/file.csv'",
    "a window that sends the page there": "window.open('/leaves')",
    "a window that is closed, then the file": "window.open('about:blank').close(); location = '/file.csv'",
    "a slow file": "window.open('/slow.csv')",
}
CLOSED = {
    "a window that closes at once": "window.open('/closes')",
    "a window that closes a moment later": "window.open('/closes-late')",
    "a window that is closed early": "const one = window.open('/slow.csv'); setTimeout(() => one.close())",
}
"""Chromium may keep such a file without a word to anybody."""
MISSING = {
    "a window that is never answered": ("window.open('/never')", ""),
    "a file that is cut off": ("window.open('/cut.csv')", "could not be downloaded"),
    "a file that never ends": ("window.open('/endless.csv')", "did not end within"),
}


class _Handler(BaseHTTPRequestHandler):
    stop: threading.Event
    does = ""

    def do_GET(self) -> None:
        path = self.path
        if path in PAGES or path == "/":
            self._head("text/html", page := PAGES.get(path, ONCE.format(does=type(self).does)).encode())
            self.wfile.write(page)
        elif path == "/never":
            self.stop.wait(30)
        else:
            if path == "/slow.csv":
                self.stop.wait(0.4)
            whole = path not in ("/cut.csv", "/endless.csv")
            self._head("text/csv", b"x" * (3 if whole else 9))
            self.wfile.write(b"a,b")
            self.wfile.flush()
            if path == "/endless.csv":
                self.stop.wait(30)

    def _head(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.fixture
def site() -> Iterator[tuple[str, type[_Handler]]]:
    stop = threading.Event()
    handler = type("Handler", (_Handler,), {"stop": stop})
    with served(handler) as url:
        yield url, handler
        stop.set()


async def export(
    browser: Browser, site: tuple[str, type[_Handler]], does: str, action: str, *, waits: bool = True
) -> tuple[str, list[str]]:
    """Why the action failed, and the files and failures that are told then; with `waits`, the first is waited for."""
    url, handler = site
    handler.does = does
    context = await browser.new_context(ContextOptions(action_timeout_s=LIMIT_S, download_timeout_s=1.0))
    try:
        await context.goto(url)
        bid = (await ids(context))["Export"]
        began = time.monotonic()
        result = await context.act(Action(action, {"bid": bid}))
        told: list[str] = []
        async with asyncio.timeout(PATIENCE_S):
            while True:
                seen = await context.observe()
                told += [f"{file.filename}: {file.bytes}" for file in seen.downloads] + list(seen.console_errors)
                if told or not waits:
                    break
        assert time.monotonic() - began < 5 * LIMIT_S, result
        return result.error.message if result.error else "", told
    finally:
        await context.close()


@pytest.fixture(params=["at once", "late"])
def tabs_answer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "late":
        session = Tab.session

        async def late(tab: Tab) -> Session:
            if tab._session is None:
                await asyncio.sleep(SLOW_S)
            return await session(tab)

        monkeypatch.setattr(Tab, "session", late)


@pytest.mark.usefixtures("tabs_answer")
@pytest.mark.parametrize("does", GIVEN.values(), ids=GIVEN)
async def test_a_file_comes_by_whatever_window(browser: Browser, site: tuple[str, type[_Handler]], does: str) -> None:
    for action in ("download", "click"):
        failed, told = await export(browser, site, does, action)
        assert (failed, told) == ("", [f"{'slow' if 'slow' in does else 'file'}.csv: 3"])


@pytest.mark.usefixtures("tabs_answer")
@pytest.mark.parametrize("does", CLOSED.values(), ids=CLOSED)
async def test_a_window_that_closes_itself_keeps_no_action_and_no_file_is_made_up(
    browser: Browser, site: tuple[str, type[_Handler]], does: str
) -> None:
    for action in ("download", "click"):
        failed, told = await export(browser, site, does, action, waits=False)
        assert failed in ("", "no download began") and (not failed or action == "download")
        assert [one.endswith(".csv: 3") for one in told] in ([], [True])
        assert told or failed or action == "click", "a download that is called done was told"


@pytest.mark.usefixtures("tabs_answer")
@pytest.mark.parametrize(("does", "why"), MISSING.values(), ids=MISSING)
async def test_a_file_that_does_not_come_is_said_so_in_time(
    browser: Browser, site: tuple[str, type[_Handler]], does: str, why: str
) -> None:
    failed, _ = await export(browser, site, does, "download", waits=False)
    assert failed and why in failed
    _, told = await export(browser, site, does, "click", waits=bool(why))
    assert not [one for one in told if one.endswith(": 3")]
    assert why in "".join(told)
