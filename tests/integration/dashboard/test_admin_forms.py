"""The pages of secrets and of sites in a real browser, over jobs that use what is set there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.integration.dashboard.served import faults_in_views
from tests.integration.dashboard.test_workflow_page import Shop
from tests.live_world import live_world
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(360)]

EVIL = "<img src=x onerror=\"document.title='owned'\">"
VALUE = "tops3cret-Word"
OTHER_VALUE = "an0ther-Word"
FORM = """<!doctype html><html lang=en><title>Order</title><main><h1>Order</h1><form method=post action=/sent>
<label for=who>Full name</label><input id=who name=who>
<label for=pin>Access word</label><input id=pin name=pin><button>Send order</button></form></main>"""
PAGES = {"/": "<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1>", "/form": FORM}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def here(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> AsyncIterator[Shop]:
    folder: Path = tmp_path_factory.mktemp("admin")
    secrets = folder / "secrets"
    hostile = secrets / EVIL
    hostile.mkdir(parents=True)
    (hostile / "THEIRS").write_text("theirs")
    (hostile / "THEIRS.domains").write_text(f"{EVIL}\n")
    async with live_world(folder, PAGES, lambda body: "", secrets_dir=secrets) as live:
        yield Shop(live, browser)


def host(here: Shop) -> str:
    return str(urlsplit(here.live.site).hostname)


async def status_of(here: Shop, job: str) -> str:
    return str((await here.live.world.client.get(f"/v1/jobs/{job}")).json()["status"])


async def ended(here: Shop, job: str) -> str:
    """Return how a job has ended."""
    async with asyncio.timeout(PATIENCE_S):
        while (status := await status_of(here, job)) in ("queued", "running", "waiting"):
            await asyncio.sleep(0.1)
    return status


async def submit(here: Shop, **spec: Any) -> str:
    return await here.live.world.submit(**{"url": here.live.site, "politeness": {"robots": False}, **spec})


async def order(here: Shop) -> list[str]:
    """Return what the site heard of a job that sends the form with the secret."""
    before, site = len(here.live.heard), f"{here.live.site}form"
    data = {"Full name": "Ada", "Access word": "secret:ACCESS"}
    secrets = {"ACCESS": {"domains": [host(here)]}}
    job = await submit(here, url=site, goal="send the form", policy="rules", data=data, secrets=secrets)
    await ended(here, job)
    return here.live.heard[before:]


async def accept(page: Page) -> None:
    page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))


async def test_a_secret_is_set_used_by_a_job_replaced_and_removed_and_never_shown(here: Shop) -> None:
    page, complaints = await here.page("/admin/secrets")
    await accept(page)
    await page.get_by_label("name", exact=True).fill("ACCESS")
    await page.get_by_label("value").fill(VALUE)
    await page.get_by_label("sites, one a line").fill(here.live.site.rstrip("/"))
    await page.get_by_role("button", name="Set secret").click()
    row = page.get_by_role("row").filter(has_text="ACCESS")
    await expect(row).to_contain_text(urlsplit(here.live.site).netloc)
    assert await order(here) == [f"/sent who=Ada&pin={VALUE}"]
    await row.get_by_role("link", name="Replace").click()
    await expect(page.get_by_role("heading", name="Replace ACCESS")).to_be_visible()
    await expect(page.get_by_label("new value")).to_have_value("")
    await page.get_by_label("new value").fill(OTHER_VALUE)
    await page.get_by_role("button", name="Replace secret").click()
    await expect(page.get_by_role("heading", name="Set a secret")).to_be_visible()
    assert await order(here) == [f"/sent who=Ada&pin={OTHER_VALUE}"]
    for path in ("/admin/secrets", "/admin/secrets?tenant=default&name=ACCESS", "/admin/audit"):
        await page.goto(f"{here.live.url}{path}")
        content = await page.content()
        assert VALUE not in content and OTHER_VALUE not in content, path
    await expect(page.locator("main")).to_contain_text("ACCESS")
    await page.goto(f"{here.live.url}/admin/secrets")
    await row.get_by_role("button", name="Remove").click()
    await expect(row).to_have_count(0)
    assert await order(here) == []
    assert complaints == []


async def test_what_cannot_be_a_secret_is_refused_and_hostile_names_are_text(here: Shop) -> None:
    page, complaints = await here.page("/admin/secrets")
    row = page.get_by_role("row").filter(has_text="THEIRS")
    await expect(row).to_contain_text(EVIL)
    await expect(row.locator(".badge")).to_have_text("refused")
    await page.get_by_label("name", exact=True).fill("GOOD")
    await page.get_by_label("value").fill(VALUE)
    await page.get_by_label("sites, one a line").fill(EVIL)
    await page.get_by_role("button", name="Set secret").click()
    await expect(page.locator("main")).to_contain_text("<img")
    content = await page.content()
    assert VALUE not in content
    assert "owned" not in await page.title()
    assert [line for line in complaints if "400" not in line] == []


async def test_a_site_is_paused_its_jobs_wait_and_go_on_when_the_pause_is_lifted(here: Shop) -> None:
    assert (
        await ended(here, await submit(here, extract={"fields": {"name": {"select": "h1"}}}, goal=None)) == "completed"
    )
    page, complaints = await here.page("/sites")
    await page.get_by_role("textbox", name="Host name").fill(host(here))
    await page.get_by_role("button", name="Open").click()
    await expect(page.get_by_role("heading", name=host(here))).to_be_visible()
    await page.get_by_label("minutes").fill("30")
    await page.get_by_role("button", name="Pause the site").click()
    await expect(page.locator("[data-live=site] .badge")).to_have_text("paused")
    await expect(page.locator("[data-live=site]")).to_contain_text("left")
    job = await submit(here, extract={"fields": {"name": {"select": "h1"}}}, goal=None)
    root = (await here.live.world.client.get(f"/v1/jobs/{job}")).json()["root_session"]
    waits, _ = await here.page(f"/sessions/{root}")
    await expect(waits.locator("main")).to_contain_text("an operator paused the site")
    assert await status_of(here, job) == "queued"
    await page.get_by_role("button", name="Lift the pause").click()
    await expect(page.locator("[data-live=site] .badge")).to_have_text("open")
    assert await ended(here, job) == "completed"
    await expect(page.locator("[data-live=site] [data-name=attempts]")).not_to_have_text("0")
    assert complaints == []


async def test_limits_are_set_and_taken_away_and_what_is_no_limit_or_host_is_refused(here: Shop) -> None:
    page, complaints = await here.page("/sites")
    await page.get_by_role("textbox", name="Host name").fill("limits.example")
    await page.get_by_role("button", name="Open").click()
    await page.get_by_label("sessions at once").fill("3")
    await page.get_by_label("seconds between starts").fill("1.5")
    await page.get_by_role("button", name="Set limits").click()
    row = page.get_by_role("row").filter(has_text="limits.example")
    await expect(row.locator("[data-name='at most']")).to_have_text("3")
    await expect(row.locator("[data-name='between starts']")).to_have_text("1.5 s")
    await page.get_by_label("sessions at once").fill("")
    await page.get_by_label("seconds between starts").fill("")
    await page.get_by_role("button", name="Set limits").click()
    await expect(row.locator("[data-name='at most']")).to_have_text("general")
    await page.get_by_label("sessions at once").fill("many")
    await page.get_by_role("button", name="Set limits").click()
    await expect(page.locator("main")).to_contain_text("concurrency must be a number.")
    await page.goto(f"{here.live.url}/sites")
    await page.get_by_role("textbox", name="Host name").fill(EVIL)
    await page.get_by_role("button", name="Open").click()
    await expect(page.locator("main")).to_contain_text("is no host name")
    await expect(page.locator("main")).to_contain_text("<img src=x")
    assert "owned" not in await page.title()
    assert [line for line in complaints if "400" not in line] == []


async def test_the_pages_fit_and_keep_nobody_out(here: Shop) -> None:
    long = "a-very-long-host-name-that-goes-on-and-on.subdomain.of.another.one.example"
    await here.live.world.client.patch(f"/v1/sites/{long}", json={"concurrency": 2, "paused": True})
    secret = {"value": VALUE, "domains": [long, "b.example"]}
    answer = await here.live.world.client.put(f"/v1/secrets/{'LONG_' * 20}NAME", json=secret)
    assert answer.status_code in (200, 201, 204), answer.text
    for path in (
        "/admin/secrets",
        f"/admin/secrets?tenant=default&name={'LONG_' * 20}NAME",
        "/sites",
        f"/sites/{long}",
    ):
        page, complaints = await here.page(path)
        await expect(page.locator("main h1")).to_be_visible()
        name = path.partition("?")[0].strip("/").replace("/", "-")[:20] + ("-replace" if "?" in path else "")
        assert (await faults_in_views(page, f"forms-{name}"), complaints) == ([], [])
        await page.context.close()
