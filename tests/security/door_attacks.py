"""Attacks on the doors of a running `shoal up` that asks for keys, as its callers and the sites of their jobs see it.

Each gives what got through, so the same attack on an open door (`OpenDoor`, or the gateway's own way in) gives
something. The secrets that a site shows are attacked by `secret_attacks`.
"""

from __future__ import annotations

import io
import re
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
from playwright.async_api import BrowserContext, Frame

from shoal.agent.support.json_value import Json
from tests.loopback import served
from tests.security.world import Answer, Site
from tests.spelled import each

WAIT_S = 120.0
MIB = 1 << 20
COOKIE = "shoal_login"


@dataclass(frozen=True)
class Person:
    """A caller with a key of its own."""

    url: str  # of the gateway
    tenant: str
    key: str

    def api(self) -> httpx.Client:
        """A client that sends the key."""
        return httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {self.key}"}, timeout=WAIT_S)

    def log_in(self, http: httpx.Client) -> None:
        """Gives a client the cookie of a new login."""
        http.post("/login", data={"key": self.key})
        assert http.cookies.get(COOKIE), "the login works"


def until(met: Callable[[], Any], what: str) -> Any:
    """Return what `met` gives as soon as it is true."""
    ends = time.monotonic() + WAIT_S
    while not (value := met()):
        assert time.monotonic() < ends, what
        time.sleep(0.1)
    return value


def submit(http: httpx.Client, spec: Json) -> str:
    """The id of a new job."""
    answer = http.post("/v1/jobs", json=spec)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def sessions_of(http: httpx.Client, job: str) -> list[Json]:
    """The sessions of a job, at most 200."""
    listed: list[Json] = http.get(f"/v1/jobs/{job}/sessions", params={"limit": 200}).json()["sessions"]
    return listed


def ended(http: httpx.Client, job: str) -> Json:
    """A job as soon as it has ended."""
    return until(lambda: (row := http.get(f"/v1/jobs/{job}").json())["finished_at"] and row, f"{job} ends")


# --- 1: what a site gave runs as a document of the dashboard -------------------------------------------

RUNS = "document.documentElement.setAttribute('data-ran', origin)"
DRAWING = f"""<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" onload="{RUNS}">
<rect width="40" height="30" fill="red"/><script>{RUNS}</script></svg>"""
_FRAMED = """address => new Promise(done => {
  const frame = document.createElement('iframe');
  const look = () => {
    try { done(frame.contentDocument?.documentElement.getAttribute('data-ran') ?? null) } catch { done(null) }
  };
  frame.onload = look;
  frame.src = address;
  document.body.append(frame);
})"""
_READ = """async address => {
  const frame = document.createElement('iframe');
  frame.src = '/static/shoal.js';
  await new Promise(done => { frame.onload = frame.onerror = done; document.body.append(frame); });
  return Boolean(frame.contentDocument?.body?.textContent);
}"""


def hostile_trace(mallory: Person, site: Site) -> tuple[str, list[str]]:
    """The trace of a job on a hostile page: its artifact, and the files in it that are documents."""
    site.pages["/a.svg"] = Answer(DRAWING, headers={"Content-Type": "image/svg+xml"})
    site.pages["/b.html"] = Answer(f"<!doctype html><title>b</title><script>{RUNS}</script>")
    address = site.page("/drawn", "<h1>Kettle</h1><img src=/a.svg><iframe src=/b.html></iframe>")
    with mallory.api() as http:
        spec = {"url": address, "policy": "rules", "extract": {"fields": {"n": {"select": "h1"}}}}
        job = submit(http, spec | {"artifacts": {"trace": True}, "politeness": {"robots": False}})
        assert ended(http, job)["status"] == "completed"
        (session,) = sessions_of(http, job)
        kept = http.get(f"/v1/sessions/{session['id']}").json()["artifacts"]
        (trace,) = (artifact["id"] for artifact in kept if artifact["kind"] == "trace")
        data = http.get(f"/v1/artifacts/{trace}", follow_redirects=True).content
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        files = [name for name in packed.namelist() if name.endswith((".svg", ".html"))]
    return trace, files


def addresses_of(trace: str, files: Sequence[str]) -> list[str]:
    """Return where the trace viewer's service worker could answer with what is in a trace."""
    more = ("", "&dn=x&dct=text/html")
    return [f"/trace-viewer/file/{name}?trace=/artifacts/{trace}{tail}" for name in files for tail in more]


async def run_as_documents(context: BrowserContext, victim: Person, trace: str, addresses: Sequence[str]) -> list[str]:
    """The addresses whose scripts ran with the cookies of a person who looks at a trace and logs in."""
    page, through = await context.new_page(), []

    async def log_in(next_path: str) -> None:
        await context.clear_cookies()
        await page.goto(f"{victim.url}/login?next={quote(next_path, safe='')}")
        await page.locator("[name=key]").fill(victim.key)
        async with page.expect_navigation(url=lambda url: urlsplit(url).path != "/login"):
            await page.locator("[name=key]").press("Enter")

    async def ran(frame: Frame) -> bool:
        return bool(await frame.evaluate("document.documentElement.getAttribute('data-ran')"))

    await log_in("/")
    viewer = await context.new_page()
    await viewer.goto(f"{victim.url}/trace-viewer/index.html?trace=/artifacts/{trace}")
    await viewer.evaluate("navigator.serviceWorker?.ready.then(() => true)")
    await viewer.reload()
    if await viewer.evaluate(_READ):
        through.append("/static/ in a frame")
    for address in addresses:
        if await viewer.evaluate(_FRAMED, address):
            through.append(f"in a frame: {address}")
        await log_in(address)
        if await ran(page.main_frame):
            through.append(f"behind the login: {address}")
        await page.goto(f"{victim.url}/status")
        async with page.expect_navigation(wait_until="commit"):
            await page.evaluate("address => { location.href = address }", address)
        await page.wait_for_load_state()
        if await ran(page.main_frame):
            through.append(f"as a page: {address}")
    return through


# --- 5: a body that is long to read ---------------------------------------------------------------------


@dataclass(frozen=True)
class Body:
    """Something large that a caller hands in."""

    name: str
    path: str
    content: bytes
    of_form: bool = False  # the form's token has to stand before it


def hostile_bodies() -> list[Body]:
    """Return what stopped a gateway once, and its like."""
    deep = b"[" * 200_000 + b"]" * 200_000
    job = b'{"url": "https://shop.example/", "goal": "look"'
    return [
        Body("a file of values, rows", "/new/values", b"a\n" + b"x\n" * (4 * MIB - 10)),
        Body("a file of values, columns", "/new/values", b"a," * (4 * MIB - 10)),
        Body("a file of values, lines of JSON", "/new/values", b'{"a": 1}\n' * 900_000),
        Body("a file of values, depth", "/new/values", b'{"a": ' + deep + b"}"),
        Body("a job, depth", "/v1/jobs", job + b', "data": {"a": ' + deep + b"}}"),
        Body("a job, values", "/v1/jobs", job + b', "loop": {"values": [' + b"1," * 400_000 + b"1]}}"),
        Body("a batch", "/v1/jobs:batch", (job + b', "max_steps": -1}\n') * 1_000),
        Body("a batch of wrong jobs", "/v1/jobs:batch", b'{"url": 1}\n' * 30_000),
        Body("a workflow", "/v1/workflows", b'{"name": "a", "versions": [{"nodes": [' + b"1," * 400_000 + b"1]}]}"),
        Body("a form of many fields", "/new/check", b"&a=" * 3_000_000, of_form=True),
        Body("a form with a job", "/new/check", b"&%23json=" + job + b', "a": ' + deep + b"}", of_form=True),
    ]


def stopped_by(person: Person, bodies: Sequence[Body], token: str = "") -> list[str]:
    """The bodies while which others were not answered, or that were no fault of their caller."""
    through = []
    with person.api() as http:
        if not token:
            person.log_in(http)
        found = re.search(r'name="token" value="([^"]+)"', http.get("/new").text)
        token = token or (found[1] if found else "")
        for body in bodies:
            content = b"token=" + token.encode() + body.content if body.of_form else body.content
            kind = "application/x-www-form-urlencoded" if body.of_form else "application/json"
            headers = {"Content-Type": kind, "X-Shoal-Form": token}
            with _others(person.url) as waits:
                began = time.monotonic()
                status = http.post(body.path, content=content, headers=headers).status_code
                took_s = time.monotonic() - began
            longest_s = max(waits)
            # By the share of the time, since a machine that others use answers nobody at once.
            if status >= 500 or (longest_s > 0.5 and longest_s > took_s / 2):
                through.append(f"{body.name}: {status}, others waited {longest_s:.1f} of {took_s:.1f} s")
    return through


@contextmanager
def _others(url: str) -> Iterator[list[float]]:
    """Yield how long requests of others wait, one after the other, until the context ends."""
    waits: list[float] = []
    stop, first = threading.Event(), threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=url, timeout=WAIT_S) as http:
            while not stop.is_set():
                began = time.monotonic()
                http.get("/healthz")
                waits.append(time.monotonic() - began)
                first.set()

    asking = threading.Thread(target=ask)
    asking.start()
    first.wait(WAIT_S)
    waits.clear()
    try:
        yield waits
    finally:
        stop.set()
        asking.join()


# --- 6: one tenant's live views -------------------------------------------------------------------------


@dataclass
class Streams:
    """Streams of one tenant that stay open."""

    http: httpx.Client
    stack: ExitStack = field(default_factory=ExitStack)

    def open(self, path: str) -> int:
        """The status of a stream that is opened."""
        answer: httpx.Response = self.stack.enter_context(self.http.stream("GET", path))
        return answer.status_code


def refused_beside(mallory: Person, acme: Person, queued: Sequence[str], running: str) -> tuple[int, list[str]]:
    """Return what of the other tenant is refused while one has as many live views as it gets;
    and how many these are.
    """
    limits = httpx.Limits(max_connections=None)
    headers = {"Authorization": f"Bearer {mallory.key}"}
    through: list[str] = []
    with httpx.Client(base_url=mallory.url, headers=headers, timeout=WAIT_S, limits=limits) as many, acme.api() as http:
        streams = Streams(many)
        with streams.stack:
            opened = 0
            while streams.open(f"/v1/sessions/{queued[opened % len(queued)]}/live") == 200:
                opened += 1
                assert opened < 5_000, "a tenant may open as many as it likes"
            with http.stream("GET", f"/v1/sessions/{running}/live") as view:
                if view.status_code != 200:
                    through.append(f"its live view: {view.status_code}")
                taken = take_answer(http, f"/v1/sessions/{running}/live")
                if taken.status_code != 200:
                    through.append(f"its takeover: {taken.status_code} {taken.text}")
                else:
                    lease = taken.json()["lease"]
                    http.post(f"/v1/sessions/{running}/live", json={"do": "hand_back", "lease": lease})
            told = http.get(f"/v1/sessions/{running}/progress").json()
            if not told["running"]:
                through.append(f"its progress: {told}")
    return opened, through


def take_answer(http: httpx.Client, path: str) -> httpx.Response:
    """The answer to a person who asks for the page of a session, once it has one."""
    return until(
        lambda: (answer := http.post(path, json={"do": "take"})).status_code != 409 and answer, "it has a page"
    )


def answer_to_old_lease(person: Person, running: str) -> str:
    """Return what a click with the lease of a takeover that was handed back is answered, while another one clicks."""
    path = f"/v1/sessions/{running}/live"
    with person.api() as http:

        def clicked(lease: str) -> httpx.Response:
            return http.post(path, json={"do": "click", "x": 1.0, "y": 1.0, "lease": lease})

        def leading() -> str:
            """The lease of a new takeover that clicks: the agent ends its step first."""
            taken = until(
                lambda: (answer := http.post(path, json={"do": "take"})).status_code == 200 and answer, "take"
            )
            lease = str(taken.json()["lease"])
            until(lambda: clicked(lease).status_code == 200, "a click of a person who leads")
            return lease

        old = leading()
        assert http.post(path, json={"do": "hand_back", "lease": old}).status_code == 200
        leading()
        return str(clicked(old).json().get("detail"))


# --- 8: a copied cookie ---------------------------------------------------------------------------------

PAGES = ("/status", "/", "/new", "/admin/keys")


def opened_by_a_copy(person: Person, *, logged_out: bool) -> list[str]:
    """The pages that a copy of a login's cookie opens, after the login was ended or before."""
    with (
        httpx.Client(base_url=person.url, timeout=WAIT_S) as browser,
        httpx.Client(base_url=person.url, timeout=WAIT_S) as thief,
    ):
        person.log_in(browser)
        copy = {"Cookie": f"{COOKIE}={browser.cookies[COOKIE]}"}
        token = re.search(r'name="token" value="([^"]+)"', browser.get("/status").text)
        assert token is not None
        if logged_out:
            assert browser.post("/logout", data={"token": token[1]}).status_code == 303
        return [path for path in PAGES if thief.get(path, headers=copy).status_code == 200]


# --- open doors ---------------------------------------------------------------------------------------------


@contextmanager
def open_documents() -> Iterator[str]:
    """A gateway as it was: it answers with a site's drawing as a page of its own, and its login leads there."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            given = {name: values[0] for name, values in parse_qs(parts.query).items()}
            worker = "<script>navigator.serviceWorker.register('/trace-viewer/sw.js')</script>"
            body, kind = f"<!doctype html><title>open</title><p>Anything{worker}", "text/html"
            if parts.path == "/login":
                next_path = given["next"].replace("&", "&amp;")
                body = f'<form action=/in><input name=key><input type=hidden name=next value="{next_path}"></form>'
            elif parts.path == "/trace-viewer/sw.js":
                body, kind = "oninstall = () => skipWaiting()", "text/javascript"
            elif parts.path.startswith("/trace-viewer/file/"):
                body, kind = DRAWING, "image/svg+xml"
            self.send_response(302 if parts.path == "/in" else 200)
            if parts.path == "/in":
                self.send_header("Location", given["next"])
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """It keeps no log."""

    with served(Handler) as url:
        yield url


@contextmanager
def open_bodies() -> Iterator[str]:
    """A gateway as it was: it reads a body while everybody waits."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            ends = time.monotonic() + 2.0
            while time.monotonic() < ends:
                each("&#{};")("x" * 1_000)  # some work
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """It keeps no log."""

    server = HTTPServer(("127.0.0.1", 0), Handler)  # one request at a time, as an event loop that is held up
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
