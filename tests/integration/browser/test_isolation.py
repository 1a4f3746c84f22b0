"""Contexts that serve several sessions: what one session leaves behind, the next must not find."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any, cast

import pytest
import pytest_asyncio

from agent.browser import Browser, Context, ContextOptions
from agent.chromium import launch
from agent.chromium.context import ChromiumContext
from agent.chromium.reading import ReadingContext
from agent.errors import NavigationError
from agent.spec import BrowserSpec
from agent.types import Action
from tests.loopback import served

SHARED = ContextOptions(reuse="job-1")

PLANT = """
const plant = async () => {
  document.cookie = 'seen=1; max-age=9999';
  localStorage.setItem('seen', '1');
  sessionStorage.setItem('seen', '1');
  window.name = 'seen';
  history.pushState({}, '', '/plant?again');
  await new Promise((done) => {
    const opening = indexedDB.open('seen', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('things');
    opening.onsuccess = () => { opening.result.close(); done(); };
  });
  await (await caches.open('seen')).put('/kept', new Response('kept'));
  await navigator.serviceWorker.register('/worker.js');
  await (await navigator.storage.getDirectory()).getFileHandle('seen', {create: true});
  await new Promise((done) => { const shared = new SharedWorker('/shared.js'); shared.port.onmessage = done; });
  await new Promise((done) => navigator.geolocation.getCurrentPosition(done, done));
  // What a page that resists does: it writes again for as long as it can.
  const again = () => { localStorage.setItem('late', '1'); document.cookie = 'late=1'; };
  addEventListener('pagehide', again);
  addEventListener('unload', again);
  setInterval(again, 1);
  document.title = 'planted';
};
plant();
"""

PLANTED = """() => new Promise((done) => {
  const look = setInterval(() => { if (document.title === 'planted') { clearInterval(look); done(true); } }, 5);
})"""

PROBE = """async () => {
  const files = [];
  for await (const name of (await navigator.storage.getDirectory()).keys()) files.push(name);
  return {
    sent: (await (await fetch('/sent')).json()).cookie,
    cookie: document.cookie,
    local: Object.keys(localStorage).sort().join(),
    session: Object.keys(sessionStorage).join(),
    name: window.name,
    history: history.length,
    databases: (await indexedDB.databases()).map((one) => one.name).join(),
    caches: (await caches.keys()).join(),
    workers: (await navigator.serviceWorker.getRegistrations()).length,
    controlled: Boolean(navigator.serviceWorker.controller),
    files: files.join(),
    geolocation: (await navigator.permissions.query({name: 'geolocation'})).state,
    shared: await new Promise((done) => {
      new SharedWorker('/shared.js').port.onmessage = (event) => done(event.data);
    }),
    opener: window.opener === null,
    referrer: document.referrer,
  };
}"""

SHARED_WORKER = b"let n = 0; onconnect = (event) => event.ports[0].postMessage(++n);"
SERVICE_WORKER = (
    b"oninstall = () => skipWaiting(); onactivate = (e) => e.waitUntil(clients.claim()); onfetch = () => {};"
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        html, script = "text/html; charset=utf-8", "text/javascript"
        if path == "/secret":
            self._answer(401, html, b"<h1>Who are you?</h1>", **{"WWW-Authenticate": 'Basic realm="r"'})
        elif path == "/locked":
            sent = self.headers.get("Authorization")
            self._answer(204 if sent else 401, html, b"", **{"WWW-Authenticate": 'Basic realm="r"'})
        elif path == "/sent":
            self._answer(200, "application/json", json.dumps({"cookie": self.headers.get("Cookie", "")}).encode())
        elif path == "/plant":
            page = f"<title>plant</title><h1>Plant</h1><script>{PLANT}</script>".encode()
            self._answer(200, html, page, **{"Set-Cookie": "hidden=1; HttpOnly; Max-Age=9999"})
        elif path == "/worker.js":
            self._answer(200, script, SERVICE_WORKER)
        elif path == "/shared.js":
            self._answer(200, script, SHARED_WORKER)
        elif path == "/window":
            self._answer(200, html, b"<title>w</title><script>window.open('/probe')</script>")
        else:
            self._answer(200, html, b"<title>probe</title><button>Press</button>")

    def _answer(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(_Handler) as url:
        yield url.replace("127.0.0.1", "localhost")  # by this name a secure context, as service workers want


@pytest_asyncio.fixture
async def browser() -> AsyncIterator[Browser]:
    browser = await launch()
    yield browser
    await browser.close()


@pytest.fixture(params=[False, True], ids=["acting", "reading"])
def shared(request: pytest.FixtureRequest) -> ContextOptions:
    """What the sessions of one job ask for, in both kinds of context."""
    return replace(SHARED, reading=request.param)


def behind(context: Context) -> object:
    """Chromium's own context behind ours."""
    return context.page.raw if isinstance(context, ReadingContext) else cast(ChromiumContext, context).playwright


async def planted(browser: Browser, site: str, options: ContextOptions) -> Context:
    """A context in which a page has left all that a page can leave."""
    context = await browser.new_context(options)
    await context.goto(f"{site.replace('localhost', '127.0.0.1')}/plant")  # another site's cookies and storage
    await context.goto(f"{site}/plant")
    await context.read(PLANTED)
    return context


async def test_nothing_that_a_page_left_is_found_by_the_next_session(
    browser: Browser, site: str, shared: ContextOptions
) -> None:
    clean = await browser.new_context()
    await clean.goto(f"{site}/probe")
    nothing = await clean.read(PROBE)
    await clean.close()
    first = await planted(browser, site, shared)
    own = await first.read(PROBE)
    await first.close()

    second = await browser.new_context(shared)
    assert (await second.storage_state())["cookies"] == []
    await second.goto(f"{site}/probe")
    found = await second.read(PROBE)

    unlike = {name for name in nothing if own[name] != nothing[name]}
    assert unlike >= {
        "sent",
        "cookie",
        "local",
        "session",
        "name",
        "history",
        "databases",
        "caches",
        "workers",
        "files",
    }
    assert unlike >= {"shared", "controlled"}
    assert behind(second) is behind(first)
    assert found == nothing


async def test_another_job_gets_another_context(browser: Browser, site: str, shared: ContextOptions) -> None:
    first = await planted(browser, site, shared)
    await first.close()

    for options in (
        replace(shared, reuse="job-2"),
        replace(shared, browser=BrowserSpec(locale="de-DE")),
        ContextOptions(),
    ):
        other = await browser.new_context(options)
        assert behind(other) is not behind(first)
        await other.close()


async def test_cookies_to_begin_with_are_there_in_an_emptied_context_too(browser: Browser, site: str) -> None:
    first = await planted(browser, site, SHARED)
    await first.close()

    cookie = {"name": "basket", "value": "7", "url": site}
    second = await browser.new_context(replace(SHARED, storage_state={"cookies": [cookie], "origins": []}))
    await second.goto(f"{site}/probe")
    assert behind(second) is behind(first)
    assert (await second.read(PROBE))["sent"] == "basket=7"


@pytest.mark.parametrize("trouble", ["authentication", "a password", "a window", "an action"])
async def test_a_context_that_cannot_be_emptied_for_certain_is_closed(
    browser: Browser, site: str, shared: ContextOptions, trouble: str
) -> None:
    first = await browser.new_context(shared)
    if trouble == "authentication":
        await first.goto(f"{site}/secret")
    elif trouble == "a password":
        with contextlib.suppress(NavigationError):  # it lets us in, and has nothing to show
            await first.goto(f"{site.replace('//', '//me:word@')}/locked")
    elif trouble == "a window":
        await first.goto(f"{site}/window")
        if not shared.reading:
            assert len((await first.observe()).tabs) == 2
    else:
        await first.goto(f"{site}/probe")
        await first.act(Action("scroll", {"dx": 0, "dy": 10}))
    await first.close()

    second = await browser.new_context(shared)
    assert behind(second) is not behind(first)


async def test_what_a_session_s_observation_followed_is_forgotten(browser: Browser, site: str) -> None:
    first = await browser.new_context(SHARED)
    await first.goto(f"{site}/probe")
    seen = await first.observe()
    await first.close()

    second = await browser.new_context(SHARED)
    await second.goto(f"{site}/probe")
    assert behind(second) is behind(first)
    assert (await second.observe()).elements == seen.elements


async def test_spares_end_with_their_browser(site: str, shared: ContextOptions) -> None:
    browser = await launch()
    contexts = [await browser.new_context(shared) for _ in range(3)]
    for context in contexts:
        await context.goto(f"{site}/probe")
        await context.close()
    await browser.close()
    assert not (await browser.health()).alive
