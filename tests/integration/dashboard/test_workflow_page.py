"""The page of a workflow in a real browser: its graph, its figures, and a version that is tried on real pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.integration.dashboard.served import faults_in_views
from tests.integration.dashboard.test_traces import of_session
from tests.live_world import Live, live_world

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(240)]

EVIL = "<img src=x onerror=\"document.title='owned'\">"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}


def product(name: str, price: str) -> str:
    shown = name.replace("<", "&lt;")
    return (
        f"<!doctype html><html lang=en><title>{shown}</title><main><h1>{shown}</h1><table>"
        f"<tr><th>Product</th><td>{shown}</td></tr><tr><th>Price</th><td class=price>{price}</td></tr></table></main>"
    )


FORM = """<!doctype html><html lang=en><title>Quote</title><main><h1>Ask for a quote</h1>
<form method=post action=/sent><label for=who>Full name</label><input id=who name=who>
<button id=send>Send request</button></form></main>"""
PAGES = {"/": "<h1>Shop</h1>", "/p/1": product("Kettle", "€ 12.00"), "/p/2": product(EVIL, "€ 7.50")}
PAGES |= {"/p/3": product("Lamp", "$ 9.00"), "/form": FORM}


def target(role: str, name: str, css: str) -> dict[str, Any]:
    locators = [{"family": "role_name", "role": role, "value": name}, {"family": "css", "value": css}]
    return {"role": role, "name": name, "locators": locators}


def shop(site: str, screenshot: str = "") -> dict[str, Any]:
    """A workflow that reads products, and one path of which fills a form and sends it."""
    price = {"reader": "price"}
    send = {"id": "send", "kind": "action", "action": "click", "target": target("button", "Send request", "#send")}
    seen = [{"step": 0, "screenshot": screenshot}] if screenshot else []
    nodes = [
        {
            **{"id": "kind", "kind": "branch", "next": "read", "says": f"a form or a product {EVIL}"},
            "cases": [{"when": [{"kind": "text", "value": "Ask for a quote"}], "to": "who"}],
        },
        {
            **{"id": "who", "kind": "action", "action": "fill", "next": "send", "evidence": seen},
            **{"target": target("textbox", "Full name", "#who"), "args": {"value": {"param": "who"}}},
        },
        {**send, "submits": True, "once": True, "next": "thanks", "evidence": seen},
        {"id": "thanks", "kind": "guard", "holds": [{"kind": "text", "value": "ok"}]},
        {"id": "read", "kind": "extract", "on_miss": "fail"},
    ]
    fields = [
        {
            "name": "name",
            "proof": True,
            "channels": [
                {"family": "css", "place": {"select": "h1"}},
                {"family": "label", "place": {"label": "Product"}},
            ],
        },
        {
            "name": "price",
            "channels": [
                {"family": "label", "place": {"label": "Price", **price}, "shapes": ["€ 9.99"]},
                {"family": "css", "place": {"select": "td.price", **price}, "shapes": ["€ 9.99"]},
            ],
        },
    ]
    branch = {"id": "product", "signature": {"url": f"{site}p/{{}}", "item": ["link", "label"]}, "fields": fields}
    params = [{"name": "who", "source": "loop", "path": "$.who"}]
    version = {"nodes": nodes, "branches": [branch], "params": params, "schema": SCHEMA}
    return {
        "format": "shoal-workflow/1",
        "name": "shop",
        "scope": {"site": urlsplit(site).netloc},
        "versions": [version],
    }


@dataclass
class Shop:
    """A gateway with workers, a site, a browser for people, and the workflow."""

    live: Live
    browser: Browser

    async def page(self, path: str, width: int = 1280, scheme: str = "light") -> tuple[Page, list[str]]:
        context = await self.browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
        page = await context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
        await page.goto(self.live.url + path)
        return page, complaints

    async def run(self, **spec: Any) -> str:
        """The root session of a job on the site that has ended."""
        job = await self.live.world.submit(url=self.live.site, politeness={"robots": False}, **spec)
        session = str((await self.live.world.client.get(f"/v1/jobs/{job}")).json()["root_session"])
        await self.live.until(session, lambda row: row["status"] not in ("queued", "running", "waiting"))
        return session

    async def import_workflow(self, workflow: Mapping[str, Any]) -> None:
        answer = await self.live.world.client.post("/v1/workflows", json=workflow)
        assert answer.status_code == 201, answer.text


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def here(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> AsyncIterator[Shop]:
    folder: Path = tmp_path_factory.mktemp("shop")
    async with live_world(folder, PAGES, lambda body: "") as live:
        made = Shop(live, browser)
        session = await made.run(goal=None, policy="rules", extract={"fields": {"name": {"select": "h1"}}})
        kept = await of_session(live, folder, session)
        await made.import_workflow(shop(live.site, kept["screenshot"][0]))
        yield made


async def replayed(here: Shop) -> None:
    """A job that replays the workflow: a product is read, and one in another currency is a miss."""
    values = [f"{here.live.site}p/1", f"{here.live.site}p/3"]
    spec = {"goal": None, "policy": "workflow:shop@1", "extract": {"schema": SCHEMA}, "on_miss": "fail"}
    labels = shop(here.live.site)
    labels["versions"][0]["branches"][0]["signature"]["item"] = ["link"]
    labels["versions"][0]["params"] = []
    labels["versions"][0]["nodes"] = [labels["versions"][0]["nodes"][-1]]
    await here.run(**spec, workflow=labels, loop={"values": values})


async def test_the_graph_shows_every_node_where_items_missed_and_what_sends(here: Shop) -> None:
    await replayed(here)
    page, complaints = await here.page("/workflows/shop")
    graph = page.get_by_role("group", name="Graph of version 1: 5 nodes")
    await expect(graph.get_by_role("link")).to_have_count(5)
    await expect(graph.get_by_role("link", name="send: action, click, never rehearsed")).to_be_visible()
    await expect(graph.get_by_role("link", name="read: extract")).to_contain_text("1 missed")
    row = page.locator("#node-read")
    await expect(row).to_contain_text("shape 1")
    await expect(page.locator("#node-who img")).to_have_js_property("complete", True)
    assert await page.locator("#node-who img").evaluate("image => image.naturalWidth") > 100
    await graph.get_by_role("link", name="who: action").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#node-who")).to_be_in_viewport()
    assert page.url.endswith("#node-who")
    assert await page.title() == "shop · Shoal"
    assert complaints == []


async def test_a_version_is_tried_on_pages_and_says_what_each_channel_read(here: Shop) -> None:
    page, complaints = await here.page("/workflows/shop")
    site = here.live.site
    await page.get_by_label("Begin at").select_option("read")
    await page.get_by_label("Addresses").fill(f"{site}p/1\n{site}p/2\n{site}p/3\n{site}gone")
    await page.get_by_role("button", name="Try", exact=True).click()
    tried = page.locator("[data-tried] article")
    await expect(tried).to_have_count(4)
    await expect(tried.locator("h3 .badge")).to_have_text(["read", "read", "miss", "failed"])
    await expect(tried.nth(0)).to_contain_text("by page · branch product")
    rows = tried.nth(0).locator("tbody tr")
    await expect(rows).to_contain_text(["Kettle", "label", "12", "td.price"])
    await expect(rows.nth(2)).to_contain_text("12 “€ 12.00”")
    await expect(rows.get_by_role("img", name="agrees")).to_have_count(4)
    await expect(tried.nth(1)).to_contain_text(EVIL)
    await expect(tried.nth(2)).to_contain_text("and € 9.99 was learned")
    await expect(tried.nth(3)).to_contain_text("404")
    await expect(page.locator("[data-tried]")).to_contain_text("Not checked, since no list led to these pages")
    assert await page.title() == "shop · Shoal"
    assert complaints == []
    figures = (await here.live.world.client.get("/v1/workflows/shop")).json()["versions"][0]["figures"]
    assert figures.get("replays", 0) + figures.get("misses", 0) in (0, 2), "a try counts nothing"


async def test_a_form_is_filled_and_not_sent(here: Shop) -> None:
    page, _ = await here.page("/workflows/shop")
    before = list(here.live.heard)
    await page.get_by_label("Addresses").fill(f"{here.live.site}form")
    await page.locator("summary", has_text="Details for parameters").click()
    await page.get_by_label("The loop's item").fill('{"who": "Ada"}')
    await page.get_by_role("button", name="Try", exact=True).click()
    tried = page.locator("[data-tried] article")
    await expect(tried.locator(".badge")).to_have_text("stopped")
    await expect(tried).to_contain_text("Not done, since it may send something or may run once only: send click()")
    await expect(tried).to_contain_text("found by role_name, css")
    await expect(tried).to_contain_text("done: kind, who")
    assert here.live.heard == before, "nothing was sent"
    await page.get_by_label("The loop's item").fill("{")
    await page.get_by_role("button", name="Try", exact=True).click()
    await expect(page.locator("[data-tried]")).to_contain_text("item: this is no JSON")


async def test_the_page_fits_and_keeps_nobody_out(here: Shop) -> None:
    page, complaints = await here.page("/workflows/shop")
    await page.get_by_label("Begin at").select_option("read")
    await page.get_by_label("Addresses").fill(f"{here.live.site}p/2\n{here.live.site}p/3")
    await page.get_by_role("button", name="Try", exact=True).click()
    await expect(page.locator("[data-tried] article")).to_have_count(2)
    assert (await faults_in_views(page, "workflow"), complaints) == ([], [])


async def test_the_forms_of_a_run_fit_and_keep_nobody_out(here: Shop) -> None:
    page, complaints = await here.page("/workflows/shop")
    await page.get_by_text("Many runs: the rows of a file").click()
    many = page.get_by_role("form", name="Many runs: the rows of a file")
    await many.get_by_label("Begins at").fill(here.live.site)
    file = {"name": "rows.csv", "mimeType": "text/csv", "buffer": b"Who,Age\nAda,36\nBob,41\n"}
    await many.get_by_label("CSV or JSON lines").set_input_files(file)  # type: ignore[arg-type]
    await expect(many.get_by_label("Rows, the first")).to_have_value(re.compile("Bob,41"))
    assert await faults_in_views(page, "rows") == []
    await many.get_by_role("button", name="Match the columns").click()
    await expect(page.get_by_label("Column of who")).to_have_value("Who")
    assert (await faults_in_views(page, "columns"), complaints) == ([], [])
    await page.get_by_label("Column of who").select_option("")
    await page.get_by_role("button", name="Run 2 rows").click()
    await expect(page.get_by_role("alert")).to_contain_text("no column is chosen")
    assert await faults_in_views(page, "no-column") == []
    await page.get_by_label("Column of who").select_option("Who")
    await page.get_by_role("button", name="Run 2 rows").click()
    await expect(page).to_have_url(re.compile("/jobs/j"))


async def test_a_workflow_is_downloaded_chosen_as_a_file_and_imported(here: Shop) -> None:
    page, complaints = await here.page("/workflows/shop?version=1")
    async with page.expect_download() as coming:
        await page.get_by_role("link", name="Shoal's own file").click()
    path = await (await coming.value).path()
    text = path.read_text().replace('"shop"', '"shop-copy"')
    await page.goto(f"{here.live.url}/workflows")
    content = {"name": "shop.json", "mimeType": "application/json", "buffer": text.encode()}
    await page.get_by_label("File", exact=True).set_input_files(content)
    await expect(page.get_by_label("The file's text")).to_have_value(re.compile("shop-copy"))
    await page.get_by_role("button", name="Import").click()
    await expect(page.get_by_role("heading", name="shop-copy was imported")).to_be_visible()
    await page.get_by_role("link", name="Look at it").click()
    await expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()
    assert complaints == []


async def test_a_node_is_edited_tested_on_a_live_page_and_saved_as_a_draft(here: Shop) -> None:
    page, complaints = await here.page("/workflows/shop?version=1")
    await page.get_by_role("link", name="Edit who").click()
    await expect(page.get_by_role("heading", name="Edit version 1")).to_be_visible()
    await expect(page.get_by_alt_text("The page on which who was learned")).not_to_have_js_property("naturalWidth", 0)
    before = list(here.live.heard)
    await page.get_by_label("Addresses").fill(f"{here.live.site}form")
    await page.get_by_label("The loop's item").fill('{"who": "Ada"}')
    await page.get_by_label("value (empty: remove it)").nth(0).fill("Nobody's name")
    await page.get_by_role("button", name="Test from here").click()
    tried = page.locator("[data-tried] article")
    await expect(tried.locator("h3 .badge")).to_have_text("miss")
    await expect(tried).to_contain_text("only css finds it")
    await page.get_by_label("value (empty: remove it)").nth(0).fill("Full name")
    await page.get_by_role("button", name="Insert behind").click()
    await expect(page.get_by_role("alert")).to_contain_text("target")
    await page.get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await page.get_by_role("link", name="send: action").click()
    await expect(page.get_by_role("heading", name="send action")).to_be_visible()
    await page.get_by_label("what it does, in words").fill(f"sends it {EVIL}")
    await page.get_by_role("button", name="Earlier").click()
    await expect(page.locator(".nodes button")).to_contain_text(["kind", "send", "who", "thanks", "read"])
    await page.get_by_role("button", name="Later").click()
    await page.get_by_role("button", name="Check", exact=True).last.click()
    await expect(page.locator("main")).to_contain_text("nodes[send].says")
    await page.get_by_label("Addresses").fill(f"{here.live.site}form")
    await page.get_by_label("The loop's item").fill('{"who": "Ada"}')
    await page.get_by_label("Begin at").select_option("who")
    await page.get_by_role("button", name="Test from here").click()
    await expect(tried.locator("h3 .badge")).to_have_text("stopped")
    await expect(tried).to_contain_text("done: who")
    assert here.live.heard == before, "nothing was sent"
    await page.get_by_role("button", name="Save as a draft").click()
    await expect(page.get_by_role("heading", name="Version 2", exact=True)).to_be_visible()
    await expect(page.locator("#node-send")).to_contain_text(f"sends it {EVIL}")
    version = (await here.live.world.client.get("/v1/workflows/shop/versions/2")).json()
    assert (version["parent"], version["state"], version["by"]) == (1, "draft", "person")
    assert await page.title() == "shop · Shoal"
    assert complaints == []


async def test_the_editor_fits_and_keeps_nobody_out(here: Shop) -> None:
    for node in ("send", "kind"):
        page, complaints = await here.page(f"/workflows/shop/edit?version=1&node={node}")
        await page.get_by_role("button", name="Insert behind").click()
        await expect(page.get_by_role("alert")).to_be_visible()
        async with page.expect_navigation():
            await page.locator(".nodes button", has_text=node).first.click()
        assert (await faults_in_views(page, f"editor-{node}"), complaints) == ([], [])
        await page.context.close()


async def test_a_button_that_sends_is_not_pressed_though_the_version_says_that_it_sends_nothing(here: Shop) -> None:
    careless = shop(here.live.site) | {"name": "careless"}
    for node in careless["versions"][0]["nodes"]:
        node.pop("submits", None)
        node.pop("once", None)
    await here.import_workflow(careless)
    before = list(here.live.heard)
    asked = {"urls": [f"{here.live.site}form"], "version": 1, "item": {"who": "Ada"}}
    answer = await here.live.world.client.post("/v1/workflows/careless:try", json=asked, timeout=60)
    (tried,) = answer.json()["pages"]
    assert (tried["end"], tried["done"], tried["intended"]["node"]) == ("stopped", ["kind", "who"], "send"), tried
    assert here.live.heard == before
