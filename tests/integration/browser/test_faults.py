"""Pages and browsers that misbehave: a typed error within its limit, and what is not hit works on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import Browser, Context, ContextOptions, ObserveOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.chromium.process.launch import LaunchOptions, launch
from shoal.agent.errors import (
    ActionTimeout,
    AgentError,
    BrowserError,
    BrowserGone,
    BrowserNotFound,
    ConnectionLost,
    HostUnreachable,
    NavigationError,
    NavigationTimeout,
    PageCrashed,
)
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.spec import BrowserSpec
from shoal.agent.support.web_addresses import WEB
from shoal.agent.types import Action
from tests.integration.browser.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

# chrome: only for chrome://crash, the one sure way to end a renderer.
PATIENT = ContextOptions(action_timeout_s=30.0, schemes=(*WEB, "chrome"))
HASTY = replace(PATIENT, action_timeout_s=2.5, download_timeout_s=2.5)
"""Only for what waits its limit out: on a busy machine other actions and looks may take that long."""
OPENS_S = 1.5
"""The limit of a navigation that never ends; all others have half a minute."""
SOON_S = 60.0
"""A call that a hanging page holds up would last for ever. All others end within this, on a busy machine, too."""
NEVER = replace(PATIENT, action_timeout_s=10 * SOON_S)
"""For a call that has to end before its limit."""


ids = ["acting", "reading"]
both = pytest.mark.parametrize("hasty", [HASTY, replace(HASTY, reading=True)], ids=ids, indirect=True)
both_patient = pytest.mark.parametrize("patient", [PATIENT, replace(PATIENT, reading=True)], ids=ids, indirect=True)


@pytest_asyncio.fixture(loop_scope="session")
async def hasty(browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Context]:
    """A context with short limits of actions, calls into the page and downloads."""
    async with _opened(browser, getattr(request, "param", HASTY)) as context:
        yield context


@pytest_asyncio.fixture(loop_scope="session")
async def patient(browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Context]:
    """A context whose limits no honest page meets."""
    async with _opened(browser, getattr(request, "param", PATIENT)) as context:
        yield context


@contextlib.asynccontextmanager
async def _opened(browser: Browser, options: ContextOptions) -> AsyncIterator[Context]:
    context = await browser.new_context(options)
    yield context
    async with asyncio.timeout(SOON_S):
        await context.close()


async def works(browser: Browser, site: Site) -> None:
    """Another session in the same browser goes on."""
    context = await browser.new_context()
    assert (await context.goto(f"{site.url}/second")).status == 200
    await context.close()


# --- pages -------------------------------------------------------------------------------------------------


@both
async def test_a_page_that_never_answers(hasty: Context, site: Site, browser: Browser) -> None:
    with pytest.raises(NavigationTimeout, match=r"within 1\.5 s"):
        await hasty.goto(f"{site.url}/hang", timeout_s=OPENS_S)
    assert (await hasty.goto(f"{site.url}/second")).status == 200


@both_patient
async def test_a_connection_that_is_reset_half_way(patient: Context, site: Site) -> None:
    """Not a page that takes too long: that is known at once."""
    with pytest.raises(ConnectionLost, match="ended before the page was whole") as lost:
        await patient.goto(f"{site.url}/cut")
    assert lost.value.retryable and lost.value.code == "connection_lost"
    assert (await patient.goto(f"{site.url}/second")).status == 200


@both_patient
async def test_an_endless_redirect(patient: Context, site: Site) -> None:
    with pytest.raises(NavigationError, match="ERR_TOO_MANY_REDIRECTS"):
        await patient.goto(f"{site.url}/redirect")


@both_patient
async def test_nobody_listens_and_no_such_host(patient: Context) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(HostUnreachable):
        await patient.goto(f"http://127.0.0.1:{port}/")
    with pytest.raises(HostUnreachable):
        await patient.goto("http://no-such-host.invalid/")


@both_patient
async def test_an_address_that_is_none(patient: Context) -> None:
    with pytest.raises(NavigationError):
        await patient.goto("http://[bad")


@both_patient
@pytest.mark.parametrize(("path", "status"), [("/missing", 404), ("/busy", 503), ("/empty500", 500), ("/second", 200)])
async def test_an_error_status_is_an_answer(patient: Context, site: Site, path: str, status: int) -> None:
    landing = await patient.goto(f"{site.url}{path}")
    assert landing.status == status
    assert landing.url == f"{site.url}{path}"
    assert landing.retry_after_s == (7 if path == "/busy" else None)


@both_patient
async def test_an_address_that_is_a_download(patient: Context, site: Site) -> None:
    landing = await patient.goto(f"{site.url}/file/invoice.pdf")
    assert landing.status == 200
    (file,) = await patient.downloads()
    assert (file.filename, file.text) == ("invoice.pdf", "[page 1]\nInvoice 7")


@both
async def test_an_alert_loop(hasty: Context, site: Site, browser: Browser) -> None:
    with pytest.raises(NavigationTimeout):
        await hasty.goto(f"{site.url}/alerts", timeout_s=OPENS_S)
    await works(browser, site)


async def test_an_alert_loop_that_a_click_begins(hasty: Context, site: Site, browser: Browser) -> None:
    await hasty.goto(f"{site.url}/alertbutton")
    (button,) = clickable_elements((await hasty.observe()).elements)
    started = time.monotonic()
    try:
        result = await hasty.act(Action("click", {"bid": button.bid}))
        assert result.error is not None and result.error.code == "action_timeout"
    except PageCrashed:
        pass  # the look for the effect found it hanging
    assert time.monotonic() - started < SOON_S
    await works(browser, site)


@both
async def test_a_page_that_loads_itself_again_and_again(hasty: Context, site: Site, browser: Browser) -> None:
    started = time.monotonic()
    with contextlib.suppress(AgentError):  # one load of the many may be taken for the page
        await hasty.goto(f"{site.url}/again", timeout_s=OPENS_S)
    with contextlib.suppress(AgentError):
        assert (await hasty.observe()).url == f"{site.url}/again"
    assert not await hasty.settle(quiet_s=0.5, budget_s=1.5)
    assert time.monotonic() - started < SOON_S
    where = ""
    async with asyncio.timeout(SOON_S):
        # Its own loads may swallow ours, or overtake it; errors are typed, and the tab works on.
        while where != f"{site.url}/second":
            with contextlib.suppress(AgentError):
                await hasty.goto(f"{site.url}/second", timeout_s=5)
                await hasty.settle(quiet_s=0.1, budget_s=0.5)
                where = (await hasty.observe()).url


async def test_a_page_of_two_hundred_megabytes(hasty: Context, site: Site, browser: Browser) -> None:
    started = time.monotonic()
    with pytest.raises((NavigationTimeout, PageCrashed)):
        await hasty.goto(f"{site.url}/huge", timeout_s=OPENS_S)
    assert time.monotonic() - started < SOON_S
    await works(browser, site)
    with contextlib.suppress(PageCrashed):  # a renderer that is still busy with it may have been given up
        assert (await hasty.goto(f"{site.url}/second")).status == 200


async def test_a_tab_that_asks_before_it_is_left_is_closed_and_reloaded(patient: Context, site: Site) -> None:
    await patient.act(Action("new_tab"))
    await patient.goto(f"{site.url}/leave")
    (button,) = clickable_elements((await patient.observe()).elements)
    await patient.act(Action("click", {"bid": button.bid}))
    reloaded = await patient.act(Action("reload"))
    assert reloaded.error is None
    (button,) = clickable_elements((await patient.observe()).elements)
    await patient.act(Action("click", {"bid": button.bid}))
    assert (await patient.act(Action("tab_close"))).error is None
    assert len((await patient.observe()).tabs) == 1


async def test_a_renderer_that_spins(hasty: Context, site: Site, browser: Browser) -> None:
    await hasty.goto(f"{site.url}/spin")
    (button,) = clickable_elements((await hasty.observe()).elements)
    started = time.monotonic()
    try:
        result = await hasty.act(Action("click", {"bid": button.bid}))
        assert result.error is not None and result.error.code == "action_timeout"
    except PageCrashed:
        pass  # the look for the effect found it hanging
    with pytest.raises((ActionTimeout, PageCrashed)):
        await hasty.read("() => 1")
    with pytest.raises((ActionTimeout, PageCrashed)):
        await hasty.observe(ObserveOptions(screenshot=True))
    assert time.monotonic() - started < SOON_S
    await works(browser, site)


@both_patient
async def test_a_crash(patient: Context, site: Site, browser: Browser) -> None:
    await patient.goto(f"{site.url}/second")
    with pytest.raises(PageCrashed):
        await patient.goto("chrome://crash")
    for call in (patient.read("() => 1"), patient.observe(), patient.screenshot(), patient.goto(f"{site.url}/second")):
        with pytest.raises(PageCrashed):
            await call
    with pytest.raises(PageCrashed):
        await patient.act(Action("scroll", {"dx": 0, "dy": 1}))
    await works(browser, site)


@pytest.mark.parametrize("patient", [NEVER, replace(NEVER, reading=True)], ids=ids, indirect=True)
async def test_a_crash_ends_a_call_that_is_under_way(patient: Context, site: Site) -> None:
    await patient.goto(f"{site.url}/second")
    waiting = asyncio.ensure_future(patient.read("() => new Promise(() => {})"))
    await patient.read("() => 1")  # the other call is in the page by now
    with pytest.raises(PageCrashed):
        await patient.goto("chrome://crash")
    with pytest.raises(PageCrashed):
        async with asyncio.timeout(SOON_S):
            await waiting


async def test_a_crash_of_a_tab_in_the_background_ends_no_call(patient: Context, site: Site) -> None:
    assert isinstance(patient, ActingContext)
    await patient.goto(f"{site.url}/second")
    background = patient.tab
    assert (await patient.act(Action("new_tab"))).error is None
    await patient.goto(f"{site.url}/acts")
    answered = asyncio.ensure_future(patient.read("() => new Promise(done => { globalThis.answer = done })"))
    await patient.read("() => 1")
    with pytest.raises(PlaywrightError):
        await background.page.goto("chrome://crash")
    await background.crashes(within_s=SOON_S)
    await patient.read("() => globalThis.answer(5)")
    assert (background.crashed, await answered) == (True, 5)


async def test_a_crash_while_a_text_is_waited_for(patient: Context, site: Site, browser: Browser) -> None:
    await patient.goto(f"{site.url}/second")
    await patient.observe()
    waiting = asyncio.ensure_future(patient.act(Action("wait_for", {"text": "no such text", "timeout": 20})))
    await patient.read("() => new Promise(done => setTimeout(done, 300))")  # every frame is watched by now
    with pytest.raises(AgentError):
        await patient.goto("chrome://crash")
    with pytest.raises(PageCrashed):
        await waiting
    await works(browser, site)


async def test_a_download_that_never_ends(hasty: Context, site: Site) -> None:
    await hasty.goto(f"{site.url}/acts")
    link = next(e for e in clickable_elements((await hasty.observe()).elements) if e.name == "Endless")
    result = await hasty.act(Action("download", {"bid": link.bid}))
    assert result.error is not None and result.error.code == "download_failed"
    assert any("endless.bin" in line for line in (await hasty.observe()).console_errors)


@both
async def test_a_script_that_throws_and_one_that_never_returns(hasty: Context, site: Site) -> None:
    await hasty.goto(f"{site.url}/second")
    with pytest.raises(AgentError, match="no good"):
        await hasty.read("() => { throw new Error('no good') }")
    with pytest.raises(ActionTimeout):
        await hasty.read("() => new Promise(() => {})")
    assert await hasty.read("x => x + 1", 41) == 42


@both_patient
async def test_reading_while_the_page_goes_elsewhere(patient: Context, site: Site) -> None:
    await patient.goto(f"{site.url}/second")
    await patient.read("() => { location.href = '/acts' }")
    arrived = """() => new Promise(done => {
        if (location.pathname !== '/acts') return;
        if (document.title) done(document.title);
        else addEventListener('DOMContentLoaded', () => done(document.title));
    })"""
    assert await patient.read(arrived) == "Acts", "the page that was left gives no answer"


@both_patient
async def test_a_page_whose_own_scripts_are_hostile(patient: Context, site: Site) -> None:
    await patient.goto(f"{site.url}/second")
    await patient.read(
        """() => { const s = document.createElement('script'); s.textContent =
        'JSON.stringify = Array.prototype.map = document.querySelector = () => { throw 1 }; window.eval = null;';
        document.head.append(s); }"""
    )
    assert await patient.read("() => JSON.stringify([1].map(x => document.querySelector('h1').textContent))") == (
        '["The second page"]'
    )
    assert len(clickable_elements((await patient.observe()).elements)) == 1


async def test_a_context_whose_resources_cannot_be_blocked_is_closed_again(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object) -> None:
        raise PlaywrightError("no")

    monkeypatch.setattr("shoal.agent.chromium.acting.acting_context.block", refused)
    before = (await browser.health()).contexts
    with pytest.raises(AgentError):
        await browser.new_context(ContextOptions(browser=BrowserSpec(block=("image",))))
    assert (await browser.health()).contexts == before


# --- the process --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", [False, True], ids=["acting", "reading"])
async def test_a_killed_browser_is_gone_for_every_pending_and_later_call(site: Site, reading: bool) -> None:
    browser = await launch()
    limits = ContextOptions(action_timeout_s=100, navigation_timeout_s=100)
    context = await browser.new_context(replace(limits, reading=reading))
    await context.goto(f"{site.url}/second")
    pids = (await browser.health()).pids
    assert pids
    pending = [
        asyncio.ensure_future(context.read("() => new Promise(() => {})")),
        asyncio.ensure_future(context.goto(f"{site.url}/hang")),
    ]
    await (await browser.new_context()).goto(f"{site.url}/second")  # by then the others are under way
    started = time.monotonic()
    os.kill(pids[0], signal.SIGKILL)
    for call in pending:
        with pytest.raises(BrowserGone):
            await call
    for later in (context.read("() => 1"), context.observe(), context.screenshot(), context.storage_state()):
        with pytest.raises(BrowserGone):
            await later
    with pytest.raises(BrowserGone):
        await context.act(Action("go_back"))
    with pytest.raises(BrowserGone):
        await browser.new_context()
    assert not (await browser.health()).alive
    await context.close()
    await browser.close()
    assert time.monotonic() - started < SOON_S, "no limit of a call is waited for"
    assert not _running(pids)


@pytest.fixture
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder that no other test uses: browsers of other rings come and go in the machine's."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


async def test_a_browser_leaves_nothing_behind(tmp_path: Path, own_temp: Path, site: Site) -> None:
    given = tmp_path / "given"
    given.mkdir()
    browser = await launch(LaunchOptions(temp_dir=str(given)))
    context = await browser.new_context()
    await context.goto(f"{site.url}/acts")
    link = next(e for e in clickable_elements((await context.observe()).elements) if e.name == "Notes")
    await context.act(Action("download", {"bid": link.bid}))
    pids = (await browser.health()).pids
    profile = _profile(pids)
    assert profile.is_dir() and list(given.iterdir()), "nothing was written at all: the folders are not looked at"
    await browser.close()
    await browser.close()
    assert not _running(pids)
    assert not profile.exists()
    assert list(given.iterdir()) == []
    left = {path.name for path in own_temp.iterdir()}
    assert not [name for name in left if name.startswith(("playwright", "shoal-downloads", "shoal-uploads"))]


async def test_a_killed_browser_leaves_no_profile_behind() -> None:
    browser = await launch()
    pids = (await browser.health()).pids
    profile = _profile(pids)
    assert profile.is_dir(), "the browser's profile is not looked at"
    os.kill(pids[0], signal.SIGKILL)
    await browser.close()
    assert not profile.exists()


def _running(pids: Sequence[int]) -> list[int]:
    """Those of these processes that have not ended; some machines keep the entries of ended ones for a while."""
    return [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


def _profile(pids: Sequence[int]) -> Path:
    """The profile's folder of the browser whose processes these are: the driver chooses it, which other tests share."""
    flag = "--user-data-dir="
    words = (word for pid in pids for word in psutil.Process(pid).cmdline())
    return Path(next(word.removeprefix(flag) for word in words if word.startswith(flag)))


async def test_what_is_no_browser_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrowserNotFound, match="nowhere"):
        find_chromium(str(tmp_path / "nowhere"))
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    with pytest.raises(BrowserError, match="did not start"):
        await launch(LaunchOptions(executable=str(fake), timeout_s=10))


async def test_errors_cross_processes_with_what_they_know() -> None:
    error = pickle.loads(pickle.dumps(NavigationTimeout("slow", url="https://example.com")))
    assert (type(error), error.message, error.details) == (NavigationTimeout, "slow", {"url": "https://example.com"})
