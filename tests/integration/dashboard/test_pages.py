"""The dashboard in a real browser: it fits, it runs nothing foreign, and it keeps itself current."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import uvicorn
from playwright.async_api import Browser, Page, async_playwright, expect

from agent.chromium.find import find_chromium
from tests.gateway_world import World, completed, loop_of, world
from tests.integration.dashboard.seed import Seeder

PAGES = ("/", "/jobs/j1", "/jobs/j2", "/jobs/j5", "/jobs/j7", "/status", "/login", "/jobs/j999", "{session}")


@dataclass
class Site:
    url: str
    world: World
    browser: Browser


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with world() as made, async_playwright() as playwright:
        await Seeder(made).fill()
        config = uvicorn.Config(made.app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1)
        server, socket = uvicorn.Server(config), config.bind_socket()
        task = asyncio.create_task(server.serve([socket]))
        browser = await playwright.chromium.launch(executable_path=str(find_chromium(None)), args=["--no-sandbox"])
        try:
            yield Site(f"http://127.0.0.1:{socket.getsockname()[1]}", made, browser)
        finally:
            await browser.close()
            server.should_exit = True
            await task
            socket.close()


async def opened(site: Site, path: str, width: int = 1280, scheme: str = "light") -> tuple[Page, list[str]]:
    """A page, and what its console complains about."""
    context = await site.browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    await page.goto(site.url + path)
    return page, complaints


@pytest.mark.parametrize("width", [1280, 390])
async def test_every_page_fits_its_window_and_complains_of_nothing(site: Site, width: int) -> None:
    session = (await site.world.client.get("/v1/jobs/j2")).json()["root_session"]
    for path in PAGES:
        page, complaints = await opened(site, path.format(session=f"/sessions/{session}"), width)
        excess = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert excess == 0, path
        assert [text for text in complaints if "404" not in text] == [], path
        assert await page.title() != "owned", path
        await page.context.close()


async def test_both_colour_schemes_are_really_there(site: Site) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page, _ = await opened(site, "/", scheme=scheme)
        grounds.append(await page.evaluate("getComputedStyle(document.body).backgroundColor"))
        await page.context.close()
    assert grounds == ["rgb(244, 246, 248)", "rgb(14, 20, 24)"]


async def test_a_job_page_follows_its_job_to_the_end_by_itself(site: Site) -> None:
    job = await site.world.submit(url="https://live.example/", goal="watch me", loop={"values": ["a", "b"]})
    page, complaints = await opened(site, f"/jobs/{job}")
    await expect(page.locator("[data-live=progress] .badge")).to_have_text("queued")
    mine = [work for work in await site.world.claim() if f"j{work.job}" == job]
    answer = loop_of(["a", "b"], lambda work: completed({"colour": "blue"}))
    await site.world.finish(mine, answer)
    await expect(page.locator("[data-live=progress]")).to_contain_text("0 of 2 items final")
    for _ in range(2):
        await site.world.finish([work for work in await site.world.claim() if f"j{work.job}" == job], answer)
    await expect(page.locator("[data-live=progress] .badge")).to_have_text("completed")
    await expect(page.locator("[data-live=results] tbody tr")).to_have_count(2)
    await expect(page.locator("[data-live=results]")).to_contain_text("blue")
    assert complaints == []


async def test_the_list_shows_a_new_job_without_being_asked(site: Site) -> None:
    page, _ = await opened(site, "/")
    await site.world.submit(goal="a job that came later")
    await expect(page.locator("[data-live=jobs]")).to_contain_text("a job that came later", timeout=10_000)


async def test_a_job_is_canceled_by_its_button_after_a_question(site: Site) -> None:
    job = await site.world.submit(goal="cancel me")
    page, _ = await opened(site, f"/jobs/{job}")
    asked: list[str] = []

    async def accept(dialog) -> None:
        asked.append(dialog.message)
        await dialog.accept()

    page.on("dialog", accept)
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.locator("[data-live=progress] .badge")).to_have_text("canceled")
    assert asked == [f"Cancel {job}? What runs is stopped."]
