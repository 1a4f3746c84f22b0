"""Errors of consoles and of the network of real jobs, in the timeline of their sessions: as text, without secrets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.integration.dashboard.served import faults_in_views
from tests.live_world import Live, live_world

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD = "tops3cret-Word"
EVIL = "<img src=x onerror=\\\"document.title='owned'\\\">"
LOGIN = f"""<!doctype html><title>Log in</title><h1>Welcome</h1>
<input id=user><input id=pw type=password><button id=go>Go</button>
<script>
  go.onclick = async () => {{
    console.error("{EVIL}", 'refused: ' + pw.value, 'x'.repeat(250) + pw.value + 'y'.repeat(3000));
    await fetch('/lost?password=' + pw.value);
    setTimeout(() => {{ throw new Error('no such basket'); }});
    go.insertAdjacentHTML('afterend', '<p id=in>Signed in</p>');
  }};
</script>"""
SHOP = "<!doctype html><title>Shop</title><h1 class=name>Kettle</h1><script>console.error('late')</script>"
BARE = """<!doctype html><title>Shop</title><div id=app></div>
<script>fetch('/api/missing'); throw new Error('the list could not be drawn')</script>"""
JOB: dict[str, Any] = {
    "goal": None,
    "policy": "rules",
    "extract": {"fields": {"name": {"select": "h1.name"}}},
}
STEPS = [
    {"fill": "#user", "value": "anna"},
    {"fill": "#pw", "value": PASSWORD},
    {"click": "#go"},
    {"wait_for": "#in"},
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Live]:
    pages = {"/": SHOP, "/login": LOGIN, "/bare": BARE}
    async with live_world(tmp_path_factory.mktemp("live"), pages, lambda body: "") as made:
        yield made


async def test_errors_of_pages_stand_in_the_timeline_as_text_and_without_secrets(live: Live, browser: Browser) -> None:
    session = await live.job(**JOB, login={"url": f"{live.site}login", "steps": STEPS})
    row = await live.until(session, lambda row: row["status"] not in ("queued", "running"))
    assert (row["status"], row["records"]) == ("completed", 1), row
    assert PASSWORD not in str(row) and "anna" not in str(row["attempts"][0][0]["steps"][0]["page_errors"])
    (step,) = row["attempts"][0][0]["steps"]
    told = [*step["page_errors"]["told"], *row["page_errors"]["told"]]
    texts = " | ".join(f"{one['kind']} {one['text']} {one['where']}" for one in told)
    assert "refused: (hidden)" in texts and "no such basket" in texts, texts
    assert f"{live.site}lost?password=(hidden)" in texts, texts
    assert {one["kind"] for one in told} == {"console", "network"}
    assert all(len(one["text"]) <= 300 for one in told)

    page = await browser.new_page(viewport={"width": 1280, "height": 850})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    await page.goto(f"{live.url}/sessions/{session}")
    await page.locator("summary", has_text="console and network errors").press("Enter")
    await expect(page.locator(".page-errors").first).to_contain_text("<img src=x onerror")
    await page.get_by_role("link", name="step in full").first.click()
    await expect(page.get_by_role("heading", name="Console and network errors")).to_be_visible()
    await expect(page.get_by_role("navigation", name="All steps")).to_contain_text("console and network errors")
    shown = page.locator(".page-errors")
    await expect(shown).to_contain_text("refused: (hidden)")
    await expect(shown).to_contain_text("lost?password=(hidden)")
    assert await page.locator(".page-errors img").count() == 0
    assert PASSWORD not in await page.content() and await page.title() != "owned"
    assert await faults_in_views(page, "errors-step") == []
    await page.goto(f"{live.url}/sessions/{session}")
    assert await faults_in_views(page, "errors-session") == []
    assert complaints == []


async def test_a_page_that_could_not_be_read_shows_what_its_scripts_threw(live: Live, browser: Browser) -> None:
    session = await live.job(**JOB, url=f"{live.site}bare", max_attempts=1)
    row = await live.until(session, lambda row: row["status"] not in ("queued", "running"))
    assert row["status"] == "failed", row
    told = {(one["kind"], one["text"]) for one in row["page_errors"]["told"]}
    assert ("console", "Error: the list could not be drawn") in told, row
    assert ("network", f"{live.site}api/missing") in {(one["kind"], one["where"]) for one in row["page_errors"]["told"]}
    page = await browser.new_page()
    await page.goto(f"{live.url}/sessions/{session}")
    await expect(page.get_by_role("heading", name="Console and network errors")).to_be_visible()
    await expect(page.locator(".page-errors")).to_contain_text("the list could not be drawn")
