"""Contexts that serve several sessions: what one session leaves behind, the next must not find."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any, cast

import pytest
import pytest_asyncio

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.chromium import context_pool, context_reset
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.devtools import read_page
from shoal.agent.chromium.devtools.reading_context import ReadingContext
from shoal.agent.chromium.process.launch import launch
from shoal.agent.chromium.wire.connection import Session
from shoal.agent.errors import NavigationError
from shoal.agent.spec import BrowserSpec
from shoal.agent.types import Action
from tests.loopback import served

pytestmark = pytest.mark.asyncio(loop_scope="module")

JOBS = (f"job-{n}" for n in itertools.count())
"""Each test has a job of its own: all of them share a browser, and with it the contexts that are kept for a job."""

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
  const {cookie: sent, ...headers} = await (await fetch('/sent')).json();
  const states = {};
  for (const name of ['geolocation', 'notifications', 'camera', 'clipboard-read', 'midi'])
    states[name] = (await navigator.permissions.query({name})).state;
  return {
    sent, headers,
    permissions: states,
    position: await new Promise((done) => navigator.geolocation.getCurrentPosition(
      (found) => done(found.coords.latitude), () => done('nowhere'), {timeout: 200})),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    locale: Intl.NumberFormat().resolvedOptions().locale,
    languages: navigator.languages.join(),
    agent: navigator.userAgent,
    cores: navigator.hardwareConcurrency,
    window: [innerWidth, innerHeight, devicePixelRatio, screen.width].join(),
    touch: navigator.maxTouchPoints,
    media: ['print', '(prefers-color-scheme: dark)', '(prefers-reduced-motion)']
      .filter((one) => matchMedia(one).matches),
    globals: document.documentElement.dataset.globals,
    online: navigator.onLine,
    fetched: await fetch('/blocked').then(() => true, () => false),
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
    shared: await new Promise((done) => {
      new SharedWorker('/shared.js').port.onmessage = (event) => done(event.data);
    }),
    opener: window.opener === null,
    referrer: document.referrer,
  };
}"""

# What only the page's own world shows, told where the probe can see it; without scripts it is not told.
OWN_WORLD = b"""<title>probe</title><button>Press</button><script>
  document.documentElement.dataset.globals = Object.getOwnPropertyNames(window).sort().join();
</script>"""

RAN = "() => Boolean(document.documentElement.dataset.globals)"

PLACE = {"latitude": 48, "longitude": 11, "accuracy": 1}

# All that changes what a page sees and can be set through a page's DevTools session.
SETTINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Network.enable", {}),
    ("Emulation.setGeolocationOverride", PLACE),
    ("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kathmandu"}),
    ("Emulation.setLocaleOverride", {"locale": "fi-FI"}),
    ("Emulation.setUserAgentOverride", {"userAgent": "Planted/1", "acceptLanguage": "fi"}),
    ("Emulation.setHardwareConcurrencyOverride", {"hardwareConcurrency": 63}),
    (
        "Emulation.setDeviceMetricsOverride",
        {"width": 321, "height": 543, "deviceScaleFactor": 3, "mobile": False, "screenWidth": 321, "screenHeight": 543},
    ),
    ("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 4}),
    (
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    ),
    ("Network.setExtraHTTPHeaders", {"headers": {"X-Planted": "1"}}),
    ("Network.setBlockedURLs", {"urls": ["*/blocked"]}),
    ("Runtime.enable", {}),
    ("Runtime.addBinding", {"name": "plantedBinding"}),
    ("Page.enable", {}),
    ("Page.addScriptToEvaluateOnNewDocument", {"source": "window.plantedScript = 1"}),
)

OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

# The same by way of Playwright, as an action may, and what only Playwright has.
PLANT_BY_ACTION = """
context = page.context
await context.grant_permissions(['geolocation', 'clipboard-read'])
await context.set_geolocation({'latitude': 48, 'longitude': 11})
await context.set_extra_http_headers({'X-Planted': '1'})
await context.add_init_script('window.plantedScript = 1')
await context.expose_function('plantedFunction', lambda: 1)
await page.expose_binding('plantedBinding', lambda source: 1)
await page.emulate_media(color_scheme='dark', reduced_motion='reduce')
await page.set_viewport_size({'width': 321, 'height': 543})
await context.route('**/blocked', lambda route: route.abort())
"""

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
            sent = {"cookie": "", **{name.lower(): value for name, value in self.headers.items()}}
            self._answer(200, "application/json", json.dumps(sent).encode())
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
            self._answer(200, html, OWN_WORLD)

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


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is busy, too, a context is emptied before it is given up."""
    for module in (context_pool, context_reset, read_page):
        monkeypatch.setattr(module, "EMPTY_S", 30.0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    browser = await launch()
    yield browser
    await browser.close()


@pytest.fixture
def acting() -> ContextOptions:
    """Return what the sessions of one job ask for."""
    return ContextOptions(reuse=next(JOBS))


@pytest.fixture(params=[False, True], ids=["acting", "reading"])
def shared(request: pytest.FixtureRequest, acting: ContextOptions) -> ContextOptions:
    """The same in both kinds of context."""
    return replace(acting, reading=request.param)


def behind(context: Context) -> object:
    """Chromium's own context behind ours."""
    return context.page.raw.context if isinstance(context, ReadingContext) else cast(ActingContext, context).playwright


async def grant(context: Context, site: str, *permissions: str) -> None:
    """Grants what a browser asks its user for: these browsers have no user."""
    if isinstance(context, ReadingContext):
        asked = {"origin": site, "permissions": permissions, "browserContextId": context.page.raw.context}
        await context.page.raw.root.send("Browser.grantPermissions", asked)
    else:
        names = [{"clipboardReadWrite": "clipboard-read"}.get(name, name) for name in permissions]
        await cast(ActingContext, context).playwright.grant_permissions(names, origin=site)


async def devtools(context: Context) -> Session:
    """The DevTools session in which our own code speaks to the page."""
    return await (context.page if isinstance(context, ReadingContext) else cast(ActingContext, context).tab).session()


async def probed(context: Context, site: str) -> dict[str, Any]:
    """All that a page of this context can find."""
    await context.goto(f"{site}/probe")
    return cast(dict[str, Any], await context.read(PROBE))


def unlike(found: dict[str, Any], nothing: dict[str, Any]) -> set[str]:
    """Return what is not as in an unused context."""
    return {name for name in nothing if found.get(name) != nothing[name]}


def globals_planted(found: dict[str, Any]) -> set[str]:
    """The names of ours that a page finds in its own world."""
    return {name for name in found["globals"].split(",") if name.startswith("planted")}


async def planted(browser: Browser, site: str, options: ContextOptions) -> Context:
    """A context in which a page has left all that a page can leave."""
    context = await browser.new_context(options)
    await grant(context, site, "geolocation", "notifications", "clipboardReadWrite")
    await (await devtools(context)).send("Emulation.setGeolocationOverride", PLACE)
    await context.goto(f"{site.replace('localhost', '127.0.0.1')}/plant")  # another site's cookies and storage
    await context.goto(f"{site}/plant")
    await context.read(PLANTED)
    return context


async def test_nothing_that_a_page_left_is_found_by_the_next_session(
    browser: Browser, site: str, shared: ContextOptions
) -> None:
    clean = await browser.new_context(replace(shared, reuse=None))
    nothing = await probed(clean, site)
    await clean.close()
    first = await planted(browser, site, shared)
    own = await first.read(PROBE)
    page = behind(first)
    await first.close()

    second = await browser.new_context(shared)
    assert (await second.storage_state())["cookies"] == []
    found = await probed(second, site)

    assert behind(second) == page
    stored = {"sent", "cookie", "local", "session", "databases", "caches", "files", "workers", "controlled", "shared"}
    assert unlike(own, nothing) >= stored | {"name", "history", "permissions", "position"}
    granted = {name for name, state in own["permissions"].items() if state == "granted"}
    assert granted >= {"geolocation", "notifications", "clipboard-read"}
    assert found == nothing


async def test_nothing_that_was_set_through_devtools_is_there_in_the_next_session(
    browser: Browser, site: str, shared: ContextOptions
) -> None:
    clean = await browser.new_context(replace(shared, reuse=None))
    await grant(clean, site, "geolocation")
    nothing = await probed(clean, site)
    await clean.close()
    first = await browser.new_context(shared)
    await grant(first, site, "geolocation")
    session = await devtools(first)
    for method, parameters in SETTINGS:
        await session.send(method, parameters)
    own = await probed(first, site)
    await session.send("Network.emulateNetworkConditions", OFFLINE)
    online = await first.read("() => navigator.onLine")
    page = behind(first)
    await first.close()

    second = await browser.new_context(shared)
    await grant(second, site, "geolocation")  # what it must not find is where the first one was
    found = await probed(second, site)

    assert behind(second) == page
    seen = {"position", "zone", "locale", "languages", "agent", "cores", "window", "touch", "media", "globals"}
    assert unlike(own, nothing) >= seen | {"headers", "fetched"}
    assert globals_planted(own) == {"plantedBinding", "plantedScript"}
    assert own["media"] == ["print", "(prefers-color-scheme: dark)"]
    assert "x-planted" in own["headers"]
    assert not online
    assert found == nothing


async def test_the_next_session_s_pages_run_their_scripts_where_those_of_the_last_were_stopped(
    browser: Browser, site: str, shared: ContextOptions
) -> None:
    first = await browser.new_context(shared)
    await (await devtools(first)).send("Emulation.setScriptExecutionDisabled", {"value": True})
    await first.goto(f"{site}/probe")
    assert not await first.read(RAN)
    page = behind(first)
    await first.close()

    second = await browser.new_context(shared)
    await second.goto(f"{site}/probe")
    assert behind(second) == page
    assert await second.read(RAN)


async def test_nothing_that_an_action_set_is_there_in_the_next_session(
    browser: Browser, site: str, shared: ContextOptions
) -> None:
    clean = await browser.new_context(replace(shared, reuse=None))
    nothing = await probed(clean, site)
    await clean.close()
    first = await browser.new_context(replace(shared, allow_python=True))
    await first.goto(f"{site}/probe")
    done = await first.act(Action("python", {"code": PLANT_BY_ACTION}))
    assert done.error is None
    own = await probed(first, site)
    await first.close()

    found = await probed(await browser.new_context(shared), site)

    seen = {"permissions", "position", "headers", "window", "media", "globals", "fetched"}
    assert unlike(own, nothing) >= seen
    assert globals_planted(own) == {"plantedBinding", "plantedFunction", "plantedScript"}
    assert own["media"] == ["(prefers-color-scheme: dark)", "(prefers-reduced-motion)"]
    assert "x-planted" in own["headers"]
    assert found == nothing


async def test_another_job_gets_another_context(browser: Browser, site: str, shared: ContextOptions) -> None:
    first = await planted(browser, site, shared)
    await first.close()

    for options in (
        replace(shared, reuse="another job"),
        replace(shared, reuse_site="other.example"),
        replace(shared, browser=BrowserSpec(locale="de-DE")),
        ContextOptions(),
    ):
        other = await browser.new_context(options)
        assert behind(other) != behind(first)
        await other.close()


async def test_cookies_to_begin_with_are_there_in_an_emptied_context_too(
    browser: Browser, site: str, acting: ContextOptions
) -> None:
    first = await planted(browser, site, acting)
    await first.close()

    cookie = {"name": "basket", "value": "7", "url": site}
    second = await browser.new_context(replace(acting, storage_state={"cookies": [cookie], "origins": []}))
    await second.goto(f"{site}/probe")
    assert behind(second) == behind(first)
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
    assert behind(second) != behind(first)


async def test_what_a_session_s_observation_followed_is_forgotten(
    browser: Browser, site: str, acting: ContextOptions
) -> None:
    first = await browser.new_context(acting)
    await first.goto(f"{site}/probe")
    seen = await first.observe()
    await first.close()

    second = await browser.new_context(acting)
    await second.goto(f"{site}/probe")
    assert behind(second) == behind(first)
    assert (await second.observe()).elements == seen.elements


async def test_spares_end_with_their_browser(site: str, shared: ContextOptions) -> None:
    browser = await launch()
    contexts = [await browser.new_context(shared) for _ in range(3)]
    for context in contexts:
        await context.goto(f"{site}/probe")
        await context.close()
    await browser.close()
    assert not (await browser.health()).alive
