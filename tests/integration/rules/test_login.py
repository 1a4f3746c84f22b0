"""Loops behind a login: logged in once for all items, and anew once when the login has run out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from shoal.agent.browser import Browser
from shoal.agent.chromium.process.launch import launch
from shoal.agent.policies.policy import Policy
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from tests.cluster_world import World, world
from tests.loopback import served
from tests.worker_world import FakeParts

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}
LOOP = {"from": {"select": "ul.orders a"}}
LOGIN = {"username": "ada", "password": "lovelace"}


class RealParts(FakeParts):
    """Workers with a real Chromium and the rules."""

    async def _launch(self) -> Browser:  # type: ignore[override]
        return await launch()

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return RulesPolicy()


@dataclass
class Accounts:
    """The site's accounts of its visitors."""

    url: str = ""
    valid: set[str] = field(default_factory=set)  # session cookies
    logins: int = 0
    registered: int = 0
    forgets: bool = False  # all sessions, once, when the first item is asked for


FORMS = """<form method=post action=/register><h2>New here?</h2><label>Username <input name=username></label>
<label>Password <input name=password type=password></label><button>Create account</button></form>
<form method=post action=/login><h2>Log in</h2><label>Username <input name=username></label>
<label>Password <input name=password type=password></label><button>Log in</button></form>"""


class _Handler(BaseHTTPRequestHandler):
    accounts: Accounts

    @property
    def _is_known_user(self) -> bool:
        return (self.headers.get("Cookie") or "").removeprefix("sid=") in self.accounts.valid

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/login":
            return self._answer("Log in", FORMS)
        if path.startswith("/order/") and self.accounts.forgets:
            self.accounts.forgets = False
            self.accounts.valid.clear()
        if not self._is_known_user:
            return self._lead("/login?next=" + path)
        if path == "/orders":
            items = "".join(f'<li><a href="/order/{n}">Order {n}</a></li>' for n in range(1, 7))
            return self._answer("Your orders", f'<ul class="orders">{items}</ul>')
        number = int(path.rpartition("/")[2])
        body = f"<dl><dt>Name</dt><dd>Order {number}</dd><dt>Price</dt><dd>€ {number}.50</dd></dl>"
        return self._answer(f"Order {number}", body)

    def do_POST(self) -> None:
        given = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        if self.path == "/register":
            self.accounts.registered += 1
            return self._answer("Welcome", "<p>Your account was created.</p>")
        if given.get("password") != ["lovelace"]:
            return self._answer("Log in", '<p class="error" role="alert">Wrong password.</p>' + FORMS)
        self.accounts.logins += 1
        sid = f"s{self.accounts.logins}"
        self.accounts.valid.add(sid)
        return self._lead("/orders", f"sid={sid}; Path=/")

    def _lead(self, to: str, cookie: str = "") -> None:
        self.send_response(303)
        self.send_header("Location", to)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, title: str, body: str) -> None:
        text = f'<!doctype html><html lang="en"><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body>'
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.fixture
def site() -> Iterator[Accounts]:
    here = Accounts()
    with served(type("Handler", (_Handler,), {"accounts": here})) as here.url:
        yield here


async def behind_login(
    here: World, site: Accounts, login: dict[str, Any] | None = None, *, steps: list[dict[str, str]] | None = None
) -> tuple[Any, list[Any]]:
    job = await here.submit(
        url=f"{site.url}/orders",
        login={"url": f"{site.url}/login", **({"data": login} if steps is None else {"steps": steps})},
        extract={"schema": SCHEMA},
        loop=LOOP,
    )
    row = await here.until(job, lambda row: row.finished_at is not None)
    return row, [line.record.value if line.record else line.error for line in await here.store.results(job)]


ORDERS = [{"name": f"Order {n}", "price": n + 0.5} for n in range(1, 7)]


@pytest.mark.timeout(240)
async def test_a_job_logs_in_once_for_all_its_items(site: Accounts) -> None:
    async with world({}, parts=RealParts, slots=2) as here:
        row, told = await behind_login(here, site, LOGIN)
    assert told == ORDERS
    assert (row.status, row.is_partial) == (Status.COMPLETED, False)
    assert (site.logins, site.registered) == (1, 0)


@pytest.mark.timeout(240)
async def test_a_login_that_ran_out_is_renewed_once_for_all_items(site: Accounts) -> None:
    site.forgets = True
    async with world({}, parts=RealParts, slots=2) as here:
        row, told = await behind_login(here, site, LOGIN)
    assert told == ORDERS
    assert (row.status, row.is_partial) == (Status.COMPLETED, False)
    assert (site.logins, site.registered) == (2, 0)


@pytest.mark.timeout(240)
async def test_a_login_that_the_site_refuses_ends_the_job_before_anything_is_collected(site: Accounts) -> None:
    async with world({}, parts=RealParts, slots=2) as here:
        row, told = await behind_login(here, site, {**LOGIN, "password": "byron-1815"})
    assert row.status is Status.FAILED and row.counts.expected == 1
    assert site.logins == 0
    assert "Wrong password" in told[0].message


STEPS = [
    {"fill": "form[action='/login'] input[name=username]", "value": "ada"},
    {"fill": "form[action='/login'] input[name=password]", "value": "lovelace"},
    {"click": "form[action='/login'] button"},
    {"wait_for": "ul.orders"},
]


@pytest.mark.timeout(240)
async def test_a_login_by_steps_does_what_the_job_says_and_is_inherited(site: Accounts) -> None:
    async with world({}, parts=RealParts, slots=2) as here:
        row, told = await behind_login(here, site, steps=STEPS)
        detail = await here.store.session(row.root_session)
    assert told == ORDERS
    assert (site.logins, site.registered) == (1, 0)
    shown = str([task for attempt in detail.attempts for task in attempt])
    assert "lovelace" not in shown


@pytest.mark.timeout(240)
async def test_a_step_that_finds_nothing_is_named(site: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.agent.sessions.login_steps._FIND_S", 3.0)
    async with world({}, parts=RealParts, slots=2) as here:
        row, told = await behind_login(here, site, steps=[STEPS[0], {"click": "button.nowhere"}])
    assert row.status is Status.FAILED
    assert told[0].code == "login_failed"
    assert "step 2 of the login, click button.nowhere" in told[0].message
    assert site.logins == 0
