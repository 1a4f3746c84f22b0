"""Recordings of real pages: what happened is there, what was typed is not, and a page can do nothing about it."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.recording import recorder
from shoal.agent.sessions.traces.recording import redacted_recording
from shoal.agent.support.page_names import NAMES
from shoal.agent.types import Action

pytestmark = pytest.mark.asyncio(loop_scope="session")

RECORDED = ContextOptions(recording=True, action_timeout_s=60)
STRICT = {"Content-Security-Policy": "default-src 'none'; script-src 'sha256-none'; sandbox allow-forms"}
FORM = """<!doctype html><title>Form</title><h1>A form</h1>
<style>h1 { background: url(/picture.png); color: rgb(1, 2, 3) }</style>
<input id=name value="of-the-page"><input id=pw type=password><input type=hidden name=x value="hidden-token-1">
<select id=size><option value=s>Small</option><option value=l>Large-One</option></select>
<label><input id=agree type=checkbox> Agree</label><div id=rich contenteditable>before</div>
<textarea id=long>of-the-area</textarea><p id=echo></p>
<button id=go type=button onclick="echo.textContent = 'Sent'">Send</button>
<img src=/picture.png onerror="1"><a href="/second" id=next>Next</a><a href="javascript:1">Never</a>
<script>pw.oninput = () => { echo.textContent = 'you typed ' + pw.value; }</script>"""
SECOND = "<!doctype html><title>Second</title><h1>The second page</h1>"
WATCHING = """<!doctype html><title>Watching</title><h1>Watching</h1><div id=Zone></div><p id=exports>e</p>
<script>
  window.seen = []; window.heard = [];
  new MutationObserver((records) => records.forEach((r) => [...r.addedNodes, ...r.removedNodes].forEach(
    (n) => n.nodeType === 1 && seen.push(n.tagName)))).observe(document, {childList: true, subtree: true});
  addEventListener('message', (event) => heard.push(event.data));
  for (const name of ['shoalRecorded', 'shoalRecording', 'rrwebRecord']) if (name in window) seen.push(name);
  window.shoalRecorded = (text) => heard.push(text);
</script>"""
HOSTILE = """<!doctype html><title>Hostile</title><h1 class="rr-block rr-mask rr-ignore">Seen all the same</h1>
<form><input name=attributes><input name=tagName></form><button id=b>B</button><p id=late></p>
<script>
  for (const kind of ['click', 'scroll', 'input']) addEventListener(kind, (e) => e.stopImmediatePropagation(), true);
  MutationObserver.prototype.observe = () => {};
  JSON.stringify = () => '{"forged": true}';
  Date.now = () => 5;
  window.shoalRecorded?.('{"document":"forged","events":[]}');
  const event = {type: 3, data: {source: 0, forged: 1}, timestamp: 1};
  postMessage({type: 'rrweb', event, origin: location.origin}, '*');
  b.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: 4711, clientY: 4711}));
  for (let i = 0; i < 100000; i++) { clearTimeout(i); clearInterval(i); }
  setTimeout(() => { late.textContent = 'It came late'; for (let i = 0; i < 1000; i++) clearTimeout(i); }, 50);
</script>"""
CALLED = "".join(f"<input type=hidden name={name}>" for name in NAMES)
SHOWN = "".join(f"<img name={name}>" for name in (*NAMES, "shoalRecording", "shoalOwn", "Zone") if name != "hidden")
CLOBBERED = f"<!doctype html><title>Named</title>{SHOWN}<form><h1>Named as scripts ask</h1>{CALLED}</form><p id=late>"
ENDLESS = """<!doctype html><title>Endless</title><p id=p></p><script>
  const turn = () => { p.textContent = 'x'.repeat(1000) + Math.random(); p.title++; setTimeout(turn, 0); }; turn();
</script>"""
LONG = """() => new Promise((done) => {
  const look = () => document.getElementById("p").title > 400 ? done(true) : setTimeout(look, 20);
  look();
})"""
"""Returns once the endless page has changed 400 times, by 1,000 characters each time."""
MANY = "<!doctype html><title>Many</title><h1>Many</h1><script>document.write('<i></i>'.repeat(400))</script>"
FRAMES = """<!doctype html><title>Frames</title><h1>Outside</h1><iframe src=/inner></iframe>
<iframe src="http://localhost:{port}/stranger"></iframe>
<iframe srcdoc="<p>Written inside</p><script>parent.document.title = 'x'</script>"></iframe>"""
POPUP = "<!doctype html><title>Opener</title><h1>Opener</h1><a id=go href=/second target=_blank>Open</a>"
SHADOW = """<!doctype html><title>Shadow</title><script>
customElements.define('x-card', class extends HTMLElement {
  connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<b>In the shadow</b>'; } });
setTimeout(() => document.body.append(document.createElement('x-card')), 50);</script>"""
PAGES = {
    "/form": (FORM, {}),
    "/second": (SECOND, {}),
    "/strict": (SECOND.replace("second", "strict"), STRICT),
    "/watching": (WATCHING, {}),
    "/hostile": (HOSTILE, {}),
    "/clobbered": (CLOBBERED, {}),
    "/endless": (ENDLESS, {}),
    "/many": (MANY, {}),
    "/frames": (FRAMES, {}),
    "/inner": ("<p>Of the same site</p>", {}),
    "/stranger": ("<p>Of another site</p>", {}),
    "/popup": (POPUP, {}),
    "/shadow": (SHADOW, {}),
}


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text, headers = PAGES.get(self.path, ("", {}))
            body = text.replace("{port}", str(server.server_port)).encode()
            self.send_response(200 if text else 404)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest_asyncio.fixture(loop_scope="session")
async def recorded(browser: Browser) -> AsyncIterator[Context]:
    context = await browser.new_context(RECORDED)
    yield context
    await context.close()


async def recording_state(context: Context) -> dict[str, Any]:
    """The recording as it is stored, which is ended now."""
    raw = await context.end_recording()
    assert raw is not None
    packed = redacted_recording(raw, lambda text: text.replace("tops3cret", "(hidden)"))
    assert packed is not None
    unpacked: dict[str, Any] = json.loads(gzip.decompress(packed))
    return unpacked


async def bid(context: Context, selector: str) -> str:
    (number,) = await context.locate([selector])
    assert number is not None, selector
    return number


def kinds(events: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Type and source of each event."""
    return [(event["type"], event["data"].get("source", -1)) for event in events]


async def test_what_was_typed_and_chosen_is_not_recorded_and_what_happened_is(recorded: Context, pages: str) -> None:
    await recorded.goto(f"{pages}/form")
    for selector, text in (
        ("#name", "Anna-Typed"),
        ("#pw", "tops3cret"),
        ("#long", "Area-Typed"),
        ("#rich", "Rich-Typed"),
    ):
        result = await recorded.act(Action("fill", {"bid": await bid(recorded, selector), "value": text}))
        assert result.error is None, result.error
    for action in (
        Action("select_option", {"bid": await bid(recorded, "#size"), "options": "l"}),
        Action("check", {"bid": await bid(recorded, "#agree")}),
        Action("click", {"bid": await bid(recorded, "#go")}),
    ):
        assert (await recorded.act(action)).error is None, action
    recording = await recording_state(recorded)
    text = json.dumps(recording)
    secrets = ("Anna-Typed", "tops3cret", "Area-Typed", "Rich-Typed", "of-the-page", "of-the-area", "hidden-token-1")
    assert [secret for secret in secrets if secret in text] == []
    for inert in ("picture.png", "onerror", "javascript:", '"checked"', '"selected"', 'isChecked": true', "oninput"):
        assert inert not in text, inert
    for shown in ("A form", "Large-One", "Sent", "you typed (hidden)", "rgb(1, 2, 3)"):
        assert shown in text, shown
    (tab,) = recording["tabs"]
    assert {(4, -1), (2, -1), (3, 0), (3, 2), (3, 5)} <= set(kinds(tab["events"]))
    assert recording["lacks"] == []


async def test_every_document_is_recorded_anew_in_order_whatever_its_policy(recorded: Context, pages: str) -> None:
    for page in ("form", "strict", "second"):
        await recorded.goto(f"{pages}/{page}")
    assert (await recorded.act(Action("go_back"))).error is None
    (tab,) = (await recording_state(recorded))["tabs"]
    opened = [event["data"]["href"] for event in tab["events"] if event["type"] == 4]
    assert [address.removeprefix(pages) for address in opened if address != "about:blank"] == [
        "/form",
        "/strict",
        "/second",
        "/strict",
    ]
    times = [event["timestamp"] for event in tab["events"]]
    assert times == sorted(times) and abs(times[-1] - time.time() * 1000) < 60_000


async def test_a_page_sees_nothing_of_it(browser: Browser, pages: str) -> None:
    seen: list[object] = []
    for options in (ContextOptions(), RECORDED):
        context = await browser.new_context(options)
        assert isinstance(context, ActingContext)
        await context.goto(f"{pages}/watching")
        await context.settle()
        page = context.tab.page
        seen.append(await page.evaluate("[seen, heard, document.getElementsByTagName('*').length]"))
        if options.recording:
            assert "Watching" in json.dumps(await recording_state(context))
        await context.close()
    assert seen[0] == seen[1] and seen[0], seen


async def test_a_hostile_page_neither_forges_nor_stops_it(recorded: Context, pages: str) -> None:
    await recorded.goto(f"{pages}/hostile")
    await recorded.act(Action("click", {"bid": await bid(recorded, "#b")}))
    while "late" not in str(await recorded.read("() => document.getElementById('late').textContent")):
        await recorded.settle()
    text = json.dumps(await recording_state(recorded))
    assert "forged" not in text and "4711" not in text
    for shown in ("Seen all the same", "It came late"):
        assert shown in text, shown


async def test_a_page_that_changes_without_end_is_bounded(
    browser: Browser, pages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "DOCUMENT_CHARS", 200_000)
    recorder.source.cache_clear()
    try:
        context = await browser.new_context(RECORDED)
        await context.goto(f"{pages}/endless")
        await context.read(LONG)
        await context.goto(f"{pages}/second")
        recording = await recording_state(context)
        await context.close()
    finally:
        recorder.source.cache_clear()
    text = json.dumps(recording)
    assert recording["lacks"] == ["a page changed so much that the rest of it is not recorded"]
    assert 50_000 < len(text) < 400_000 and "The second page" in text


async def test_a_session_that_tells_too_much_is_recorded_to_its_bound(
    browser: Browser, pages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MOST_CHARS", 100_000)
    context = await browser.new_context(RECORDED)
    await context.goto(f"{pages}/endless")
    await context.read(LONG)
    await context.goto(f"{pages}/second")
    raw = await context.end_recording()
    await context.close()
    assert raw is not None and raw.full
    assert sum(len(batch) for tab in raw.tabs for batch in tab) <= 100_000
    assert "The second page" not in str(raw.tabs)


async def test_a_page_with_too_many_elements_is_said_not_to_be_there(
    browser: Browser, pages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MOST_ELEMENTS", 300)
    recorder.source.cache_clear()
    try:
        context = await browser.new_context(RECORDED)
        await context.goto(f"{pages}/many")
        recording = await recording_state(context)
        await context.close()
    finally:
        recorder.source.cache_clear()
    assert recording["lacks"] == ["a page has so many elements that it is not recorded"]


async def test_frames_of_the_same_site_are_recorded_and_others_are_blank(recorded: Context, pages: str) -> None:
    await recorded.goto(f"{pages}/frames")
    await recorded.settle()
    text = json.dumps(await recording_state(recorded))
    assert "Of the same site" in text and "Written inside" in text and "Outside" in text
    assert "Of another site" not in text and "localhost" not in text and "srcdoc" not in text


async def test_a_window_that_a_page_opens_is_a_tab_of_its_own(recorded: Context, pages: str) -> None:
    await recorded.goto(f"{pages}/popup")
    result = await recorded.act(Action("click", {"bid": await bid(recorded, "#go")}))
    assert result.effect.new_tab
    await recorded.settle()
    tabs = (await recording_state(recorded))["tabs"]
    assert ["Opener" in json.dumps(tab) for tab in tabs] == [True, False]
    assert "The second page" in json.dumps(tabs[1])


async def test_shadow_trees_are_recorded(recorded: Context, pages: str) -> None:
    await recorded.goto(f"{pages}/shadow")
    while not await recorded.read("() => !!document.querySelector('x-card')"):
        await recorded.settle()
    assert "In the shadow" in json.dumps(await recording_state(recorded))


async def test_a_context_that_is_not_to_be_recorded_is_not(browser: Browser, pages: str) -> None:
    context = await browser.new_context()
    await context.goto(f"{pages}/second")
    assert await context.end_recording() is None
    await context.close()


async def test_a_page_that_calls_its_elements_as_scripts_ask_for_them_is_recorded(
    recorded: Context, pages: str
) -> None:
    await recorded.goto(f"{pages}/clobbered")
    await recorded.read("() => { document.querySelector('#late').append('It came late'); }")
    text = json.dumps(await recording_state(recorded))
    assert "Named as scripts ask" in text and "It came late" in text
