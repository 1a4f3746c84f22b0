"""The trace viewer: what a site gave is shown there, and never runs with the dashboard's cookies."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
import uvicorn
from playwright.async_api import BrowserContext, Page, Response, async_playwright, expect

from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.types import ArtifactRef
from shoal.services.store.records import Finish
from tests.gateway_world import completed, world

TRACE = "a" * 32
SITE = "https://shop.example/"
RUNS = "document.documentElement.setAttribute('data-ran', origin)"
DRAWING = f"""<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="40" height="30">
<rect width="40" height="30" fill="red"/><script>{RUNS}</script></svg>"""
PAGE = f"<!doctype html><title>hostile</title><script>{RUNS}</script>"
IN_AN_ATTRIBUTE = f"x><script>parent.parent.{RUNS}</script><i y"
EVENTS: list[dict[str, Any]] = [
    {"version": 10, "type": "context-options", "origin": "library", "browserName": "chromium", "options": {},
     "platform": "linux", "wallTime": 1, "monotonicTime": 1, "sdkLanguage": "python", "contextId": "c"},
    {"type": "before", "callId": "call@1", "startTime": 2, "class": "Frame", "method": "click",
     "params": {"selector": "#buy"}, "pageId": "page@1"},
    {"type": "frame-snapshot", "snapshot": {
        "callId": "call@1", "phase": "before", "pageId": "page@1", "frameId": "frame@1", "frameUrl": SITE,
        "doctype": "html", "viewport": {"width": 600, "height": 400}, "timestamp": 2, "isMainFrame": True,
        "resourceOverrides": [], "html": ["HTML", {}, ["BODY", {}, ["H1", {}, "Kettle"],
            ["IMG", {"id": "drawing", "src": f"{SITE}a.svg"}], ["B", {IN_AN_ATTRIBUTE: "1"}, "bold"],
            ["FORM", {"action": "/logout", "method": "post"}, ["BUTTON", {}, "Buy"]]]]}},
    {"type": "after", "callId": "call@1", "endTime": 3},
]  # fmt: skip


def hostile_trace() -> bytes:
    """A trace as a hostile site would like it; also one that a site gave as a download."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as trace:
        trace.writestr("trace.trace", "\n".join(json.dumps(event) for event in EVENTS))
        trace.writestr("trace.network", "\n".join(map(json.dumps, _requests())))
        trace.writestr("resources/a.svg", DRAWING)
        trace.writestr("resources/b.html", PAGE)
    return made.getvalue()


def _requests() -> list[dict[str, Any]]:
    files = {"a.svg": "image/svg+xml", "b.html": "text/html"}
    return [
        {
            "type": "resource-snapshot",
            "snapshot": {
                "_frameref": "frame@1", "_monotonicTime": 1, "time": 1, "timings": {}, "startedDateTime": "2026-11-28",
                "request": {"method": "GET", "url": SITE + name, "headers": [], "cookies": [], "queryString": []},
                "response": {"status": 200, "statusText": "OK", "cookies": [],
                             "headers": [{"name": "Content-Type", "value": mime}],
                             "content": {"size": 9, "mimeType": mime, "_file": f"resources/{name}"}},
            },
        }
        for name, mime in files.items()
    ]  # fmt: skip


@dataclass
class Victim:
    """An operator who is logged in, with the hostile trace opened once."""

    url: str
    context: BrowserContext
    viewer: Page


@asynccontextmanager
async def victim() -> AsyncIterator[Victim]:
    async with world(auth=True) as made, async_playwright() as playwright:
        key = await made.key("read", "submit", "admin", tenant="acme")
        made.client.headers["Authorization"] = f"Bearer {key}"
        await made.submit()
        data = hostile_trace()
        await made.artifacts.put("acme/trace.zip", data, "application/zip")
        kept = ArtifactRef(TRACE, "trace", "acme/trace.zip", "application/zip", len(data))
        (work,) = await made.claim()
        await made.store.finish([Finish(work.session, work.fence, replace(completed({"n": 1}), artifacts=(kept,)))])
        config = uvicorn.Config(made.app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1)
        server, socket = uvicorn.Server(config), config.bind_socket()
        task = asyncio.create_task(server.serve([socket]))
        browser = await playwright.chromium.launch(executable_path=str(find_chromium(None)), args=["--no-sandbox"])
        try:
            url = f"http://127.0.0.1:{socket.getsockname()[1]}"
            context = await browser.new_context()
            viewer = await context.new_page()
            await viewer.goto(f"{url}/login")
            await viewer.locator("[name=key]").fill(key)
            await viewer.locator("[name=key]").press("Enter")
            await expect(viewer.get_by_role("button", name="Log out")).to_be_visible(timeout=60_000)
            await viewer.goto(f"{url}/trace-viewer/index.html?trace=/artifacts/{TRACE}")
            await expect(viewer.get_by_text("Click").first).to_be_visible(timeout=60_000)
            yield Victim(url, context, viewer)
        finally:
            await browser.close()
            server.should_exit = True
            await task
            socket.close()


@pytest.fixture
async def here() -> AsyncIterator[Victim]:
    async with victim() as made:
        yield made


async def ran(page: Page) -> str | None:
    """The origin that a script of the hostile site has run with."""
    return await page.evaluate("document.documentElement.getAttribute('data-ran')")


async def navigation_answer(page: Page, url: str, address: str) -> Response:
    """The answer to a navigation that a page of the dashboard begins, as the login does with its `next`."""
    await page.goto(f"{url}/status")
    async with page.expect_navigation() as navigation:
        await page.evaluate("address => { location.href = address }", address)
    answer = await navigation.value
    assert answer is not None
    return answer


FRAMED = """address => new Promise(done => {
  const frame = document.createElement('iframe');
  frame.onload = () => done(frame.contentDocument?.documentElement.getAttribute('data-ran') ?? null);
  frame.src = address;
  document.body.append(frame);
})"""


async def test_no_file_of_a_trace_is_a_document_of_the_dashboard(here: Victim) -> None:
    page = await here.context.new_page()
    for file in ("resources/a.svg", "resources/b.html"):
        for more in ("", "&dn=x", "&dn=x&dct=text/html", "&dct=text/html"):
            address = f"/trace-viewer/file/{file}?trace=/artifacts/{TRACE}{more}"
            assert await here.viewer.evaluate(FRAMED, address) is None, f"ran in a frame: {address}"
            answer = await navigation_answer(page, here.url, address)
            assert await ran(page) is None, f"ran: {address}"
            assert answer.status == 403, address


async def test_the_viewer_shows_the_page_and_runs_nothing_of_it(here: Victim) -> None:
    await here.viewer.get_by_text("Click").last.click()
    await here.viewer.get_by_role("tab", name="Before").click()
    shown = here.viewer.frame_locator("iframe.snapshot-visible")
    await expect(shown.get_by_text("Kettle")).to_be_visible(timeout=60_000)
    await expect(shown.locator("#drawing")).to_have_js_property("naturalWidth", 40, timeout=60_000)
    assert await ran(here.viewer) is None
    sent: list[str] = []
    here.viewer.on("request", lambda request: sent.append(request.method))
    await shown.get_by_role("button", name="Buy").click()
    await expect(shown.get_by_text("Kettle")).to_be_visible()
    assert "POST" not in sent, "a form of the site sends something with the dashboard's cookies"


async def test_what_the_viewers_worker_makes_up_can_be_no_document_and_no_script(here: Victim) -> None:
    asked = """async ([address, more]) => {
      const answer = await fetch(address, more);
      return [answer.status, Object.fromEntries(answer.headers)];
    }"""
    trace = f"trace=/artifacts/{TRACE}"
    for path in ("file/resources/a.svg", "file/resources/b.html", "contexts"):
        status, headers = await here.viewer.evaluate(asked, [f"/trace-viewer/{path}?{trace}", {}])
        assert (status, headers["x-content-type-options"]) == (200, "nosniff"), path
        assert "sandbox" in headers["content-security-policy"], path
        assert "default-src 'none'" in headers["content-security-policy"], path
    status, headers = await here.viewer.evaluate(
        asked, [f"/trace-viewer/file/resources/a.svg?{trace}&dn=x&dct=text/html", {}]
    )
    assert status == 403
    loads = """address => new Promise(done => { const script = document.createElement('script');
      script.onload = () => done('loaded'); script.onerror = () => done('refused'); script.src = address;
      document.head.append(script) })"""
    assert await here.viewer.evaluate(loads, f"/trace-viewer/file/resources/b.html?{trace}") == "refused"
    page = await here.context.new_page()
    answer = await page.goto(f"{here.url}/trace-viewer/snapshot/call@1?{trace}&phase=before")
    assert answer is not None and answer.status == 200
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-same-origin allow-scripts" in policy and "form-action 'none'" in policy, policy
    assert await ran(page) is None
