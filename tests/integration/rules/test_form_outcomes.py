# ruff: noqa: E501
"""Forms of a site with accounts: which one is filled in, and whether it is told right what became of it.

The truth is the site's own: its accounts, logins, comments and messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import FormIncomplete, FormRefused, FormUnclear
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.planning import SEND
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.types import Step
from tests.loopback import served

pytestmark = pytest.mark.asyncio(loop_scope="session")

REGISTER = """<section class="card"><h2>New here?</h2><form method="post" action="/register">
 <label>User name <input name="username"></label> <label>E-mail <input type="email" name="email"></label>
 <label>Password <input type="password" name="password"></label> <label>Repeat password <input type="password" name="password2"></label>
 <button>Create account</button></form></section>"""
LOGIN = """<section class="card"><h2>Members</h2>NOTE<form method="post" action="/login">
 <label>User name <input name="username" value="WAS"></label> <label>Password <input type="password" name="password"></label>
 <input type="submit" value="Log in"> <a href="/forgot">Forgot password?</a></form></section>"""
SEARCH = '<form action="/search" role="search"><input type="search" name="q" aria-label="Search the site"><button>Go</button></form>'
NEWS = """<footer><form method="post" action="/newsletter"><label>E-mail <input type="email" name="email" required></label>
 <button>Subscribe</button></form></footer>"""
HOME = """<h1>Hello ann</h1><p>Your profile. Last import: see below.</p><button class="btn btn-danger">Delete profile</button>
 <section class="danger-zone"><h2>Danger zone</h2><p class="text-danger">Deleting cannot be undone.</p></section>
 <table><tr class="error"><td>Import of 3 May</td><td>failed</td></tr></table>"""
ALIKE = """<h1>Addresses</h1>
<section><h2>Ship to</h2><form method="post" action="/ship"><label>Street <input name="street"></label><label>City <input name="city"></label><button>Save</button></form></section>
<section><h2>Billing</h2><form method="post" action="/bill"><label>Street <input name="street"></label><label>City <input name="city"></label><button>Save</button></form></section>"""
QUOTE = """<h1>Ask us</h1><form method="post" action="/ask"><label>Name <input name="name"></label>
 <label>Message <textarea name="message"></textarea></label><button>Send</button></form>"""
WORDLESS = """<h1>Note</h1><form method="post" action="/silent"><label>Name <input name="name" value="WAS"></label><button>Send</button></form>"""
SCRIPTED = """<h1>Sign in</h1><div id="box"><div id="said"></div><input id="user" placeholder="User name">
<input id="pass" type="password" placeholder="Password"><button type="button" id="go">Sign in</button></div>
<script>go.onclick = async () => { const r = await fetch('/api', {method: 'POST', body: new URLSearchParams({username: user.value, password: pass.value})});
 const ok = (await r.text()).endsWith('yes'); if (ok) box.innerHTML = '<p>Hello again</p>'; else said.textContent = 'These credentials are not valid.'; };</script>"""
PROFILE = """<h1>Profile</h1>NOTE<form method="post" action="/profile"><label>City <input name="city" value="WAS"></label>
 ERR<button>Save</button> <button name="more" value="1">Save and stay</button> <button class="btn-danger" name="delete" value="1">Delete</button></form>"""


@dataclass
class Accounts:
    """The site's own state."""

    url: str = ""
    accounts: dict[str, str] = field(default_factory=lambda: {"ann": "right-horse"})
    logins: list[str] = field(default_factory=list)
    posts: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    city: str = "Bonn"
    note: str = '<p class="errornote">Please enter the correct user name and password.</p>'


class _Handler(BaseHTTPRequestHandler):
    site: Accounts

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        pages = {
            "/both": SEARCH + REGISTER + _login() + NEWS,
            "/login": _login(note=self.site.note if "error" in parts.query else ""),
            "/home": HOME,
            "/alike": ALIKE,
            "/ask": SEARCH + QUOTE + NEWS,
            "/upload": QUOTE.replace(
                "<button>", '<label>Attachment <input type="file" name="attachment"></label><button>'
            ),
            "/boxes": SEARCH + "<h1>Write to us</h1><p>By post only.</p>" + NEWS,
            "/silent": WORDLESS.replace("WAS", ""),
            "/scripted": SCRIPTED,
            "/profile": _profile(self.site.city),
            "/search": SEARCH + f"<h1>Results</h1><p>Nothing for {escape(parts.query)}</p>",
            "/blog": _blog(self.site.comments),
        }
        self._page(pages.get(parts.path, "<h1>Not here</h1>"), 200 if parts.path in pages else 404)

    def do_POST(self) -> None:
        given = dict(parse_qsl(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(), True))
        site, path = self.site, urlsplit(self.path).path
        site.posts.append((path, given))
        right = site.accounts.get(given.get("username", "")) == given.get("password") and "username" in given
        match path:
            case "/login" if right:
                site.logins.append(given["username"])
                self._see("/home")
            case "/login":
                self._see("/login?error")
            case "/api":
                self._page("yes" if right else "no")
            case "/register" if given["username"] in site.accounts:
                self._page("<h1>Join</h1><p>This user name is already taken.</p>" + REGISTER)
            case "/register":
                site.accounts[given["username"]] = given["password"]
                self._see("/home")
            case "/comment":
                site.comments.append(given["comment"])
                self._see("/blog")
            case "/profile" if len(given["city"]) < 3:
                self._page(_profile(given["city"], error='<ul class="errorlist"><li>At least 3 letters.</li></ul>'))
            case "/profile":
                site.city = given["city"]
                self._page(_profile(site.city, note="<p>Your changes were saved.</p>"))
            case "/silent":
                self._page(WORDLESS.replace("WAS", given["name"]))
            case "/broken":
                self._page("<h1>Server Error (500)</h1>", 500)
            case "/ask" if given["name"] == "Mallory":
                self._page("<h1>Forbidden</h1><p>CSRF verification failed.</p>", 403)
            case _:
                self._page("<h1>Thank you</h1>")

    def _see(self, path: str) -> None:
        self.send_response(303)
        self.send_header("Location", path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _page(self, body: str, status: int = 200) -> None:
        data = f"<!doctype html><html lang=en><title>Club</title><body>{body}".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silence: what was sent is in `site.posts`."""


def _login(note: str = "") -> str:
    return LOGIN.replace("NOTE", note).replace("WAS", "")


def _profile(city: str, note: str = "", error: str = "") -> str:
    return PROFILE.replace("NOTE", note).replace("ERR", error).replace("WAS", city)


def _blog(comments: list[str]) -> str:
    said = "".join(f"<p>{escape(one)}</p>" for one in comments)
    return f"""<h1>On kettles</h1><p>Text.</p>{said}<form method="post" action="/comment">
     <label>Comment <textarea name="comment"></textarea></label><button>Post comment</button></form>"""


@pytest.fixture
def club() -> Iterator[Accounts]:
    """The site, with accounts of its own for each test."""
    here = Accounts()
    with served(type("Handler", (_Handler,), {"site": here})) as here.url:
        yield here


async def sends(page: Context, club: Accounts, path: str, goal: str | None, data: dict[str, Any], **more: Any) -> str:
    """Return how the policy ends the form: the name of its last action and its reason, as the session would get it."""
    await page.goto(club.url + path)
    wants = {"goal": goal} if goal else {"extract": {"schema": {"type": "object", "properties": {"a": {}}}}}
    job = JobSpec.model_validate({"url": club.url + path, "data": data, **wants, **more})
    state = SessionState(spec=job, loop=None, item=None, page=page)
    policy, steps = RulesPolicy(), list[Step]()
    for index in range(15):
        url = page.url
        decision = await policy.step(state, SEND, steps)
        results = []
        for action in decision.actions:
            if action.name in ("complete", "terminate"):
                return f"{action.name} {decision.thought}"
            results.append(await page.act(action))
            if results[-1].error is not None or results[-1].effect.url is not None:
                break
        steps.append(Step(index, url, decision.thought, tuple(results), before=decision.before))
    raise AssertionError([(step.thought, step.results) for step in steps])


CREDENTIALS = {"username": "ann", "password": "right-horse"}


@pytest.mark.parametrize("goal", ["log in", "Sign in to the members' area", "anmelden", None])
async def test_a_login_is_a_login_beside_a_registration(page: Context, club: Accounts, goal: str | None) -> None:
    assert (await sends(page, club, "/both", goal, CREDENTIALS)).startswith("complete")
    assert club.logins == ["ann"]
    assert list(club.accounts) == ["ann"]


async def test_an_account_is_not_created_to_log_in(page: Context, club: Accounts) -> None:
    data = {"email": "new@example.test", "username": "new", "password": "secret-1"}
    with pytest.raises(FormIncomplete, match="email"):
        await sends(page, club, "/both", "log in", data)
    assert club.posts == []


async def test_a_registration_that_leads_on_to_another_page_is_one(page: Context, club: Accounts) -> None:
    data = {"username": "bob", "email": "bob@example.test", "password": "battery-staple"}
    assert (await sends(page, club, "/both", "create an account", data)).startswith("complete")
    assert club.accounts["bob"] == "battery-staple"


async def test_a_registration_that_is_refused_in_plain_words(page: Context, club: Accounts) -> None:
    data = {"username": "ann", "email": "ann@example.test", "password": "battery-staple"}
    with pytest.raises(FormRefused, match="already taken"):
        await sends(page, club, "/both", "register", data)


@pytest.mark.parametrize(
    "note",
    [
        '<p class="errornote">Please enter the correct user name and password.</p>',
        "<p>Wrong user name or password, please enter the correct user name and password.</p>",
        '<div class="alert alert-danger" role="alert">Please enter the correct user name and password. <button>×</button></div>',
        '<font color="red">Please enter the correct user name and password.</font>',
        '<div class="flash loginError">Please enter the correct user name and password.</div>',
    ],
)
async def test_a_wrong_password_is_refused_with_the_pages_words(page: Context, club: Accounts, note: str) -> None:
    club.note = note
    with pytest.raises(FormRefused, match="correct user name and password") as caught:
        await sends(page, club, "/both", "log in", {"username": "ann", "password": "wrong"})
    assert "×" not in caught.value.message
    assert club.logins == []
    assert len(club.posts) == 1


async def test_a_login_by_script_is_told_by_the_new_words_beside_it(page: Context, club: Accounts) -> None:
    with pytest.raises(FormRefused, match="not valid"):
        await sends(page, club, "/scripted", "sign in", {"username": "ann", "password": "wrong"})
    assert (await sends(page, club, "/scripted", "sign in", CREDENTIALS)).startswith("complete")


async def test_forms_that_cannot_be_told_apart_are_listed(page: Context, club: Accounts) -> None:
    data = {"street": "Main St 1", "city": "Bonn"}
    with pytest.raises(FormUnclear) as caught:
        await sends(page, club, "/alike", "enter the address", data)
    assert all(
        part in caught.value.message for part in ("Ship to", "/ship", "Billing", "/bill", "Street, City", "Save")
    )
    assert club.posts == []
    await sends(page, club, "/alike", "enter the billing address", data)
    assert [path for path, _ in club.posts] == ["/bill"]


async def test_a_search_or_a_newsletter_is_no_contact_form(page: Context, club: Accounts) -> None:
    data = {"email": "ann@example.test", "message": "Do you sell kettles?"}
    for goal in ("send a message", "write to the shop"):
        with pytest.raises(FormIncomplete, match="Subscribe"):
            await sends(page, club, "/boxes", goal, data)
    assert club.posts == []


async def test_data_that_no_field_takes_is_named_before_anything_is_sent(page: Context, club: Accounts) -> None:
    data = {"name": "Ann", "message": "Hello there", "fax": "030 1", "none": None, "newsletter": False}
    with pytest.raises(FormIncomplete, match=r"takes: fax; its fields are: Name, Message") as caught:
        await sends(page, club, "/ask", "send a message", data)
    assert caught.value.details["fields"] == ["fax"]
    assert club.posts == []


async def test_a_comment_that_is_shown_was_posted(page: Context, club: Accounts) -> None:
    assert (await sends(page, club, "/blog", "comment", {"comment": "Mine whistles."})).startswith("complete")
    assert club.comments == ["Mine whistles."]


async def test_an_edit_is_saved_or_refused(page: Context, club: Accounts) -> None:
    assert (await sends(page, club, "/profile", "change the city", {"city": "Ulm"})).startswith("complete")
    assert club.city == "Ulm"
    with pytest.raises(FormRefused, match="At least 3 letters"):
        await sends(page, club, "/profile", "change the city", {"city": "X"})
    assert all("delete" not in given and "more" not in given for _, given in club.posts)


async def test_a_page_that_says_nothing_leaves_it_open(page: Context, club: Accounts) -> None:
    with pytest.raises(FormIncomplete, match="may have been taken") as caught:
        await sends(page, club, "/silent", "send the note", {"name": "Ann"})
    assert not isinstance(caught.value, FormRefused)
    assert "complete_criterion" in caught.value.message
    assert len(club.posts) == 1


async def test_a_status_of_refusal_is_a_refusal(page: Context, club: Accounts) -> None:
    with pytest.raises(FormRefused, match="403"):
        await sends(page, club, "/ask", "send a message", {"name": "Mallory", "message": "Hello there"})


async def test_a_search_is_done_with_its_answer(page: Context, club: Accounts) -> None:
    assert (await sends(page, club, "/ask", "search for kettles", {"q": "kettles"})).startswith("complete")
    assert club.posts == []
