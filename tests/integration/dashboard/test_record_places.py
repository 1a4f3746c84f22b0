"""Records of real jobs on the pictures of their pages: a marked place holds the value, and no other place is marked."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.integration.dashboard.served import faults_in_views
from tests.live_world import Live, live_world

pytestmark = pytest.mark.asyncio(loop_scope="session")

PRODUCT = """<!doctype html><title>Kettle</title>
<style>body { margin: 0 } p, h1 { position: absolute; margin: 0 }</style>
<h1 style="left:40px;top:30px">&lt;img src=x onerror="document.title='owned'"&gt;</h1>
<p class=price style="left:60px;top:200px;width:120px;height:24px">1.299,50 &euro;</p>
<p class=low style="left:40px;top:3000px">Below</p>
<p class=covered style="left:300px;top:400px;width:200px;height:30px">Covered</p>
<div style="position:absolute;left:290px;top:390px;width:300px;height:60px;background:#eee">over it</div>
<p class=twice style="left:40px;top:500px">Oslo</p>"""
LIST = (
    "<!doctype html><title>Shop</title><ul>"
    + "".join(f"<li class=row><b class=name>Kettle {n}</b> <i class=price>{n}9.90</i></li>" for n in range(1, 6))
    + "</ul>"
)


def job(**extract: Any) -> dict[str, Any]:
    return {"goal": None, "policy": "rules", "extract": extract}


FIELDS = {
    "name": {"select": "h1"},
    "price": {"select": "p.price"},
    "low": {"select": "p.low"},
    "covered": {"select": "p.covered"},
    "city": {"select": "p.twice"},
}
SCHEMA = {
    "type": "object",
    "properties": {"price": {"type": "number"}, **{n: {"type": "string"} for n in FIELDS if n != "price"}},
}


FORM = """<!doctype html><title>Note</title>
<style>body { margin: 0 } form * { position: absolute; box-sizing: border-box }</style>
<form action=/sent><label style="left:40px;top:20px">Name
<input name=name style="left:0;top:30px;width:200px;height:24px"></label>
<button style="left:300px;top:120px;width:90px;height:30px">Send</button></form>"""


ROWS = "<li class=row><b class=name>Kettle</b> <i class=price>{}</i></li><li class=row><b class=name>{}</b></li>"
LISTED = "<!doctype html><title>Shop</title><ul>" + ROWS + "</ul>{}"
PAGES = {
    "/product": PRODUCT,
    "/list": LIST,
    "/1": LISTED.format(9, "Pan", "<a class=next href=/2>Next</a>"),
    "/2": LISTED.format(8, "Pot", ""),
    "/note": FORM,
    "/sent": "<title>Sent</title><h1>Thank you, Ada</h1>",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Live]:
    async with live_world(tmp_path_factory.mktemp("live"), PAGES, lambda body: "") as made:
        yield made


async def ended(live: Live, path: str, **spec: Any) -> Any:
    session = await live.job(url=live.site.rstrip("/") + path, **spec)
    return await live.until(session, lambda row: row["status"] not in ("queued", "running"))


async def records_page(live: Live, browser: Browser, row: Any, query: str = "") -> Page:
    page = await browser.new_page(viewport={"width": 1280, "height": 850})
    await page.goto(f"{live.url}/jobs/{row['job']}/records{query}")
    return page


async def test_a_marked_place_on_the_picture_holds_the_value(live: Live, browser: Browser) -> None:
    row = await ended(live, "/product", **job(fields=FIELDS, schema=SCHEMA))
    assert (row["status"], row["records"]) == ("completed", 1), row
    (record,) = row["record_list"]
    boxes = {name: source["box"] for name, source in record["sources"].items()}
    assert boxes["price"] == {"x": 60.0, "y": 200.0, "width": 120.0, "height": 24.0}
    assert {name for name, box in boxes.items() if box is None} == {"low", "covered"}, boxes
    assert record["picture"]["artifact"] == row["screenshot"]
    shows = record["picture"]["shows"]

    page = await records_page(live, browser, row, "?sources=1")
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    await expect(page.get_by_role("link", name="on the picture", exact=True)).to_have_count(3)
    link = page.get_by_role("link", name="Places of this record on the picture of its page")
    await link.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Where this record stands on its page")).to_be_visible()
    await expect(page.locator(".placed rect")).to_have_count(3)
    await expect(page.get_by_text("place not known")).to_have_count(2)
    await page.get_by_role("link", name="Show price on the picture").press("Enter")
    mark = page.locator(".placed rect")
    await expect(mark).to_have_count(1)
    picture, marked = await page.locator(".placed image").bounding_box(), await mark.bounding_box()
    assert picture is not None and marked is not None
    scale = picture["width"] / shows["width"]
    assert abs((marked["x"] - picture["x"]) / scale - 60) < 4 and abs((marked["y"] - picture["y"]) / scale - 200) < 4
    assert await page.title() != "owned" and await page.locator("main img").count() == 0
    records = f"{live.url}/jobs/{row['job']}/records?sources=1"
    for name, path in (("place", page.url.partition("?")[0] + "?"), ("records", records)):
        shown = await browser.new_page()
        await shown.goto(path)
        assert await faults_in_views(shown, name) == []
        await shown.close()
    assert complaints == []


async def test_rows_of_a_list_are_marked_each_at_its_own_place(live: Live, browser: Browser) -> None:
    fields = {"name": {"select": ".name"}, "price": {"select": ".price"}}
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}}
    row = await ended(live, "/list", **job(fields=fields, schema={"type": "array", "items": schema}, records="li.row"))
    assert (row["status"], row["records"]) == ("completed", 5), row
    tops = [one["sources"]["name"]["box"]["y"] for one in row["record_list"]]
    assert tops == sorted(set(tops)) and len(tops) == 5
    page = await records_page(live, browser, row)
    await expect(page.get_by_role("link", name="Places of this record")).to_have_count(5)
    await page.get_by_role("link", name="Places of this record").nth(3).click()
    await expect(page.get_by_role("table")).to_contain_text("Kettle 4")


async def test_a_record_of_an_earlier_page_has_no_place_on_the_picture_of_a_later_one(live: Live) -> None:
    fields = {"name": {"select": ".name"}, "price": {"select": ".price"}}
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}}
    extract = {"fields": fields, "schema": {"type": "array", "items": schema}, "records": "li.row", "next": "a.next"}
    row = await ended(live, "/1", **job(**extract))

    assert [one["value"]["name"] for one in row["record_list"]] == ["Kettle", "Pan", "Kettle", "Pot"]
    assert {source["box"] for one in row["record_list"] for source in one["sources"].values()} == {None}


async def test_a_record_without_a_picture_says_so(live: Live, browser: Browser) -> None:
    row = await ended(live, "/product", **job(fields=FIELDS, schema=SCHEMA), artifacts={"screenshots": "errors"})
    assert (row["status"], row["records"]) == ("completed", 1), row
    assert {source["box"] for source in row["record_list"][0]["sources"].values()} == {None}
    assert row["record_list"][0]["picture"] is None
    page = await records_page(live, browser, row, "?sources=1")
    await expect(page.get_by_text("no place", exact=True)).to_be_visible()
    await expect(page.get_by_role("link", name="on the picture", exact=True)).to_have_count(0)


async def test_the_elements_that_a_step_acted_on_are_marked_on_its_picture(
    live: Live, browser: Browser, tmp_path: Path
) -> None:
    data = {"name": "Ada <b>"}
    row = await ended(live, "/note", goal="send the note", policy="rules", data=data, artifacts={"screenshots": "all"})
    steps = [step for tasks in row["attempts"] for task in tasks for step in task["steps"]]
    assert [step["shows"] for step in steps[:2]] == [{"x": 0.0, "y": 0.0, "width": 1280.0, "height": 800.0}] * 2
    assert [result["box"] for step in steps[:2] for result in step["results"]] == [
        {"x": 40.0, "y": 50.0, "width": 200.0, "height": 24.0},
        {"x": 300.0, "y": 120.0, "width": 90.0, "height": 30.0},
    ], steps
    page = await browser.new_page(viewport={"width": 1280, "height": 850})
    await page.goto(f"{live.url}/sessions/{row['id']}/steps/1/1")
    await expect(page.locator(".slider rect")).to_have_count(1)
    picture = await page.locator(".slider image").first.bounding_box()
    mark = await page.locator(".slider rect").bounding_box()
    assert picture is not None and mark is not None
    scale = picture["width"] / 1280
    assert abs((mark["x"] - picture["x"]) / scale - 40) < 4 and abs((mark["y"] - picture["y"]) / scale - 50) < 4
    await page.screenshot(path=os.environ.get("STEP_PICTURE") or tmp_path / "step.png")
