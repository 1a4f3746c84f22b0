"""Choosing on the picture of a page in a real browser: by pointer and by keys, for fields of jobs and for workflows."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.integration.dashboard.served import faults_in_views
from tests.integration.dashboard.test_workflow_page import PAGES, Shop, shop
from tests.live_world import live_world

pytestmark = [pytest.mark.timeout(360), pytest.mark.asyncio(loop_scope="session")]

EVIL = "<img src=x onerror=\"document.title='owned'\">"
KETTLE = f"""<!doctype html><html lang=en><title>Kettle</title><main><h1>Kettle</h1>
<p class=lead>{EVIL.replace("<", "&lt;")}</p><p class=note>Lasts two years</p>
<dl><dt>Weight</dt><dd>900 g</dd><dt>Colour</dt><dd>Steel</dd></dl></main>"""
ROWS = "".join(
    f"<li class=book><h2>{name}</h2><p class=by>{by}</p><p class=place>{place}</p></li>"
    for name, by, place in (("Ulysses", "Joyce", "Row 4"), ("Emma", "Austen", "Row 7"), (EVIL, "Nobody", "Row 9"))
).replace("<img", "&lt;img")
MANY = 700
HUGE = "".join(f"<p>Paragraph number {n} of the page</p><button>Button {n}</button>" for n in range(MANY))
WORD = "opensesame-4711"
SHELVES = "".join(f'<li><a class=shelf href="/shelf/{n}">Shelf {n}</a></li>' for n in range(5))
HEAD = "<!doctype html><html lang=en><title>Page</title><main>"
SITE = PAGES | {
    "/kettle": KETTLE,
    "/books": f"<!doctype html><html lang=en><title>Books</title><ul>{ROWS}</ul>",
    "/huge": f"{HEAD}<h1>Huge</h1>{HUGE}</main>",
    "/gate": f"{HEAD}<label for=pin>Word</label><input id=pin></main>",
    "/account": f"{HEAD}<h1>Account</h1><p class=word>{WORD}</p></main>",
    "/shelves": f"{HEAD}<ul>{SHELVES}</ul></main>",
    **{f"/shelf/{n}": f"{HEAD}<h1>Shelf {n}</h1><p class=size>{n} m</p></main>" for n in range(5)},
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def here(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> AsyncIterator[Shop]:
    folder: Path = tmp_path_factory.mktemp("shop")
    secrets = folder / "secrets" / "default"
    secrets.mkdir(parents=True)
    (secrets / "PIN").write_text(WORD)
    (secrets / "PIN.domains").write_text("http://127.0.0.1")
    async with live_world(folder, SITE, lambda body: "") as live:
        made = Shop(live, browser)
        await made.import_workflow(shop(live.site))
        yield made


def job(here: Shop, path: str, schema: dict[str, Any], **extract: Any) -> str:
    site = f"{here.live.site.rstrip('/')}{path}"
    return json.dumps(
        {"url": site, "policy": "rules", "politeness": {"robots": False}, "extract": {"schema": schema, **extract}}
    )


async def tried(page: Page, spec: str) -> Locator:
    """The dialog to choose in, after a sample of the job."""
    await page.locator("#json").fill(spec)
    await try_again(page)
    return await opened(page)


async def try_again(page: Page) -> None:
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Try first").click()
    await expect(page.get_by_role("button", name="Choose on the picture")).to_be_visible()


async def opened(page: Page) -> Locator:
    await page.get_by_role("button", name="Choose on the picture").click()
    dialog = page.get_by_role("dialog", name="Choose on the page")
    await expect(dialog.locator("[data-drawn]")).to_be_visible()
    return dialog


async def point_at(page: Page, dialog: Locator, text: str) -> None:
    """Clicks on the picture where a text stands."""
    option = dialog.get_by_role("option", name=text, exact=True)
    await option.scroll_into_view_if_needed()
    box = await option.bounding_box()
    assert box is not None
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await expect(option).to_have_attribute("aria-selected", "true")


async def written(page: Page) -> Any:
    return json.loads(await page.locator("#json").input_value())["extract"]


SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("guarantee", "heft", "blurb")},
}


async def test_a_click_and_a_key_on_the_picture_set_the_places_of_fields(here: Shop) -> None:
    page, complaints = await here.page("/new")
    dialog = await tried(page, job(here, "/kettle", SCHEMA))
    await expect(dialog.locator("[data-choose=target] option").first).to_have_text("guarantee (missing)")
    await point_at(page, dialog, "Lasts two years")
    await expect(dialog.get_by_role("radio").first).to_be_checked()
    await dialog.get_by_role("button", name="Set").click()
    await expect(dialog.get_by_role("status")).to_contain_text("Set the place of guarantee.")
    assert (await written(page))["fields"] == {"guarantee": {"select": "p.note"}}
    await dialog.get_by_label("what to set").select_option(label="heft (missing)")
    await dialog.get_by_role("listbox").focus()
    await page.keyboard.press("Home")
    for _ in range(30):
        if await dialog.locator("[data-choose=chosen]").text_content() == "900 g":
            break
        await page.keyboard.press("ArrowDown")
    chosen = await dialog.get_by_role("listbox").get_attribute("aria-activedescendant")
    assert await page.locator(f"#{chosen}").get_attribute("aria-label") == "900 g"
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("status")).to_contain_text("Set the place of heft.")
    assert (await written(page))["fields"]["heft"] == {"label": "Weight"}
    await dialog.get_by_label("what to set").select_option(label="blurb (missing)")
    await point_at(page, dialog, EVIL)
    await dialog.get_by_role("button", name="Set").click()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await try_again(page)
    told = (
        await here.live.world.client.post("/v1/jobs:try", json=json.loads(await page.locator("#json").input_value()))
    ).json()
    assert told["records"][0]["record"] == {"guarantee": "Lasts two years", "heft": "900 g", "blurb": EVIL}
    await expect(page.locator("#tried")).to_contain_text("Lasts two years")
    assert (await page.title(), complaints) == ("New job · Shoal", [])
    jobs = (await here.live.world.client.get("/v1/jobs")).json()["jobs"]
    assert jobs == [], "a try and its pictures are kept nowhere"


async def test_of_a_list_the_record_is_found_too(here: Shop) -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"shelf": {"type": "string"}}}}
    page, complaints = await here.page("/new")
    dialog = await tried(page, job(here, "/books", schema))
    await point_at(page, dialog, "Row 7")
    await dialog.get_by_role("button", name="Set").click()
    assert await written(page) == {
        "schema": schema,
        "records": "li.book",
        "fields": {"shelf": {"select": "p.place"}},
    }
    told = (
        await here.live.world.client.post("/v1/jobs:try", json=json.loads(await page.locator("#json").input_value()))
    ).json()
    assert [one["record"] for one in told["records"]] == [{"shelf": f"Row {n}"} for n in (4, 7, 9)]
    assert complaints == []


async def test_a_job_that_wants_no_pictures_gets_none(here: Shop) -> None:
    page, _ = await here.page("/new")
    spec = json.loads(job(here, "/kettle", SCHEMA)) | {"artifacts": {"screenshots": "none"}}
    await page.locator("#json").fill(json.dumps(spec))
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Try first").click()
    await expect(page.locator("#tried .tried")).to_have_count(1)
    await expect(page.get_by_role("button", name="Choose on the picture")).to_have_count(0)


async def sampled(page: Page, spec: str) -> Any:
    """Return what the page is told of a sample of the job."""
    await page.locator("#json").fill(spec)
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    async with page.expect_response(lambda answer: answer.url.endswith("/new/try"), timeout=120_000) as answer:
        await page.get_by_role("button", name="Try first").click()
    told = await (await answer.value).json()
    await expect(page.locator("#tried .badge").first).to_be_visible()
    return told


async def test_a_page_of_1400_elements_gets_its_picture(here: Shop) -> None:
    page, complaints = await here.page("/new")
    (picture,) = (await sampled(page, job(here, "/huge", SCHEMA)))["pictures"]
    assert picture["height"] == 6_000, "what lies below is left out"
    assert [field["text"] for field in picture["fields"][:3]] == ["Huge", "Paragraph number 0 of the page", "Button 0"]
    assert (len(picture["fields"]), len(picture["elements"])) == (600, 250)
    assert all(field["ways"] for field in picture["fields"])
    dialog = await opened(page)
    await point_at(page, dialog, "Paragraph number 7 of the page")
    await dialog.get_by_role("button", name="Set").click()
    assert list((await written(page))["fields"]) == ["guarantee"]
    assert complaints == []


async def test_a_page_that_shows_a_stored_secret_gets_no_picture(here: Shop) -> None:
    page, complaints = await here.page("/new")
    site = here.live.site
    login = {"url": f"{site}gate", "steps": [{"open": f"{site}gate"}, {"fill": "#pin", "value": "secret:PIN"}]}
    spec = json.loads(job(here, "/account", SCHEMA)) | {
        "login": login,
        "secrets": {"PIN": {"domains": ["127.0.0.1"]}},
    }
    told = await sampled(page, json.dumps(spec))
    assert told["pictures"] == []
    assert WORD not in json.dumps(told)
    await expect(page.locator("#tried")).to_contain_text("no picture to choose on: the page shows a secret")
    await expect(page.get_by_role("button", name="Choose on the picture")).to_have_count(0)
    assert complaints == []


async def test_a_sample_has_three_pictures_at_most(here: Shop) -> None:
    page, complaints = await here.page("/new")
    schema = {"type": "object", "properties": {"size": {"type": "string"}}}
    spec = json.loads(job(here, "/shelves", schema)) | {"loop": {"from": {"select": "a.shelf"}}}
    told = await sampled(page, json.dumps(spec))
    assert len(told["pictures"]) == 3
    assert len({picture["url"] for picture in told["pictures"]}) == 3
    await expect(page.locator("#tried .tried")).to_have_count(3)
    assert complaints == []


async def test_in_the_editor_an_element_and_a_place_are_chosen_and_counted(here: Shop) -> None:
    page, complaints = await here.page("/workflows/shop/edit?version=1&node=who")
    values = page.locator("[data-locator] [name$='.value']")
    await values.nth(1).fill("#renamed")
    frames = page.get_by_label("frames around it")
    await frames.fill("#gone")
    await page.get_by_label("Addresses").fill(f"{here.live.site}form")
    await page.get_by_label("The loop's item").fill('{"who": "Ada"}')
    before = list(here.live.heard)
    await page.get_by_role("button", name="Test from here").click()
    counts = page.get_by_role("row").filter(has_text="who")
    await expect(counts.filter(has_text="role_name").locator("td.number")).to_have_text("0")
    await frames.fill("")
    await page.get_by_role("button", name="Test from here").click()
    await expect(counts.filter(has_text="role_name").locator("td.number")).to_have_text("1")
    await expect(counts.filter(has_text="#renamed").locator("td.number")).to_have_text("0")
    await frames.fill("#gone")
    dialog = await opened(page)
    await expect(dialog.get_by_label("what to set")).to_have_value("0")
    await point_at(page, dialog, "textbox Full name")
    await dialog.get_by_role("button", name="Set").click()
    await expect(dialog.get_by_role("status")).to_contain_text("The element of who is textbox Full name.")
    await dialog.get_by_role("button", name="Close").click()
    await expect(frames).to_have_value("")
    assert "#who" in [await value.input_value() for value in await values.all()]
    await page.get_by_role("button", name="Test from here").click()
    tried_page = page.locator("[data-tried] article")
    await expect(tried_page.locator("h3 .badge")).to_have_text("stopped")
    await expect(counts.filter(has_text="#who").locator("td.number").first).to_have_text("1")
    assert here.live.heard == before, "nothing was sent"
    await page.get_by_role("button", name="Save as a draft").click()
    await expect(page.get_by_role("heading", name="Version 2", exact=True)).to_be_visible()
    version = (await here.live.world.client.get("/v1/workflows/shop/versions/2")).json()
    target = next(node for node in version["version"]["nodes"] if node["id"] == "who")["target"]
    assert {"label", "css"} <= {locator["family"] for locator in target["locators"]}
    assert complaints == []


async def test_a_place_of_a_field_is_added_and_said_how_often_it_is_on_each_page(here: Shop) -> None:
    page, complaints = await here.page("/workflows/shop/edit?version=1&node=read")
    await page.get_by_label("Addresses").fill(f"{here.live.site}p/2\n{here.live.site}p/1\n{here.live.site}form")
    await page.get_by_role("button", name="Test from here").click()
    lines = page.get_by_role("row").filter(has_text="product.name")
    await expect(lines.filter(has_text="select h1").locator("td.number")).to_have_text(["1", "1", "1"])
    await expect(lines.filter(has_text="label Product").locator("td.number")).to_have_text(["1", "1", "0"])
    dialog = await opened(page)
    await dialog.get_by_label("what to set").select_option(label="a place of product.price")
    await point_at(page, dialog, "€ 7.50")
    await dialog.get_by_role("button", name="Set").click()
    await expect(dialog.get_by_role("status")).to_have_text("price has this place already.")
    await dialog.get_by_role("radio").last.check()
    await dialog.get_by_role("button", name="Set").click()
    await expect(dialog.get_by_role("status")).to_contain_text("Added to price: structure.")
    branches = json.loads(await page.locator("textarea[name=branches]").input_value())
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Check", exact=True).last.click()
    await expect(page.get_by_role("alert")).to_have_count(0)
    assert branches[0]["fields"][1]["channels"][-1]["place"]["reader"] == "price"
    assert (await page.title(), complaints) == ("Edit shop · Shoal", [])


async def test_the_dialog_fits_and_keeps_nobody_out(here: Shop) -> None:
    page, complaints = await here.page("/new")
    dialog = await tried(page, job(here, "/kettle", SCHEMA))
    await point_at(page, dialog, "Lasts two years")
    assert await faults_in_views(page, "choosing") == []
    await page.keyboard.press("Escape")
    editor, others = await here.page("/workflows/shop/edit?version=1&node=who")
    await editor.get_by_label("Addresses").fill(f"{here.live.site}form")
    await editor.get_by_label("The loop's item").fill('{"who": "Ada"}')
    await editor.get_by_role("button", name="Test from here").click()
    await expect(editor.locator("[data-tried] article")).to_have_count(1)
    assert await faults_in_views(editor, "counted") == []
    await editor.set_viewport_size({"width": 1280, "height": 850})
    await point_at(editor, await opened(editor), "textbox Full name")
    assert await faults_in_views(editor, "choosing-element") == []
    assert (complaints, others) == ([], [])
