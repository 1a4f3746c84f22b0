"""Pages that explain, in a real browser: maps, records, steps, comparisons, charts, what needs a person."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import time
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from fastapi.routing import APIRoute
from playwright.async_api import Browser, expect
from starlette.routing import Match

from shoal.agent.types import ArtifactRef
from shoal.agent.worker_messages import Work
from shoal.services.store.jobs.sink_records import SinkEnd, SinkState
from shoal.services.web.openid.config import OpenId
from shoal.services.web.pages.sessions.record_places import record_key
from tests.gateway_world import completed, failed, fan_out, loop_of
from tests.integration.dashboard.served import Site, faults_in_views, pages_of, served_site
from tests.patience import PATIENCE_S
from tests.unit.workflows.test_format import FORM

pytestmark = pytest.mark.asyncio(loop_scope="session")

ITEMS = 100_000 if os.environ.get("TEST_LARGE") else 20_000
"""`make test-fuzz` opens the page of 100,000 items (TEST_LARGE); to store so many takes half a minute."""
OPENS_WITHIN_S = 2.0 if os.environ.get("TEST_LARGE") else 10.0
"""The page is to open within a second on two idle cores; those of `make test` are shared with other tests."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(browser: Browser) -> AsyncIterator[Site]:
    # A provider that is away: its pages say so.
    openid = OpenId(
        issuer="http://127.0.0.1:9", client_id="c", roles={"*": "viewer"}, public_url="http://127.0.0.1:8700"
    )
    async with served_site(browser, openid=openid) as made:
        yield made


async def session_of(site: Site, job: str) -> str:
    return str((await site.world.client.get(f"/v1/jobs/{job}")).json()["root_session"])


async def a_schedule(site: Site) -> None:
    """A schedule that has run once."""
    job = {"url": "https://shop.example/", "goal": "look", "sinks": [{"http": {"url": "https://me.example/in"}}]}
    spec = {"name": "prices", "every": "1h", "job": job}
    for path, body in (("/v1/schedules", spec), ("/v1/schedules/prices/fire", None)):
        answer = await site.world.client.post(path, json=body)
        assert answer.is_success, answer.text


async def a_workflow(site: Site) -> None:
    """A workflow that fills a form and reads what its page says then."""
    answer = await site.world.client.post("/v1/workflows", json=FORM)
    assert answer.is_success or answer.status_code == 409, answer.text


async def a_job_of_rows(site: Site) -> tuple[str, str]:
    """A job whose items are rows, with data, and with a sink that was given up; and a session of it that failed."""
    rows = [json.dumps({"name": f"Ada {n}", "mail": "ada@rows.example", "pin": n}) for n in range(3)]
    job = await site.world.submit(
        url="https://rows.example/",
        name="Rows of a file",
        goal="fill in the form",
        loop={"values": rows},
        data={"event": {"title": "Fair", "guests": 2}},
        sinks=[{"http": {"url": "https://me.example/in"}}],
    )
    answer = loop_of(rows, lambda work: failed() if work.item and work.item.index == 1 else completed({"n": 1}))
    while mine := [work for work in await site.world.claim() if f"j{work.job}" == job]:
        await site.world.finish(mine, answer)
    sinks = await site.world.store.sinks.claim(9, lease_s=60, each=9)
    await asyncio.gather(
        *(site.world.store.sinks.end(row, SinkEnd(SinkState.FAILED, error="HTTP 500")) for row in sinks)
    )
    query = {"status": "failed"}
    sessions = (await site.world.client.get(f"/v1/jobs/{job}/sessions", params=query)).json()["sessions"]
    return job, str(sessions[0]["id"])


async def a_recorded_session(site: Site) -> tuple[str, str, str]:
    """A session with a record and a recording: its id, the record's key, the recording's artifact."""
    job, artifact = await site.world.submit(url="https://told.example/", goal="be recorded"), f"{0xFEED:032x}"
    told = gzip.compress(json.dumps({"format": 1, "tabs": [], "lacks": []}).encode())
    (work,) = [work for work in await site.world.claim() if f"j{work.job}" == job]
    kept = ArtifactRef(artifact, "recording", f"default/{job}/{artifact}.gz", "application/gzip", len(told))
    await site.world.artifacts.put(kept.key, told, kept.content_type)
    outcome = completed({"n": 1}, artifacts=(kept,))
    await site.world.finish([work], lambda _: outcome)
    (read,) = outcome.records
    places = {name: source.where for name, source in read.sources.items()}
    return await session_of(site, job), record_key(read.value, places), artifact


async def test_the_map_of_a_loop_leads_by_mouse_and_by_keys_to_the_session_of_an_item(site: Site) -> None:
    page, complaints = await site.page("/jobs/j1")
    cells = page.locator("canvas[data-map-of]")
    await expect(cells).to_have_attribute("data-drawn", "220")
    await cells.focus()
    for _ in range(12):
        await page.keyboard.press("ArrowRight")
    await expect(page.locator("#map-probe")).to_have_text("item 12: failed")
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_contain_text("/p/stand-12")
    await page.go_back()
    await expect(cells).to_have_attribute("data-drawn", "220")
    await cells.hover(position={"x": 3, "y": 3})
    await expect(page.locator("#map-probe")).to_have_text("item 1: completed")
    await cells.click(position={"x": 3, "y": 3})
    await expect(page.locator("h1")).to_contain_text("/p/kettle-1")
    assert complaints == []


async def test_the_rate_of_a_job_follows_what_ends(site: Site) -> None:
    values = [f"v{n}" for n in range(4)]
    job = await site.world.submit(url="https://rate.example/", goal="be counted", loop={"values": values})
    answer = loop_of(values, lambda work: completed({"n": 1}))

    async def mine() -> list[Work]:
        return [work for work in await site.world.claim() if f"j{work.job}" == job]

    await site.world.finish(await mine(), answer)
    held = await mine()
    page, complaints = await site.page(f"/jobs/{job}")
    told = page.locator("[data-live=progress] .head > span")
    await expect(told).to_have_text(re.compile("no rate can be told yet|no item ended in the last"))
    async with asyncio.timeout(PATIENCE_S):  # a rate of less time is none
        while "no item ended in the last" not in (await site.world.client.get(f"/jobs/{job}")).text:
            await asyncio.sleep(0.1)
    await site.world.finish(held[:2], answer)
    await expect(told).to_have_text(re.compile(r"^[\d.]+ items/(s|min|h) in the last .+ · about .+ left$"))
    await site.world.finish(held[2:], answer)
    await site.world.finish(await mine(), answer)
    await expect(told).to_have_text(re.compile("^[\\d.]+ items/(s|min|h) on average$"))
    assert complaints == []


async def test_the_map_appears_on_the_page_of_a_job_that_was_just_handed_in(site: Site) -> None:
    values = [f"v{n}" for n in range(3)]
    job = await site.world.submit(url="https://map.example/", goal="be drawn", loop={"values": values})
    page, complaints = await site.page(f"/jobs/{job}")
    await page.evaluate("window.since = 'the load'")
    cells = page.locator("canvas[data-map-of]")
    await expect(page.locator("[data-live=progress]")).to_contain_text("0 of 1 items final")
    await expect(cells).to_have_count(0)
    while mine := [work for work in await site.world.claim() if f"j{work.job}" == job]:
        await site.world.finish(mine, loop_of(values, lambda work: completed({"n": 1})))
    await expect(cells).to_have_attribute("data-drawn", "3")
    await expect(cells).to_have_attribute("aria-label", "Map of 3 items: 3 completed")
    assert await page.evaluate("window.since") == "the load"
    assert complaints == []


async def test_the_map_of_a_job_that_runs_follows_it(site: Site) -> None:
    job = await site.world.submit(url="https://live.example/", goal="watch me", loop={"values": ["a", "b"]})
    answer = loop_of(["a", "b"], lambda work: completed({"n": 1}))
    mine = [work for work in await site.world.claim() if f"j{work.job}" == job]
    await site.world.finish(mine, answer)
    page, complaints = await site.page(f"/jobs/{job}")
    cells = page.locator("canvas[data-map-of]")
    await expect(cells).to_have_attribute("data-drawn", "2")
    await cells.focus()
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#map-probe")).to_contain_text("queued")
    await site.world.finish([work for work in await site.world.claim() if f"j{work.job}" == job], answer)
    await expect(page.locator("[data-live=progress]")).to_contain_text("2 of 2 items final")
    assert complaints == []


async def test_a_job_of_many_items_opens_at_once(site: Site) -> None:
    job = await site.world.submit(url="https://big.example/", goal="very much", loop={"from": {"select": "a"}})
    (root,) = [work for work in await site.world.claim() if f"j{work.job}" == job]
    await site.world.finish([root], lambda _: fan_out([f"https://big.example/{n}" for n in range(ITEMS)]))
    while (await site.world.store.materialize()).more:
        pass
    page, complaints = await site.page("/login")  # the browser is awake
    took = []
    for _ in range(3):
        began = time.monotonic()
        await page.goto(f"{site.url}/jobs/{job}")
        await expect(page.locator("canvas[data-map-of]")).to_have_attribute("data-drawn", str(ITEMS))
        took.append(round(time.monotonic() - began, 2))
        await page.goto(f"{site.url}/login")
    print(f"a page with a loop of {ITEMS} opened in {took} s")
    assert min(took) <= OPENS_WITHIN_S, took
    assert complaints == []


async def test_records_are_sorted_by_their_headers_and_found_by_words(site: Site) -> None:
    page, complaints = await site.page("/jobs/j1")
    await page.get_by_role("link", name="all, sorted and filtered").click()
    await page.get_by_role("link", name="price", exact=True).click()
    await page.get_by_role("link", name="price ↑").click()
    await expect(page.locator("th[aria-sort=descending]")).to_have_count(1)
    prices = [float(text) for text in await page.locator("tbody td.number:nth-child(5)").all_text_contents()]
    assert len(prices) > 50 and prices == sorted(prices, reverse=True)
    await page.get_by_label("Search").fill("toaster vik")
    await page.get_by_label("Search").press("Enter")
    await expect(page.locator(".foot")).to_contain_text("lines match")
    names = await page.locator("tbody td:nth-child(4)").all_text_contents()
    assert names and all("Toaster Vik" in name for name in names)
    assert "sort=price" in page.url and "q=toaster+vik" in page.url
    assert complaints == []


async def test_a_search_is_kept_under_a_name(site: Site) -> None:
    page, complaints = await site.page("/")
    await page.get_by_label("Search").fill("spare parts")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("td.goal")).to_have_count(1)
    await page.get_by_label("Name of this filter").fill("parts <b>")
    await page.get_by_role("button", name="Save filter").click()
    await page.goto(site.url)
    await page.get_by_role("link", name="parts <b>").click()
    await expect(page.locator("td.goal")).to_have_count(1)
    await page.get_by_role("button", name="Remove the filter parts <b>").click()
    await expect(page.get_by_role("link", name="parts <b>")).to_have_count(0)
    assert complaints == []


async def test_steps_are_walked_with_their_pictures_before_and_after(site: Site) -> None:
    page, complaints = await site.page(f"/sessions/{await session_of(site, 'j2')}")
    await page.get_by_role("link", name="step in full").first.click()
    await expect(page.locator("h1")).to_contain_text("A cookie dialog covers the page")
    slider = page.get_by_label("From before to after")
    await slider.focus()
    for _ in range(10):
        await page.keyboard.press("ArrowRight")
    assert await page.locator("[data-slider]").evaluate("one => one.style.getPropertyValue('--at')") == "60%"
    await expect(page.locator("main")).to_contain_text("element_not_usable")
    await page.get_by_role("link", name="Later →").click()
    await expect(page.locator("h1")).to_contain_text("The delivery page is in the footer.")
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator("h1")).to_contain_text("A cookie dialog covers the page")
    assert complaints == []


async def test_what_needs_a_person_is_counted_on_every_page_and_settled(site: Site) -> None:
    page, complaints = await site.page("/status")
    link = page.locator("[data-waiting]")
    await expect(link).to_have_attribute("data-waiting", "1")
    await link.click()
    page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
    await page.get_by_role("button", name="It was done").click()
    await expect(page.locator("main")).to_contain_text("Every session knows what it did.")
    assert complaints == []


async def test_a_browser_tells_a_person_who_wants_it_that_something_waits(site: Site) -> None:
    page, complaints = await site.page("/status")
    await page.add_init_script(
        "window.told = []; window.Notification = class extends EventTarget {"
        " static permission = 'default';"
        " static async requestPermission() { return (Notification.permission = 'granted'); }"
        " constructor(title, options) { super(); told.push(`${title}: ${options.body}`); } };"
    )
    await page.goto(f"{site.url}/attention")
    switch = page.get_by_role("button", name="Notify me in this browser")
    await page.evaluate("() => notify(1)")
    assert await page.evaluate("() => told") == [], "only a person who wants it is told"
    await switch.click()
    await expect(page.get_by_role("button", name="Notifications are on")).to_have_attribute("aria-pressed", "true")
    await page.evaluate("() => notify(2)")
    assert await page.evaluate("() => told") == ["Shoal needs you: 2 things wait for a person."]
    await page.get_by_role("button", name="Notifications are on").click()
    await page.evaluate("() => notify(3)")
    assert len(await page.evaluate("() => told")) == 1
    assert complaints == []


def matched(pages: Sequence[APIRoute], path: str) -> str:
    """The route of the page at `path`."""
    scope = {"type": "http", "method": "GET", "path": path.partition("?")[0], "root_path": "", "headers": []}
    return next((route.path for route in pages if route.matches(scope)[0] is Match.FULL), path)


@pytest.mark.timeout(600)  # every page, beside other rings
async def test_axe_finds_nothing_serious_and_every_page_fits(site: Site) -> None:
    session = await session_of(site, "j2")
    await a_schedule(site)
    await a_workflow(site)
    job, failed_session = await a_job_of_rows(site)
    recorded, key, recording = await a_recorded_session(site)
    paths = (
        *(f"/jobs/{job}", f"/jobs/{job}/records", f"/sessions/{failed_session}", "/new?preset=form"),
        *("/", "/?q=kitchen&status=completed", "/jobs/j1", "/jobs/j2", "/jobs/j5", "/jobs/j7", "/jobs/j999"),
        *("/jobs/j1/records?sources=1&sort=price", "/jobs/j1/history"),
        *("/jobs/j1/compare?with=j2", "/activity", "/attention", "/status", f"/sessions/{session}"),
        *(f"/sessions/{session}/steps/1/1", f"/sessions/{session}/live", f"/sessions/{recorded}/records/{key}"),
        f"/sessions/{recorded}/recordings/{recording}",
        *("/admin/keys", "/admin/tenants", "/admin/tenants/default", "/admin/secrets", "/admin/webhooks"),
        *("/admin/audit", "/sites", "/sites/shop.example", "/schedules", "/schedules/prices"),
        *(
            "/workflows",
            "/workflows/quotes",
            "/workflows/quotes/edit?version=1",
            "/workflows/quotes/edit?version=1&node=n1",
        ),
        *("/login", "/login/ended", "/login/openid", "/login/openid/callback"),
    )
    pages = pages_of(site.world.app)
    assert {route.path for route in pages} <= {matched(pages, path) for path in paths}, (
        "a page that is looked at nowhere"
    )
    found = []
    page, complaints = await site.page("/login")  # one for all: a renderer of its own costs each a second of CPU
    for path in paths:
        await page.goto(site.url + path)
        found += await faults_in_views(page, path)
        found += [f"{path}: {text}" for text in complaints if not re.search("404|401|503", text)]
        complaints.clear()
        assert await page.title() != "owned"
    assert found == []
