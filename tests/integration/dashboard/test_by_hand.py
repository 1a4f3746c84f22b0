"""A person does it once on the live page, keeps it as a workflow, and a job does the same with other data."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, expect

from tests.integration.dashboard.test_live import chromium, click_on
from tests.integration.dashboard.test_traces import of_session
from tests.live_world import Live, live_world

expect.set_options(timeout=20_000)
STYLE = "<style>body { margin: 0 } form > * { position: absolute; width: 300px; height: 30px; margin: 0 }</style>"
START = f"""<!doctype html><title>Desk</title>{STYLE}<h1 style="position:absolute;top:200px">The desk</h1>
<form><a href=/order style="left:20px;top:20px">Order something</a></form>"""
ORDER = f"""<!doctype html><title>Order</title>{STYLE}<h1 style="position:absolute;top:500px">An order</h1>
<form id=f>
  <input id=i1 aria-label="Your name" name=who style="left:20px;top:20px">
  <input id=i2 aria-label="Pass word" type=password name=pw style="left:20px;top:80px">
  <select id=i3 aria-label="Size" name=size style="left:20px;top:140px">
    <option>Small</option><option>Medium</option><option>Large</option></select>
  <input id=i4 aria-label="As a gift" type=checkbox name=gift style="left:20px;top:200px;width:30px">
  <textarea id=i5 aria-label="Words" name=words style="left:20px;top:260px"></textarea>
  <button id=go style="left:20px;top:320px">Send the order</button>
</form>
<script>
  f.onsubmit = async (event) => {{
    event.preventDefault();
    await fetch('/taken', {{method: 'POST', body: new URLSearchParams(new FormData(f))}});
    const p = document.createElement('h2');
    p.textContent = 'Your order was taken';
    const q = document.createElement('h2');
    q.textContent = 'Thank you, ' + i1.value;
    f.replaceWith(q, p);
  }};
</script>"""
PAGES = {"/": START, "/order": ORDER}
TYPED = ("Anna-Person", "tops3cret-Word", "Words-of-Anna")


async def shown(live: Live, browser: Browser) -> tuple[str, Page, list[str]]:
    """The session in which a person has ordered, and the page of their browser."""
    session = await live.job(goal=None, policy="person", help={"person": True, "timeout_s": 60})
    page = await browser.new_page(viewport={"width": 1280, "height": 1000})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    await page.goto(f"{live.url}/sessions/{session}/live")
    await expect(page.locator("canvas[data-drawn]")).to_be_visible()
    await page.get_by_role("button", name="Take over").click()
    await expect(page.locator("#live-state")).to_contain_text("You have the page")

    await click_on(page, 100, 35)  # the link
    await expect(page.locator("#live-url")).to_contain_text("/order")
    await click_on(page, 100, 35)
    await page.keyboard.type(TYPED[0])
    await click_on(page, 100, 95)
    await page.keyboard.type(TYPED[1])
    await page.keyboard.press("Control+Tab")  # sends a Tab: the select has the focus
    await page.keyboard.type("Med")
    await click_on(page, 35, 215)
    await click_on(page, 100, 275)
    await page.keyboard.type(TYPED[2])
    await click_on(page, 100, 335)
    async with asyncio.timeout(20):
        while not live.heard:
            await asyncio.sleep(0.05)
    await page.get_by_label("Tell the agent").fill("that was it")
    await page.get_by_role("button", name="Hand back").click()
    return session, page, complaints


async def test_what_a_person_shows_once_becomes_a_workflow_that_does_the_same_with_other_data(tmp_path: Path) -> None:
    async with live_world(tmp_path, PAGES, lambda body: "") as live, chromium() as browser:
        session, page, complaints = await shown(live, browser)
        row = await live.until(session, lambda row: row["status"] not in ("queued", "running"))
        assert (row["status"], "no workflow" in str(row)) == ("completed", False), row
        (order,) = live.heard
        assert order.startswith("/taken who=Anna-Person&pw=tops3cret-Word&size=Medium&gift=on&words=Words-of-Anna")

        kept = await of_session(live, tmp_path, session)
        draft: dict[str, Any] = json.loads(kept["workflow"][1])
        everything = json.dumps(draft) + json.dumps(row)
        assert [typed for typed in TYPED if typed in everything] == []
        (version,) = draft["versions"]
        assert [node["action"] for node in version["nodes"]] == [
            "click",
            "fill",
            "fill",
            "select_option",
            "check",
            "fill",
            "click",
        ]
        assert {param["name"]: (param["source"], param["path"]) for param in version["params"]} == {
            "your_name": ("data", "$.your_name"),
            "pass_word": ("secret", "pass_word"),
            "size": ("data", "$.size"),
            "words": ("data", "$.words"),
        }
        assert [node["id"] for node in version["nodes"] if node.get("once")] == ["n7"]
        assert version["nodes"][-1]["post"][0]["value"] == "Your order was taken"

        await page.goto(f"{live.url}/sessions/{session}")
        await expect(page.get_by_role("heading", name="A person showed this")).to_be_visible()
        if folder := os.environ.get("BY_HAND_SHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            await page.screenshot(path=Path(folder) / "session.png", full_page=True)
        await page.get_by_label("Name of the workflow").fill("orders")
        await page.get_by_role("button", name="Keep it as a draft").click()
        await expect(page).to_have_url(f"{live.url}/workflows/orders?version=1")
        kept_workflow = (await live.world.client.get("/v1/workflows/orders")).json()
        assert [(v["state"], v["by"]) for v in kept_workflow["versions"]] == [("draft", "recording")]

        live.heard.clear()
        secrets = tmp_path / "secrets" / "default"
        secrets.mkdir(parents=True)
        (secrets / "pass_word").write_text("another-Word")
        (secrets / "pass_word.domains").write_text("127.0.0.1")
        again = await live.job(
            goal=None,
            policy="workflow:orders@1",
            on_miss="fail",
            data={"your_name": "Ben-Other", "size": "Large", "words": "Words-of-Ben"},
            secrets={"pass_word": {"domains": ["127.0.0.1"]}},
        )
        row = await live.until(again, lambda row: row["status"] not in ("queued", "running"))
        assert row["status"] == "completed", row
        (order,) = live.heard
        assert order.startswith("/taken who=Ben-Other&pw=another-Word&size=Large&gift=on&words=Words-of-Ben")
        assert complaints == []
