"""A job's trace in Playwright's own viewer, and its requests: what was done is seen, and no secret is."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from shoal.services.artifacts.open import open_artifacts
from shoal.services.store import ids
from tests.integration.dashboard.served import pages_closed, serious_faults
from tests.live_world import Live, live_world

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD = "tops3cret-Word"
LOGIN = """<!doctype html><title>Log in</title><h1>Welcome</h1>
<input id=user><input id=pw type=password><button id=go>Go</button>
<script>
  document.cookie = 'sid=cookie-of-the-site';
  go.onclick = async () => {
    await fetch('/session?password=' + pw.value, {method: 'POST', body: pw.value});
    go.insertAdjacentHTML('afterend', '<p id=in>Signed in</p>');
  };
  document.write('<img src=x onerror="document.title=\\'owned\\'">');
</script>"""
SHOP = """<!doctype html><title>Shop</title><h1 class=name>Kettle</h1>
<a href="javascript:top.document.title='owned'">a link</a><p>A page of the shop</p>"""
VIEWERS_OWN = {"aria-valid-attr-value", "color-contrast", "scrollable-region-focusable"}
"""Findings of axe-core in Playwright's viewer, which is shipped as it is: docs/how-to/watch.md tells of it."""
JOB: dict[str, Any] = {
    "goal": None,
    "policy": "rules",
    "extract": {"fields": {"name": {"select": "h1.name"}}},
    "artifacts": {"trace": True, "har": True},
}


async def of_session(live: Live, folder: Path, session: str) -> dict[str, tuple[str, bytes]]:
    """The artifacts of a session by kind, with id and bytes; from here on the gateway has them too."""
    store = open_artifacts(str(folder / "artifacts"))
    found: dict[str, tuple[str, bytes]] = {}
    for row in (await live.world.store.session(ids.parse_session(session))).artifacts:
        data = await store.get(row.key)
        await live.world.artifacts.put(row.key, data, row.content_type)
        found[row.kind] = (row.id, data)
    await store.close()
    return found


async def test_a_trace_opens_in_playwrights_viewer_and_holds_no_secret(tmp_path: Path, browser: Browser) -> None:
    pages = {"/": SHOP, "/login": LOGIN}
    async with live_world(tmp_path, pages, lambda body: "") as live, pages_closed(browser):
        steps = [
            {"fill": "#user", "value": "anna"},
            {"fill": "#pw", "value": PASSWORD},
            {"click": "#go"},
            {"wait_for": "#in"},
        ]
        session = await live.job(**JOB, login={"url": f"{live.site}login", "steps": steps})
        row = await live.until(session, lambda row: row["status"] not in ("queued", "running"))
        assert (row["status"], row["records"]) == ("completed", 1), row
        assert live.heard == [f"/session?password={PASSWORD} {PASSWORD}"]

        kept = await of_session(live, tmp_path, session)
        with zipfile.ZipFile(io.BytesIO(kept["trace"][1])) as trace:
            whole = b"".join(trace.read(name) for name in trace.namelist())
        for secret in (PASSWORD, "cookie-of-the-site", "anna"):
            assert secret.encode() not in whole + kept["har"][1], secret
        log = json.loads(kept["har"][1])["log"]
        asked = {(one["request"]["method"], one["request"]["url"].removeprefix(live.site)) for one in log["entries"]}
        assert {("GET", ""), ("GET", "login"), ("POST", "session?password=(hidden)")} <= asked

        page = await browser.new_page(viewport={"width": 1280, "height": 850})
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        await page.goto(f"{live.url}/sessions/{session}")
        await page.get_by_role("link", name="Open in the trace viewer").click()
        await expect(page.get_by_text("Navigate").first).to_be_visible(timeout=60_000)
        await page.get_by_text("Navigate").last.click()
        await page.get_by_role("tab", name="After").click()
        shown = page.frame_locator("iframe.snapshot-visible")
        await expect(shown.get_by_text("A page of the shop")).to_be_visible(timeout=60_000)
        assert "owned" not in await page.title()
        assert complaints == []
        faults = {fault.partition(":")[0] for fault in await serious_faults(page)}
        assert faults <= VIEWERS_OWN, faults
        assert await page.evaluate("document.title !== '' && document.documentElement.lang !== ''")
        if os.environ.get("TRACE_SHOT"):
            await page.screenshot(path=os.environ["TRACE_SHOT"])


async def test_a_job_that_asks_for_no_trace_keeps_none(tmp_path: Path) -> None:
    async with live_world(tmp_path, {"/": SHOP}, lambda body: "") as live:
        session = await live.job(**JOB | {"artifacts": {}})
        await live.until(session, lambda row: row["status"] == "completed")
        assert set(await of_session(live, tmp_path, session)) == {"prompt", "screenshot"}  # the glossary was asked for
