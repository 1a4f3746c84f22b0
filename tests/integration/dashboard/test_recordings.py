"""A recording is played on the page of its session; what a hostile one holds is drawn, and neither runs nor loads."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from shoal.agent.types import ArtifactRef
from tests.gateway_world import World, completed
from tests.integration.dashboard.served import faults_in_views, served_site
from tests.integration.dashboard.test_traces import of_session
from tests.live_world import Live, live_world
from tests.loopback import served

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD = "tops3cret-Word"
LOGIN = """<!doctype html><title>Log in</title><h1>Welcome</h1><style>h1 { color: rgb(10, 20, 30) }</style>
<input id=user><input id=pw type=password><button id=go>Go</button>
<script>go.onclick = () => go.insertAdjacentHTML('afterend', '<p id=in>Signed in</p>');</script>"""
SHOP = """<!doctype html><title>Shop</title><h1 class=name>Kettle</h1><img src=/kettle.png alt="A kettle">
<a href="javascript:top.document.title='owned'">a link</a><p>A page of the shop</p>"""
JOB: dict[str, Any] = {
    "goal": None,
    "policy": "rules",
    "extract": {"fields": {"name": {"select": "h1.name"}}},
    "artifacts": {"recording": True},
}
ARTIFACT = f"{0xFEED:032x}"
EVIL = "<script>top.owned = 1</script>\"'&"


def pictures() -> Path | None:
    folder = os.environ.get("RECORDING_SHOTS")
    return Path(folder) if folder else None


@dataclass(frozen=True)
class Recorded:
    """A session whose pages were recorded, and where it ran."""

    live: Live
    session: str
    recording: tuple[str, bytes]  # its id and what it holds


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def recorded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Recorded]:
    folder, pages = tmp_path_factory.mktemp("live"), {"/": SHOP, "/login": LOGIN}
    async with live_world(folder, pages, lambda body: "") as live:
        session = await recorded_session(live)
        yield Recorded(live, session, (await of_session(live, folder, session))["recording"])


async def recorded_session(live: Live) -> str:
    steps = [
        {"fill": "#user", "value": "anna"},
        {"fill": "#pw", "value": PASSWORD},
        {"click": "#go"},
        {"wait_for": "#in"},
    ]
    session = await live.job(**JOB, login={"url": f"{live.site}login", "steps": steps})
    row = await live.until(session, lambda row: row["status"] not in ("queued", "running"))
    assert (row["status"], row["records"]) == ("completed", 1), row
    return session


async def test_a_sessions_pages_are_played_again_with_its_steps_and_without_what_was_typed(
    recorded: Recorded, browser: Browser
) -> None:
    live, session = recorded.live, recorded.session
    told = gzip.decompress(recorded.recording[1]).decode()
    assert PASSWORD not in told and "anna" not in told and "Signed in" in told

    page = await browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    await page.goto(f"{live.url}/sessions/{session}")
    await page.get_by_text("Recording of the pages").click()
    player = page.frame_locator("iframe[title='Player of the recording']")
    drawn = player.frame_locator(".stage iframe")
    await expect(player.locator("#replay-state")).to_have_text("Paused")
    await expect(drawn.get_by_role("heading", name="Welcome")).to_be_attached()

    # The step of the login is marked, and leads to its moment; the whole is played to its end by one key.
    mark = player.locator("[data-at]").first
    await expect(mark).to_contain_text("fill")
    await mark.get_by_role("button").click()
    await expect(mark).to_have_attribute("aria-current", "step")
    await player.locator("#replay-speed").select_option("8")
    await player.locator("#replay-address").click()
    await page.keyboard.press("Space")
    await expect(player.locator("#replay-state")).to_have_text("The end")
    await expect(drawn.get_by_role("heading", name="Kettle")).to_be_attached()
    await expect(player.locator("#replay-address")).to_have_text(live.site)

    # Back to the login's page by the range's own keys.
    at = player.locator("#replay-at")
    await at.focus()
    await page.keyboard.press("Home")
    await expect(drawn.get_by_role("heading", name="Welcome")).to_be_attached()
    await expect(at).to_have_attribute("aria-valuetext", re.compile("^0:00 of 0:"))
    assert await page.title() == f"{session} · Shoal"
    assert complaints == []


async def test_a_step_that_began_before_its_page_is_marked_at_the_page_s_beginning(
    recorded: Recorded, browser: Browser
) -> None:
    async def slow_page(route: Route) -> None:
        """The recording as of a page that took half a minute to load."""
        answer = await route.fetch()
        told = await answer.json()
        for event in (event for tab in told["tabs"] for event in tab["events"]):
            event["timestamp"] += 30_000
        kept = {name: text for name, text in answer.headers.items() if not name.startswith("content-")}
        await route.fulfill(json=told, headers=kept | {"content-type": "application/json"})

    page = await browser.new_page()
    await page.route(f"**/{recorded.recording[0]}/events", slow_page)
    await page.goto(f"{recorded.live.url}/sessions/{recorded.session}")
    await page.get_by_text("Recording of the pages").click()
    player = page.frame_locator("iframe[title='Player of the recording']")
    await expect(player.locator("#replay-state")).to_have_text("Paused")
    mark = player.locator("[data-at]").first
    await mark.get_by_role("button").click()
    await expect(mark.locator(".at")).to_have_text("0:00")
    await page.close()


def element(tag: str, number: int, *children: Any, **attributes: Any) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in attributes.items()}
    return {"type": 2, "id": number, "tagName": tag, "attributes": named, "childNodes": list(children)}


def hostile(other: str) -> bytes:
    """A recording that no worker would store: it was written past its cleaning."""
    words = {"type": 3, "id": 30, "textContent": EVIL}
    body = element(
        "body",
        3,
        element("script", 4, {"type": 3, "id": 5, "textContent": "top.owned = 1; alert(1)"}),
        element("img", 6, src="x", onerror="top.owned = 1"),
        element("img", 7, src=f"{other}/picture.png"),
        element("a", 8, {"type": 3, "id": 9, "textContent": "link"}, href="javascript:top.owned=1"),
        element(
            "a", 24, {"type": 3, "id": 25, "textContent": "away"}, href=f"{other}/away", target="_top", autofocus=""
        ),
        element("meta", 10, http_equiv="refresh", content=f"0;url={other}/refresh"),
        element(
            "style",
            11,
            {"type": 3, "id": 12, "textContent": f"@import '{other}/a.css'; p {{ background: url({other}/b.png) }}"},
        ),
        element("link", 13, rel="stylesheet", href=f"{other}/c.css"),
        element("link", 14, rel="stylesheet", href="/static/shoal.css"),
        element("iframe", 15, srcdoc="<script>top.owned = 1</script>"),
        element("iframe", 16, rr_src=f"{other}/frame"),
        element("object", 17, data=f"{other}/object"),
        element("embed", 18, src=f"{other}/embed"),
        element("video", 19, src=f"{other}/video", autoplay=""),
        element("base", 20, href=other),
        element(
            "form", 21, element("input", 22, name="q", autofocus="", onfocus="top.owned = 1"), action=f"{other}/form"
        ),
        element("svg", 26, element("image", 27, href=f"{other}/svg.png"), onload="top.owned = 1"),
        element("p", 23, words),
    )
    root = {"type": 0, "id": 1, "childNodes": [element("html", 2, body)]}
    later = {
        "parentId": 3,
        "nextId": None,
        "node": element("img", 40, src=f"{other}/later.png", onerror="top.owned = 1"),
    }
    mutation = {
        "source": 0,
        "texts": [],
        "removes": [],
        "adds": [later],
        "attributes": [{"id": 7, "attributes": {"src": f"{other}/changed.png", "onload": "top.owned = 1"}}],
    }
    events = [
        {"type": 4, "data": {"href": f"javascript:{EVIL}", "width": 800, "height": 600}, "timestamp": 1000},
        {"type": 2, "data": {"node": root, "initialOffset": {"left": 0, "top": 0}}, "timestamp": 1001},
        {"type": 3, "data": mutation, "timestamp": 1300},
        {"type": 3, "data": {"source": 3, "id": 1, "x": 0, "y": 0}, "timestamp": 1600},
    ]
    told = {"format": 1, "tabs": [{"events": events}], "lacks": [EVIL]}
    return gzip.compress(json.dumps(told).encode())


async def hostile_session(world: World, data: bytes) -> str:
    """A session with this recording."""
    job = await world.submit()
    (work,) = [work for work in await world.claim() if f"j{work.job}" == job]
    key = f"default/{work.job}/{work.session}/{ARTIFACT}.gz"
    await world.artifacts.put(key, data, "application/gzip")
    outcome = completed({"n": 1})
    kept = ArtifactRef(ARTIFACT, "recording", key, "application/gzip", len(data))
    await world.finish([work], lambda _: replace(outcome, artifacts=(kept,)))
    return str((await world.client.get(f"/v1/jobs/{job}")).json()["root_session"])


async def test_a_hostile_recording_runs_nothing_loads_nothing_and_leads_nowhere(browser: Browser) -> None:
    reached: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reached.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    with served(Handler) as other:
        async with served_site(browser) as site:
            session = await hostile_session(site.world, hostile(other))
            context = await site.browser.new_context(viewport={"width": 1280, "height": 900})
            page = await context.new_page()
            answered, dialogs = [], []
            page.on("response", lambda response: answered.append(response.url))
            page.on("dialog", lambda dialog: dialogs.append(dialog.message))
            address = f"{site.url}/sessions/{session}/recordings/{ARTIFACT}"
            await page.goto(address)
            await expect(page.locator("#replay-state")).to_have_text("Paused")
            await page.locator("#replay-play").click()
            await expect(page.locator("#replay-state")).to_have_text("The end")
            drawn = page.frame_locator(".stage iframe").first
            await expect(drawn.locator("p")).to_have_text(EVIL)
            await expect(page.locator("#replay-lacks li")).to_have_text(f"Not there: {EVIL}.")
            await expect(page.locator("#replay-address")).to_have_text(f"javascript:{EVIL}")
            for _ in range(30):  # no key reaches a link or a field of the page that is drawn
                await page.keyboard.press("Tab")
                assert await page.evaluate("document.activeElement.tagName") != "IFRAME"
            assert await page.evaluate("window.owned") is None
            assert dialogs == []
            assert page.url == address
            assert reached == []
            assert {url.removeprefix(site.url) for url in answered if not url.startswith("data:")} == {
                f"/sessions/{session}/recordings/{ARTIFACT}",
                f"/sessions/{session}/recordings/{ARTIFACT}/events",
                "/static/replay.js",
                "/static/rrweb-replay.min.js",
            }
            assert len(context.pages) == 1
            await context.close()


async def test_the_player_keeps_nobody_out_and_looks_right(recorded: Recorded, browser: Browser) -> None:
    live, session, (artifact, _) = recorded.live, recorded.session, recorded.recording
    page = await browser.new_page()
    await page.goto(f"{live.url}/sessions/{session}/recordings/{artifact}")
    await expect(page.locator("#replay-state")).to_have_text("Paused")
    assert await faults_in_views(page, "player") == []
    await page.goto(f"{live.url}/sessions/{session}")
    await page.get_by_text("Recording of the pages").click()
    player = page.frame_locator("iframe[title='Player of the recording']")
    await expect(player.locator("#replay-state")).to_have_text("Paused")
    await look(page, "session")


async def look(page: Page, name: str) -> None:
    """Keeps a picture for the eye, where a folder is given."""
    if folder := pictures():
        folder.mkdir(parents=True, exist_ok=True)
        await page.screenshot(path=folder / f"{name}.png", full_page=True)
