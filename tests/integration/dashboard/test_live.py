"""People look at running sessions and take them over: from their Chromium to the page, and back to the agent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from shoal.services.live_messages import PREFIX
from tests.integration.dashboard.served import pages_closed
from tests.live_world import Agent, Live, live_world
from tests.model_server import ModelServer, slow
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOCKED = """<!doctype html><title><img src=x onerror="document.title='owned'"></title><body style="margin:0">
<h1 style="margin:0;height:60px">Locked</h1>
<button style="position:absolute;left:200px;top:100px;width:200px;height:60px">Look</button>
<button style="position:absolute;left:600px;top:300px;width:200px;height:60px" id="unlock">Unlock</button>
<input style="position:absolute;left:600px;top:400px;width:200px;height:40px" id="code" aria-label="Code">
<p style="position:absolute;top:500px" id="told"></p>
<script>
  unlock.onclick = () => {
    if (!confirm('Open <b>the lock</b>?')) return;
    fetch('/unlock', { method: 'POST', body: code.value });
    document.querySelector('h1').textContent = 'Wide open';
  };
</script>"""


TWICE = """<!doctype html><title><img src=x onerror="document.title='owned'"></title><h1>Locked</h1>
<button onclick="if (this.dataset.once) document.querySelector('h1').textContent = 'Wide open';
  this.dataset.once = 'yes'">Look</button>"""


def as_written(server: ModelServer, body: dict[str, Any]) -> None:
    """The agent's own answer."""


async def opened(browser: Browser, live: Live, session: str) -> tuple[Page, list[str]]:
    page = await browser.new_page(viewport={"width": 1280, "height": 1000})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    await page.goto(f"{live.url}/sessions/{session}/live")
    await expect(page.locator("canvas[data-drawn]")).to_be_visible(timeout=60_000)
    return page, complaints


async def all_in_sight(page: Page, width: int, height: int) -> None:
    """Neither the picture nor a control beside it has to be scrolled to in such a window."""
    before = page.viewport_size
    await page.set_viewport_size({"width": width, "height": height})
    await page.evaluate("scrollTo(0, 0)")
    for place in await page.locator("#live-picture, #live-take, #live-hands input, #live-hands button").all():
        if box := await place.bounding_box():
            fits = box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= height
            assert fits, (await place.get_attribute("id"), box)
    picture = await page.locator("#live-picture").bounding_box()
    assert picture is not None and picture["width"] > width / 2, "what a person works on is not small"
    assert before is not None
    await page.set_viewport_size(before)


async def click_on(page: Page, x: float, y: float) -> None:
    """Clicks on what the session's page, 1280 wide, has at this place."""
    box = await page.locator("#live-picture").bounding_box()
    assert box is not None
    await page.mouse.click(box["x"] + x / 1280 * box["width"], box["y"] + y / 1280 * box["width"])


async def test_a_person_takes_a_session_over_and_the_agent_goes_on(tmp_path: Path, browser: Browser) -> None:
    async with live_world(tmp_path, {"/": LOCKED}, Agent("Look", "Wide open")) as live, pages_closed(browser):
        live.model.behaviours = [slow]
        session = await live.job()
        await live.wait_for_asks()
        page, complaints = await opened(browser, live, session)
        await expect(page.locator("#live-state")).to_have_text("The agent works")
        await page.get_by_role("button", name="Take over").click()
        await expect(page.locator("#live-state")).to_contain_text("ends its step")
        live.model.release.set()
        await expect(page.locator("#live-state")).to_contain_text("You have the page")
        asked = len(live.model.requests)
        await all_in_sight(page, 1440, 900)

        await click_on(page, 700, 420)
        await page.keyboard.type("4711")
        await click_on(page, 700, 330)
        await expect(page.locator("#live-dialog-text")).to_have_text("Open <b>the lock</b>?")
        assert live.heard == []
        await page.get_by_role("button", name="OK").click()
        async with asyncio.timeout(PATIENCE_S):
            while not live.heard:
                await asyncio.sleep(0.05)
        assert live.heard == ["/unlock 4711"]
        assert len(live.model.requests) == asked, "the agent waits meanwhile"

        await page.get_by_label("Tell the agent").fill("I have entered the code")
        await page.get_by_role("button", name="Hand back").click()
        row = await live.until(session, lambda row: row["status"] not in ("queued", "running"))
        assert row["status"] == "completed"
        steps = [step for task in row["attempts"][0] for step in task["steps"]]
        told = json.dumps(steps)
        assert "mouse_click" in told and "keyboard_type" in told
        assert "4711" not in told, "what a person types may be a secret"
        assert any("I have entered the code" in str(body["messages"]) for body in live.model.requests)
        await expect(page.locator("#live-state")).to_have_text("The session is over.")
        assert await page.title() != "owned"
        assert complaints == []

        kept = (await live.world.client.post(f"/v1/sessions/{session}/workflow", params={"name": "unlock"})).json()
        (version,) = kept["versions"]
        assert (version["state"], version["by"]) == ("draft", "recording")
        flow = (await live.world.client.get("/v1/workflows/unlock")).text
        assert "4711" not in flow, "what was typed is a parameter"


async def test_the_page_of_a_running_session_shows_its_finished_steps(tmp_path: Path, browser: Browser) -> None:
    async with live_world(tmp_path, {"/": TWICE}, Agent("Look", "Wide open")) as live, pages_closed(browser):
        live.model.behaviours = [as_written, as_written, slow]
        session = await live.job()
        await live.wait_for_asks(3)
        assert await live.world.store.states(PREFIX) == {}, "no page of the session is open"
        page = await browser.new_page()
        await page.goto(f"{live.url}/sessions/{session}")
        steps = page.locator("#so-far .step")
        await expect(steps).to_have_count(1)
        await expect(steps).to_contain_text("click")
        await expect(page.locator("#so-far .task .badge")).to_have_text("running")
        job = (await live.world.client.get(f"/v1/sessions/{session}")).json()["job"]
        plan = await browser.new_page()
        await plan.goto(f"{live.url}/jobs/{job}/history")
        await expect(plan.locator("#so-far")).to_contain_text("Wait for Wide open")
        await expect(plan.locator("#so-far")).to_contain_text("1 step")
        live.model.release.set()
        await expect(page.locator("#so-far")).to_have_count(0)
        await expect(page.locator("main")).to_contain_text("Attempt 1")
        await expect(page.locator(".step")).to_have_count(3)
        await expect(page.locator(".step").first).to_contain_text("step in full")
        assert await page.title() != "owned"
