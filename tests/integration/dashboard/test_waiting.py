"""Questions for a person, in a real browser: an open page shows a session's question, and takes the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.integration.dashboard.served import faults_in_views, pages_closed
from tests.live_world import Agent, Live, live_world
from tests.unit.agent.model.test_step import act, step_reply

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(900)]

NO_CODE = {"verification_code_reasoning": "it asks for none", "place_to_enter_verification_code": False}
QUESTION = "Which <b>door</b> is it?"
ANSWER = "the blue one, 4712"


class Asking(Agent):
    """Asks a person, and is done once it has the answer."""

    def __call__(self, body: Mapping[str, Any]) -> str:
        if body["response_format"]["json_schema"]["name"] == "plan":
            return super().__call__(body)
        if ANSWER in json.dumps(body["messages"]):
            return json.dumps(step_reply(act("COMPLETE"), achieved=True, **NO_CODE))
        return json.dumps(step_reply(act("CALL", call={"name": "ask_user", "args": {"question": QUESTION}}), **NO_CODE))


async def keeps_nobody_out(browser: Browser, live: Live, paths: Sequence[str]) -> None:
    """Looks at these pages while the session asks: light and dark, wide and narrow."""
    for path in paths:
        page = await browser.new_page()
        await page.goto(live.url + path)
        await expect(page.locator("main h1")).to_be_visible()
        if path.endswith("/live"):
            await expect(page.locator("canvas[data-drawn]")).to_be_visible()
        assert await faults_in_views(page, path.strip("/").replace("/", "-")) == []
        await page.close()


async def test_an_open_page_shows_what_a_session_asks_and_takes_the_answer(tmp_path: Path, browser: Browser) -> None:
    pages = {"/": "<!doctype html><html lang=en><title>Doors</title><h1>Doors</h1>"}
    async with live_world(tmp_path, pages, Asking("", "")) as live, pages_closed(browser):
        page = await browser.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{live.url}/attention")
        await expect(page.locator("main")).to_contain_text("No session asks anything.")
        session = await live.job(help={"person": True, "timeout_s": 900})
        question = page.locator(".ask .question")
        await expect(question).to_have_text(QUESTION)
        host = live.site.split("/")[2]
        await expect(page.locator(".ask")).to_contain_text(host)
        picture = page.locator(".ask img")
        await expect(picture).to_have_js_property("naturalWidth", 1280)
        job = (await live.world.client.get(f"/v1/sessions/{session}")).json()["job"]
        for path in (f"/sessions/{session}", f"/jobs/{job}"):
            other = await browser.new_page()
            await other.goto(live.url + path)
            await expect(other.locator(".asked")).to_contain_text(QUESTION)
            await other.get_by_role("link", name="Answer it").click()
            await expect(other.locator(".ask:target .question")).to_have_text(QUESTION)
            await other.close()
        await keeps_nobody_out(browser, live, ("/attention", f"/sessions/{session}", f"/sessions/{session}/live"))
        field = page.get_by_label(f"Answer for {session}")
        await field.fill(ANSWER)
        await field.blur()
        for _ in range(2):  # the second look began after the field was left
            async with page.expect_response(lambda answer: answer.url.endswith("/attention")):
                pass
        await expect(field).to_have_value(ANSWER)
        await page.get_by_role("button", name="Answer").click()
        row = await live.until(session, lambda row: row["status"] not in ("queued", "running"), within_s=180)
        assert row["status"] == "completed", row["error"]
        await expect(page.locator("main")).to_contain_text("No session asks anything.")
        assert any(ANSWER in json.dumps(body["messages"]) for body in live.model.requests)
        assert complaints == []
