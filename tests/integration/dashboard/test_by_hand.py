"""A person does it once on the page of a session, keeps it as a workflow, and a job does the same with other data."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.integration.dashboard.served import pages_closed
from tests.integration.dashboard.test_traces import of_session
from tests.live_world import Live, live_world, post_order
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.asyncio(loop_scope="session")

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


async def demonstrated_session(live: Live) -> str:
    """The session in which a person has ordered."""
    session = await live.job(goal=None, policy="person", help={"person": True, "timeout_s": 60})
    async with asyncio.timeout(PATIENCE_S):
        while (taken := await post_order(live.url, session, do="take")).status_code != 200:
            await asyncio.sleep(0.2)
    lease = taken.json()["lease"]

    async def do(**order: Any) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while (answer := await post_order(live.url, session, lease=lease, **order)).status_code == 409:
                await asyncio.sleep(0.1)  # the session still ends its step
        assert answer.status_code == 200, answer.text

    await do(do="click", x=100.0, y=35.0)  # the link
    await do(do="click", x=100.0, y=35.0)
    await do(do="type", text=TYPED[0])
    await do(do="click", x=100.0, y=95.0)
    await do(do="type", text=TYPED[1])
    await do(do="key", key="Tab")  # to the select
    await do(do="type", text="Med")
    await do(do="click", x=35.0, y=215.0)
    await do(do="click", x=100.0, y=275.0)
    await do(do="type", text=TYPED[2])
    await do(do="click", x=100.0, y=335.0)
    async with asyncio.timeout(PATIENCE_S):
        while not live.heard:
            await asyncio.sleep(0.05)
    await do(do="hand_back", said="that was it")
    return session


async def test_what_a_person_shows_once_becomes_a_workflow_that_does_the_same_with_other_data(
    tmp_path: Path, browser: Browser
) -> None:
    async with live_world(tmp_path, PAGES, lambda body: "") as live, pages_closed(browser):
        session = await demonstrated_session(live)
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

        page = await browser.new_page(viewport={"width": 1280, "height": 1000})
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
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
        (secrets / "pass_word.domains").write_text("http://127.0.0.1")
        again = await live.job(
            goal="Send an order.",
            policy="workflow:orders@1",
            on_miss="fail",
            data={"your_name": "Ben-Other", "size": "Large", "words": "Words-of-Ben"},
            secrets={"pass_word": {"domains": ["127.0.0.1"]}},
        )
        row = await live.until(again, lambda row: row["status"] not in ("queued", "running"))
        assert row["status"] == "completed", json.dumps(row["error"])
        (order,) = live.heard
        assert order.startswith("/taken who=Ben-Other&pw=another-Word&size=Large&gift=on&words=Words-of-Ben")
        assert complaints == []
