"""Targets of an action on real pages of two sites, and forms that scripts and redirects would send to the other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.acting.reach.form_guard import SentForms
from shoal.agent.chromium.chromium_browser import ChromiumBrowser
from shoal.agent.errors import ElementMissing, SiteNotSentTo
from shoal.agent.observe.tree import walk_elements
from shoal.agent.support.sites.prospect import Prospect
from shoal.agent.support.sites.sites import sites_of
from shoal.agent.types import Action
from tests.loopback import served
from tests.model_server import until
from tests.patience import soon

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Two:
    """One server under two hosts: `own`, and `other`, which belongs to somebody else."""

    def __init__(self, url: str) -> None:
        self.own, self.other = url, url.replace("127.0.0.1", "localhost")
        self.pages: dict[str, str] = {}
        self.taken: list[tuple[str, str]] = []  # host and body of each form that came
        self.came = threading.Condition()

    def page(self, path: str, html: str) -> str:
        """Puts a page at `path`; gives its address on the own site."""
        self.pages[path] = f"<!doctype html><title>Page</title>{html}"
        return self.own + path


@pytest.fixture
def two() -> Iterator[Two]:
    here: list[Two] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = here[0].pages.get(self.path.partition("?")[0], "<title>Other</title>Nothing here").encode()
            self.answer(200, body)

        def do_POST(self) -> None:
            said = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            here[0].taken.append((str(self.headers["Host"]).partition(":")[0], said))
            if self.path == "/onward":
                self.answer(307, b"", here[0].other + "/collect")
            else:
                self.answer(200, b"<title>Thanks</title>Thank you")

        def answer(self, status: int, body: bytes, location: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            if location:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """No log."""

    with served(Handler) as url:
        here.append(Two(url))
        yield here[0]


@pytest_asyncio.fixture(loop_scope="session")
async def own_site_only(browser: Browser, two: Two) -> AsyncIterator[Context]:
    """A context whose forms may go to the own site only."""
    context = await browser.new_context(ContextOptions(sites=sites_of([two.own])))
    yield context
    await context.close()


async def ids(context: Context) -> dict[str, str]:
    """The ids of what the page shows, by name or text."""
    found: dict[str, str] = {}
    for element in walk_elements((await context.observe()).elements):
        name = element.name or element.text or " ".join(child.text for child in element.children)
        if element.bid and (name.strip() not in found or element.tag != "label"):
            found[name.strip()] = element.bid
    return found


PAGE = """<a href="/own">Ours</a> <a href="{other}/far">Theirs</a> <div role=button tabindex=0>Bare</div>
<form action="{other}/collect"><input aria-label=Card name=card><input name=action value=x type=hidden>
<button>Pay</button><button formaction="/own">Save</button>
<button type=button>Look</button></form>
<form><input aria-label=Plain><label>Terms <input type=checkbox></label></form>
<div id=card onclick="void 0">Box <span><button form=late>Late</button></span></div>
<form id=late action="//localhost:1/x"></form>
<div id=host></div><script>host.attachShadow({{mode: 'open'}}).innerHTML =
  '<form action="{other}/s"><button>Shadowed</button></form><a href="{other}/deep">Deep</a>'</script>"""


async def prospect_of(context: Context, name: str, **args: Any) -> Prospect:
    return await context.prospect(Action(name, args))


async def test_what_elements_of_one_page_reach(own_site_only: Context, two: Two) -> None:
    page = two.page("/", PAGE.format(other=two.other))
    await own_site_only.goto(page)
    on = await ids(own_site_only)
    far, collect = f"{two.other}/far", f"{two.other}/collect"
    assert await prospect_of(own_site_only, "click", bid=on["Theirs"]) == Prospect((page,), links=(far,))
    assert await prospect_of(own_site_only, "click", bid=on["Bare"]) == Prospect((page,), presses=True)
    pay, save = (
        await prospect_of(own_site_only, "click", bid=on["Pay"]),
        await prospect_of(own_site_only, "click", bid=on["Save"]),
    )
    assert len(pay.guarded) == 1 and save.guarded == pay.guarded, "both send that one form"
    sent = Prospect((page,), sends=True, presses=True, guarded=pay.guarded)
    assert pay == replace(sent, forms=(collect,))
    assert save == replace(sent, forms=(f"{two.own}/own",))
    assert await prospect_of(own_site_only, "click", bid=on["Look"]) == Prospect((page,), presses=True)
    card = await prospect_of(own_site_only, "fill", bid=on["Card"], value="4111")
    assert (card.field, card.forms) == (True, (collect,)), "and Enter in it presses its first button"
    assert card.guarded == pay.guarded
    plain = await prospect_of(own_site_only, "fill", bid=on["Plain"], value="x")
    assert len(plain.guarded) == 1 and plain.guarded != card.guarded
    assert plain == Prospect((page,), field=True, forms=(page,), guarded=plain.guarded)
    assert (await prospect_of(own_site_only, "click", bid=on["Terms"])).field
    assert (await prospect_of(own_site_only, "click", bid=on["Late"])).forms == ("http://localhost:1/x",)
    assert (await prospect_of(own_site_only, "click", bid=on["Shadowed"])).forms == (f"{two.other}/s",)
    with pytest.raises(ElementMissing):
        await prospect_of(own_site_only, "click", bid="99999")
    for url, listed in ((far, True), (f"{two.other}/deep", True), (f"{far}?card=4111", False), (two.own, False)):
        assert (await prospect_of(own_site_only, "goto", url=url)).listed is listed, url
    await own_site_only.act(Action("focus", {"bid": on["Card"]}))
    assert (await prospect_of(own_site_only, "keyboard_press", key_comb="Enter")).forms == (collect,)
    spot = await own_site_only.read("() => document.querySelector('form button').getBoundingClientRect().toJSON()")
    point = {"x": spot["x"] + 2, "y": spot["y"] + 2}
    assert (await prospect_of(own_site_only, "mouse_click", **point)).forms == (collect,)


FRAMES = """<input aria-label=Outside><iframe src="{other}/pay" width=400 height=200></iframe>
<iframe srcdoc="<input aria-label=Written>" width=300 height=60></iframe>"""


async def test_a_frame_of_another_site_is_told_of_however_it_is_reached(own_site_only: Context, two: Two) -> None:
    page = two.page("/", FRAMES.format(other=two.other))
    two.page("/pay", f"<input aria-label=Card style='margin: 50px'><iframe src='{two.own}/own'></iframe>")
    two.page("/own", "<input aria-label=Ours>")
    await own_site_only.goto(page)
    await own_site_only.settle()
    on = await ids(own_site_only)
    pay, own = f"{two.other}/pay", f"{two.own}/own"
    assert (await prospect_of(own_site_only, "fill", bid=on["Outside"], value="x")).documents == (page,)
    assert (await prospect_of(own_site_only, "fill", bid=on["Card"], value="x")).documents == (page, pay)
    assert set((await prospect_of(own_site_only, "fill", bid=on["Ours"], value="x")).documents) == {page, pay, own}
    written = (await prospect_of(own_site_only, "fill", bid=on["Written"], value="x")).documents
    assert all(address.startswith(two.own) for address in written), "it belongs to the page that wrote it"
    assert (await prospect_of(own_site_only, "keyboard_type", text="x")).documents == (page,)
    await own_site_only.act(Action("focus", {"bid": on["Card"]}))
    reached = await prospect_of(own_site_only, "keyboard_type", text="x")
    assert (reached.documents, reached.field) == ((page, pay), True)
    box = await own_site_only.read("() => document.querySelector('iframe').getBoundingClientRect().toJSON()")
    point = {"x": box["x"] + 70, "y": box["y"] + 62}
    reached = await prospect_of(own_site_only, "mouse_click", **point)
    assert (reached.documents, reached.field) == ((page, pay), True)


FORM = "<form action=/onward method=post><input name=card value=4111><button>{name}</button></form>"
SCRIPT = """<div role=button tabindex=0 id=go>Go</div><script>go.onclick = () => {{
  document.forms[0].action = '{other}/collect'; document.forms[0].submit(); }}</script>"""


OPENED = """<div role=button tabindex=0 id=go>Go</div><script>go.onclick = () => window.open('/form')</script>"""
INSIDE = "<iframe src=/form width=400 height=100></iframe>"
REDIRECTED = {
    "redirect": FORM.format(name="Go"),
    "window": FORM.format(name="Go").replace("<form", "<form target=_blank"),
    "window without opener": FORM.format(name="Go").replace("<form", "<form target=_blank rel=noopener"),
    "named frame": FORM.format(name="Go").replace("<form", "<form target=inner") + "<iframe name=inner></iframe>",
    "frame": INSIDE,
    "window that sends by itself": OPENED,
    "frame of a window": OPENED.replace("/form", "/around"),
}


@pytest.mark.parametrize("way", ["script", *REDIRECTED])
async def test_a_form_is_kept_from_the_other_site_whoever_sends_it_there(
    own_site_only: Context, two: Two, way: str
) -> None:
    by_script = FORM.format(name="No") + SCRIPT.format(other=two.other)
    page = two.page("/", REDIRECTED.get(way, by_script))
    sending = "<script>document.forms[0].submit()</script>" if "of a" in way or "by itself" in way else ""
    two.page("/form", FORM.format(name="Go") + sending)
    two.page("/around", INSIDE)
    await own_site_only.goto(page)
    await own_site_only.settle()
    result = await own_site_only.act(Action("click", {"bid": (await ids(own_site_only))["Go"]}))
    if sending:  # by the window itself, once it is there: told at the next action
        async with soon(30):
            while result.error is None:
                result = await own_site_only.act(Action("scroll", {"dx": 0, "dy": 1}))
    assert result.error is not None and result.error.code == SiteNotSentTo.code, result
    assert "localhost" in result.error.message and "`sites`" in result.error.message
    assert [host for host, _ in two.taken] == ([] if way == "script" else ["127.0.0.1"])
    assert own_site_only.url == page or "window" in way, "the page stays"


async def test_a_form_of_another_session_goes_where_that_one_may_send(
    own_site_only: Context, browser: Browser, two: Two
) -> None:
    """Both contexts are of one browser, and both are watched."""
    free = await browser.new_context(ContextOptions(sites=sites_of([two.own, two.other])))
    try:
        for context in (own_site_only, free):
            await context.goto(two.page("/", FORM.format(name="Go")))
        assert (await own_site_only.act(Action("click", {"bid": (await ids(own_site_only))["Go"]}))).error is not None
        two.taken.clear()
        assert (await free.act(Action("click", {"bid": (await ids(free))["Go"]}))).error is None
        await until(lambda: len(two.taken) == 2)
        assert [host for host, _ in two.taken] == ["127.0.0.1", "localhost"]
    finally:
        await free.close()


async def test_a_form_reaches_its_own_site_and_its_page_may_lead_elsewhere(own_site_only: Context, two: Two) -> None:
    await own_site_only.goto(two.page("/", FORM.format(name="Go").replace("/onward", "/sent")))
    result = await own_site_only.act(Action("click", {"bid": (await ids(own_site_only))["Go"]}))
    assert result.error is None and two.taken == [("127.0.0.1", "card=4111")]
    await own_site_only.goto(two.page("/", f"<a href='{two.other}/far'>Theirs</a>"))
    result = await own_site_only.act(Action("click", {"bid": (await ids(own_site_only))["Theirs"]}))
    assert result.error is None and own_site_only.url == f"{two.other}/far"


async def test_without_sites_forms_go_where_they_like(browser: Browser, two: Two) -> None:
    context = await browser.new_context()
    try:
        await context.goto(two.page("/", FORM.format(name="Go").replace("/onward", f"{two.other}/collect")))
        assert (await context.act(Action("click", {"bid": (await ids(context))["Go"]}))).error is None
        assert two.taken == [("localhost", "card=4111")]
    finally:
        await context.close()


async def test_a_page_loads_while_the_last_watched_context_is_left(
    own_site_only: Context, browser: Browser, two: Two
) -> None:
    """Chromium (156) forgets a request that it halts while it is told to halt no more."""
    assert isinstance(own_site_only, ActingContext) and isinstance(browser, ChromiumBrowser)
    page = two.page("/", "<p>Here")
    await own_site_only.goto(page)
    for number in range(100):
        forms = SentForms(sites_of([two.own]))
        await browser.form_guard.watch(forms, own_site_only.tab)

        async def leave(after_s: float, forms: SentForms = forms) -> None:
            await asyncio.sleep(after_s)
            browser.form_guard.leave(forms)

        async with soon(10):
            await asyncio.gather(own_site_only.goto(f"{page}?{number}"), leave(number * 0.0002))
