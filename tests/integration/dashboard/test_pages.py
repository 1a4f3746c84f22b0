"""The dashboard in a real browser: it fits, it runs nothing foreign, and it keeps itself current."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from tests.gateway_world import completed, loop_of
from tests.integration.dashboard.served import Site, served_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEARD = """
const add = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (name, listener) {
  add.call(this, name, (event) => {
    listener(event);
    document.documentElement.dataset.heard = `${document.documentElement.dataset.heard ?? ""} ${name}`;
  });
};
"""
"""Notes which events a page's own listeners have had."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(browser: Browser) -> AsyncIterator[Site]:
    async with served_site(browser) as made:
        yield made


async def opened(site: Site, path: str, width: int = 1280, scheme: str = "light") -> tuple[Page, list[str]]:
    """A page, and what its console complains about."""
    context = await site.browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
    await context.add_init_script(HEARD)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    await page.goto(site.url + path)
    return page, complaints


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


async def heard(page: Page, name: str) -> None:
    await page.locator(f'html[data-heard~="{name}"]').wait_for(state="attached")


async def watched(site: Site) -> tuple[str, Page]:
    """A job of one session, and its page, which listens."""
    job = await site.world.submit(url="https://live.example/", goal="watch me")
    page, _ = await opened(site, f"/jobs/{job}")
    await change(site, job)
    await heard(page, "job.changed")
    return job, page


async def change(site: Site, job: str) -> None:
    answer = await site.world.client.patch(f"/v1/jobs/{job}", json={"priority": 3})
    assert answer.status_code == 200, answer.text


async def end(site: Site, job: str) -> None:
    mine = [work for work in await site.world.claim() if f"j{work.job}" == job]
    await site.world.finish(mine, lambda work: completed({"colour": "blue"}))


async def test_what_happens_while_a_page_is_being_read_again_is_shown_too(site: Site) -> None:
    """Its last event came while an answer that was read before it was on its way, and it stayed as it was for good."""
    job, page = await watched(site)
    changed = asyncio.Event()

    async def overtaken(route: Route) -> None:
        await changed.wait()
        before = await route.fetch()
        await end(site, job)
        await heard(page, "job.finished")
        await route.fulfill(response=before)

    await page.route(f"**/jobs/{job}", overtaken, times=1)
    await change(site, job)
    changed.set()
    await expect(page.locator("[data-live=progress] .badge")).to_have_text("completed")


async def test_a_page_that_could_not_be_read_again_is_read_later(site: Site) -> None:
    job, page = await watched(site)
    refused: list[str] = []

    async def away(route: Route) -> None:
        refused.append(route.request.url)
        await (route.abort() if len(refused) == 1 else route.fulfill(status=503))

    await page.route(f"**/jobs/{job}", away, times=2)
    await end(site, job)
    await expect(page.locator("[data-live=progress] .badge")).to_have_text("completed")
    assert len(refused) == 2


async def test_a_page_whose_events_were_refused_asks_for_them_again(site: Site) -> None:
    """A browser comes back by itself to a stream that was cut off, but never to one that was refused."""
    job = await site.world.submit(url="https://live.example/", goal="watch me")
    page, _ = await opened(site, "/")
    asked: list[str] = []

    async def away(route: Route) -> None:
        asked.append(route.request.url)
        await route.fulfill(status=503)

    await page.route(f"**/jobs/{job}/events*", away, times=1)
    await page.goto(f"{site.url}/jobs/{job}")
    await change(site, job)
    await heard(page, "job.changed")
    await end(site, job)
    await expect(page.locator("[data-live=progress] .badge")).to_have_text("completed")
    assert len(asked) == 1


async def test_a_part_in_which_somebody_is_at_work_is_left_alone_until_they_leave_it(site: Site) -> None:
    job, page = await watched(site)
    await page.get_by_role("button", name="Cancel").focus()
    await end(site, job)
    await expect(page.locator("[data-live=progress] .badge")).to_have_text("completed")
    await expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    await page.locator("nav a").first.focus()
    await expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


async def test_a_page_is_told_what_happens_from_now_on_whatever_it_is(site: Site) -> None:
    """Of a long job all that has happened is a hundred thousand events, and is on the page."""
    _, page = await watched(site)  # until it has heard of a change of priority
    assert await page.locator("html").get_attribute("data-heard") == " job.changed"


async def test_a_sessions_page_follows_it_to_its_end_and_asks_no_more_then(site: Site) -> None:
    job = await site.world.submit(url="https://live.example/", goal="watch me")
    root = (await site.world.client.get(f"/v1/jobs/{job}")).json()["root_session"]
    page, complaints = await opened(site, f"/sessions/{root}")
    await expect(page.locator("[data-live=status]")).to_have_text("queued")
    await expect(page.locator("[data-live=session]")).to_contain_text("waits for")
    await page.locator("summary", has_text="JSON").click()
    await end(site, job)
    await expect(page.locator("[data-live=status]")).to_have_text("completed")
    await expect(page.locator("[data-live=session]")).to_contain_text("blue")
    await expect(page.locator("[data-live=whole]")).to_contain_text('"blue"')  # what was opened stays open
    assert await page.evaluate("document.body.dataset.poll === undefined")
    assert complaints == []


async def test_the_list_shows_a_new_job_without_being_asked(site: Site) -> None:
    page, _ = await opened(site, "/")
    await site.world.submit(goal="a job that came later")
    await expect(page.locator("[data-live=jobs]")).to_contain_text("a job that came later")


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
