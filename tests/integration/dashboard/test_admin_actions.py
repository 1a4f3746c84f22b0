"""Buttons of operators in a real browser: tenants, webhooks that are sent again, the audit log, workers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from shoal.services.store.records import DRAIN, Delivered, DeliveryFilter, DeliveryState
from tests.gateway_world import completed
from tests.integration.dashboard.seed import EVIL, Seeder
from tests.integration.dashboard.served import Site, served_site

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(360)]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(browser: Browser) -> AsyncIterator[Site]:
    async with served_site(browser) as made:
        yield made


def accepting(page: Page) -> list[str]:
    """Says yes to every question of the page; gives what was asked."""
    asked: list[str] = []

    async def accept(dialog: object) -> None:
        asked.append(dialog.message)  # type: ignore[attr-defined]
        await dialog.accept()  # type: ignore[attr-defined]

    page.on("dialog", lambda dialog: asyncio.ensure_future(accept(dialog)))
    return asked


async def test_a_tenant_s_limits_are_set_refused_and_taken_back(site: Site) -> None:
    page, complaints = await site.page("/admin/tenants")
    await page.get_by_role("link", name="default", exact=True).click()
    await page.get_by_label("queued, at most").fill("77")
    await page.get_by_label("weight").fill("2.5")
    await page.get_by_role("button", name="Set").click()
    await expect(page.get_by_label("queued, at most")).to_have_value("77")
    await expect(page.locator(".figure", has_text="queued")).to_contain_text("of at most 77")
    told = (await site.world.client.get("/v1/tenants/default")).json()
    assert (told["quota"], told["weight"]) == (77, 2.5)
    await page.get_by_label("weight").fill("heavy")
    await page.get_by_role("button", name="Set").click()
    await expect(page.locator("main")).to_contain_text("weight must be a number")
    await page.goto(f"{site.url}/admin/tenants/default")
    await expect(page.get_by_label("weight")).to_have_value("2.5")
    for label in ("queued, at most", "weight"):
        await page.get_by_label(label).fill("")
    await page.get_by_role("button", name="Set").click()
    await expect(page.locator(".figure", has_text="queued")).not_to_contain_text("of at most 77")
    assert [line for line in complaints if "400" not in line] == []


async def test_a_message_that_no_receiver_took_is_sent_again(site: Site) -> None:
    store = site.world.store
    jobs = [await site.world.submit(goal=EVIL, webhook={"url": f"https://hooks.example/{n}"}) for n in range(3)]
    await site.world.run(lambda work: completed())
    messages = await store.claim_deliveries(50, each=50, lease_s=60)
    mine = [message for message in messages if f"j{message.job}" in jobs]
    assert len(mine) == 3
    dead = [Delivered(message.id, message.attempts, DeliveryState.DEAD, error=f"gone {EVIL}") for message in mine]
    await store.record_deliveries(dead)

    async def dead_deliveries() -> set[int]:
        rows = await store.deliveries(DeliveryFilter(None, (DeliveryState.DEAD,)))
        return {row.id for row in rows}

    page, complaints = await site.page("/admin/webhooks?state=dead")
    rows = page.locator("tbody tr")
    await expect(rows).to_have_count(3)
    await expect(rows.first).to_contain_text("gone <img")
    await rows.first.get_by_role("button", name="Send again").click()
    await page.wait_for_url("**/attention")
    await expect(page.locator('[data-live="webhooks"] tbody tr')).to_have_count(2)
    assert len(await dead_deliveries()) == 2
    asked = accepting(page)
    await page.get_by_role("button", name="Send all again").click()
    await expect(page.locator("main")).to_contain_text("Every webhook was taken, or waits for its next attempt (3).")
    assert asked == ["Send all of them again?"] and await dead_deliveries() == set()
    assert await page.title() != "owned" and complaints == []


async def test_the_audit_log_is_searched_and_exported(site: Site) -> None:
    for host in ("one.example", "two.example"):
        answer = await site.world.client.patch(f"/v1/sites/{host}", json={"concurrency": 2})
        assert answer.status_code == 200, answer.text
    page, complaints = await site.page("/admin/audit")
    await expect(page.locator("tbody")).to_contain_text("one.example")
    await page.get_by_label("What").fill("two.example")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("tbody tr")).to_have_count(1)
    await expect(page.locator("tbody tr")).to_contain_text("two.example")
    async with page.expect_download() as coming:
        await page.get_by_role("link", name="export these as JSON lines").click()
    entries = [json.loads(line) for line in (await (await coming.value).path()).read_text().splitlines()]
    assert [entry["subject"] for entry in entries] == ["two.example"]
    assert entries[0]["actor"] == "local"
    await page.get_by_label("Who").fill("nobody of this name")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("main")).to_contain_text("No change matches.")
    await page.get_by_role("link", name="Clear").click()
    await expect(page.locator("tbody")).to_contain_text("one.example")
    assert complaints == []


async def test_a_worker_is_replaced_after_a_question(site: Site) -> None:
    page, complaints = await site.page("/status")
    await site.world.store.put_state("dispatcher/main", Seeder(site.world).snapshot())  # of late
    await page.reload()
    asked = accepting(page)
    row = page.locator("tr", has_text="worker-2")
    await row.get_by_role("button", name="Replace").click()
    await page.wait_for_load_state()
    async with asyncio.timeout(60):
        while not (orders := await site.world.store.states(DRAIN)):
            await asyncio.sleep(0.05)
    assert list(orders) == [f"{DRAIN}worker-2"]
    assert len(asked) == 1 and asked[0].startswith("Replace worker-2?")
    assert complaints == []
