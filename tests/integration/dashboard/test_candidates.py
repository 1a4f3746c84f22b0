"""Trying a job in a real browser on real pages: of a field that is not certain a candidate is taken, its place set."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.integration.dashboard.served import pages_closed, serious_faults
from tests.live_world import Live, live_world

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(360)]

EVIL = "<img src=x onerror=\"document.title='owned'\">"
SHOP = f"""<!doctype html><html lang=en><title>Kettle</title><main><h1>Kettle</h1><dl>
<dt>Material</dt><dd id=steel>Steel</dd><dt>Material</dt><dd id=evil>{EVIL.replace("<", "&lt;")}</dd>
<dt>Weight</dt><dd>900 g</dd></dl></main>"""


def spec(site: str, *, required: bool) -> dict[str, Any]:
    properties = {"material": {"type": "string"}, "weight": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["material"] if required else []}
    return {"url": site, "policy": "rules", "politeness": {"robots": False}, "extract": {"schema": schema}}


async def tries(page: Page) -> None:
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Try first").click()
    await expect(page.locator("#tried .tried")).to_have_count(1)


async def test_a_candidate_that_is_taken_sets_the_place_of_its_field(tmp_path: Path, browser: Browser) -> None:
    async with live_world(tmp_path, {"/": SHOP}, lambda body: "") as live, pages_closed(browser):
        for required in (False, True):
            await take(live, browser, required=required)


async def take(live: Live, browser: Browser, *, required: bool) -> None:
    page = await browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    await page.goto(f"{live.url}/new")
    await page.locator("#json").fill(json.dumps(spec(live.site, required=required)))
    await tries(page)
    candidates = page.get_by_role("group", name="material may be")
    await expect(candidates.get_by_role("listitem")).to_have_count(2)
    await expect(candidates).to_contain_text(EVIL)
    if folder := os.environ.get("SHOTS"):
        for width, scheme in ((1280, "light"), (390, "dark")):
            await page.set_viewport_size({"width": width, "height": 900})
            await page.emulate_media(color_scheme=scheme)
            await page.screenshot(path=f"{folder}/candidates-{required}-{width}.png", full_page=True)
        await page.set_viewport_size({"width": 1280, "height": 900})
        await page.emulate_media(color_scheme="light")
    await page.get_by_role("button", name="Take Steel for material").click()
    await expect(page.get_by_role("button", name="Take Steel for material")).to_have_text("Taken")
    written = json.loads(await page.locator("#json").input_value())
    place = written["extract"]["fields"]["material"]
    assert list(place) == ["select"] and place["select"], place
    if required:
        assert await serious_faults(page) == []
    await tries(page)
    await expect(candidates).to_have_count(0)
    await expect(page.locator("#tried")).to_contain_text("Steel")
    told = (await live.world.client.post("/v1/jobs:try", json=written)).json()
    assert told["records"][0]["record"]["material"] == "Steel"
    assert "owned" not in await page.title()
    assert complaints == []
