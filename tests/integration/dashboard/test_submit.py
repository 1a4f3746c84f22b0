"""Handing in a job in a real browser: by form, by JSON, from a file, as a clone; and the other ways in really work."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from tests.integration.dashboard.seed import EVIL
from tests.integration.dashboard.served import Site, faults_in_views, served_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE_NAME = "<img src=x onerror=document.title='owned'>"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(browser: Browser) -> AsyncIterator[Site]:
    async with served_site(browser) as made:
        yield made


async def spec_of(site: Site, page: Page) -> dict[str, object]:
    """Return what the job holds whose page was opened by handing it in."""
    await page.wait_for_url("**/jobs/j*")
    job = page.url.rsplit("/", 1)[1]
    spec = (await site.world.client.get(f"/v1/jobs/{job}")).json()["spec"]
    spec.pop("idempotency_key")
    return spec


async def test_a_job_is_written_in_the_form_with_faults_at_their_fields_and_handed_in(site: Site) -> None:
    page, complaints = await site.page("/new?preset=pages")
    await page.locator('input[name="url"]').fill("shop.example")
    address = page.locator('[data-path="url"]')
    await expect(address.locator(".fault")).to_contain_text("must start with http:// or https://")
    await expect(page.locator("#verdict")).to_have_text("One thing is missing or wrong.")
    await page.locator('input[name="url"]').fill("https://shop.example/")
    await expect(address.locator(".fault")).to_have_count(0)
    await page.get_by_label("Name of the field").first.fill("title")
    await page.get_by_label("Name of the field").first.press("Tab")
    await page.get_by_label("Type of price").select_option("integer")
    await page.get_by_label("price is required").check()
    await page.locator("summary", has_text="Labels").click()
    await page.get_by_role("button", name="Add a label").click()
    await page.keyboard.type("team")
    await page.keyboard.press("Tab")
    await page.keyboard.type(EVIL)
    await expect(page.locator("#json")).to_have_value(re.compile("onerror"))
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Hand in").click()
    spec = await spec_of(site, page)
    assert spec["labels"] == {"team": EVIL}
    assert spec["loop"] == {"from": {"select": "entries"}}
    assert spec["extract"]["schema"] == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "price": {"type": "integer"}},
        "required": ["title", "price"],
    }
    assert await page.title() != "owned"
    assert complaints == []


async def test_details_are_a_table_of_names_and_values_that_keeps_what_they_are(site: Site) -> None:
    page, complaints = await site.page("/new?preset=form")
    await page.locator('input[name="url"]').fill("https://shop.example/")
    await page.locator('textarea[name="goal"]').fill("order")
    table = page.locator('[data-path="data"] .schema')
    await table.get_by_label("Value of name").fill('Ada "the first"')
    for name, kind in (("zip", "text"), ("seats", "number"), ("gift", "yes or no"), ("sizes", "JSON")):
        await table.get_by_role("button", name="Add a detail").click()
        await page.keyboard.type(name)
        await page.keyboard.press("Tab")
        if kind in ("text", "number"):
            await table.get_by_label(f"Value of {name}", exact=True).fill("0123" if name == "zip" else "3")
        await table.get_by_label(f"Kind of {name}", exact=True).select_option(kind)
    await table.get_by_label("Value of gift").select_option("yes")
    await table.get_by_label("Value of sizes").fill('{"s": [1, null]}')
    await table.get_by_label("Kind of zip").select_option("number")
    await expect(table.get_by_role("alert")).to_have_text('zip stays a text: "0123" is no number.')
    await table.get_by_label("Value of seats").fill("many")
    await page.keyboard.press("Tab")
    await expect(table.get_by_role("alert")).to_have_text('seats stays 3: "many" is no number.')
    await table.get_by_label("Name of the detail").nth(1).fill("name")
    await page.keyboard.press("Tab")
    await expect(table.get_by_role("alert")).to_have_text("There is a detail name already.")
    await table.get_by_role("button", name="Add a detail").click()
    await table.get_by_role("button", name="Remove detail").click()
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Hand in").click()
    spec = await spec_of(site, page)
    wanted = {"name": 'Ada "the first"', "zip": "0123", "seats": 3, "gift": True, "sizes": {"s": [1, None]}}
    assert spec["data"] == wanted
    await expect(page.locator("summary", has_text="Data")).to_be_visible()
    assert complaints == []


async def test_details_that_are_no_table_stay_as_they_were_written(site: Site) -> None:
    page, complaints = await site.page("/new")
    for text in ('["a", "b"]', '{"number": 12345678901234567890, "price": 1.0}'):
        await page.locator("#json").fill(f'{{"url": "https://a.example/", "goal": "read", "data": {text}}}')
        await expect(page.locator('[data-path="data"]')).to_contain_text("no table of names and values")
        await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.locator('textarea[name="goal"]').fill("read on")
    await expect(page.locator("#json")).to_have_value(re.compile("12345678901234567890"))
    assert complaints == []


async def test_the_form_follows_the_json_and_the_json_the_form(site: Site) -> None:
    page, complaints = await site.page("/new")
    text = {"url": "https://a.example/", "goal": "read", "gaol": 1, "loop": {"values": ["a", "b"]}}
    await page.locator("#json").fill(json.dumps(text))
    await expect(page.locator('textarea[name="goal"]')).to_have_value("read")
    await expect(page.locator('textarea[name="loop.values"]')).to_have_value("a\nb")
    await expect(page.locator("#faults")).to_contain_text("is not a field of a job; did you mean 'goal'?")
    await page.locator("#json").fill('{"url": ')
    await expect(page.locator("#faults")).to_contain_text("line 1")
    await expect(page.locator('textarea[name="goal"]')).to_have_value("read")  # what was written is not lost
    text.pop("gaol")
    await page.locator("#json").fill(json.dumps(text))
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.locator('textarea[name="goal"]').fill("read on")
    await expect(page.locator("#json")).to_have_value(re.compile("read on"))
    await page.get_by_role("button", name="Hand in").click()
    assert await spec_of(site, page) == {**text, "goal": "read on"}
    assert complaints == []


async def test_an_answer_that_comes_late_does_not_join_what_is_written_in_the_json(site: Site) -> None:
    page, complaints = await site.page("/new")
    await expect(page.locator("#json")).to_have_value(re.compile("{"))
    may_answer = asyncio.Event()

    async def late(route: Route) -> None:
        await may_answer.wait()
        await route.continue_()

    await page.route("**/new/check", late)
    async with page.expect_request("**/new/check"):
        await page.locator('textarea[name="goal"]').fill("read")
    await page.locator("#json").select_text()
    async with page.expect_response("**/new/check"):
        may_answer.set()
    await expect(page.locator("#verdict")).not_to_have_attribute("data-state", "asking")
    text = '{"url": "https://a.example/", "goal": "look"}'
    await page.keyboard.insert_text(text)
    assert await page.locator("#json").input_value() == text
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    assert complaints == []


async def test_the_json_is_written_when_it_is_left_without_a_change(site: Site) -> None:
    page, complaints = await site.page("/new")
    may_answer = asyncio.Event()

    async def late(route: Route) -> None:
        await may_answer.wait()
        await route.continue_()

    await expect(page.locator("#json")).to_have_value(re.compile("{"))
    await page.route("**/new/check", late)
    async with page.expect_request("**/new/check"):
        await page.locator('textarea[name="goal"]').fill("read on")
    await page.locator("#json").select_text()
    async with page.expect_response("**/new/check"):
        may_answer.set()
    await expect(page.locator("#verdict")).not_to_have_attribute("data-state", "asking")
    assert "read on" not in await page.locator("#json").input_value()
    await page.locator('textarea[name="goal"]').focus()
    await expect(page.locator("#json")).to_have_value(re.compile("read on"))
    assert complaints == []


async def test_the_steps_of_a_login_are_written_as_json_and_cloned(site: Site) -> None:
    steps = [{"wait_for": f"[title={json.dumps(EVIL)}]"}, {"click": "#in"}]
    page, complaints = await site.page("/new")
    await page.locator('input[name="url"]').fill("https://a.example/")
    await page.locator('textarea[name="goal"]').fill("read")
    await page.locator("details:has([name='login.steps'])").evaluate_all("all => all.forEach(one => one.open = true)")
    await page.locator('input[name="login.url"]').fill("https://a.example/in")
    await page.locator('[name="login.steps"]').fill("[")
    await expect(page.locator('[data-path="login.steps"] .fault')).to_contain_text("line 1")
    await page.locator('[name="login.steps"]').fill(json.dumps(steps))
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Hand in").click()
    assert (await spec_of(site, page))["login"] == {"url": "https://a.example/in", "steps": steps}

    await page.get_by_role("link", name="Clone").click()
    await page.locator('textarea[name="goal"]').fill("read on")
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Hand in").click()
    spec = await spec_of(site, page)
    assert spec["goal"] == "read on"
    assert spec["login"] == {"url": "https://a.example/in", "steps": steps}
    assert complaints == []


async def test_values_come_from_a_file_whose_columns_are_mapped(site: Site) -> None:
    page, complaints = await site.page("/new?preset=values")
    await page.locator('input[name="url"]').fill("https://a.example/form")
    await page.locator('textarea[name="goal"]').fill("send the form")
    content = f'name,city,skip\nAda,Wien,1\n"{EVIL.replace(chr(34), chr(34) * 2)}",Graz,2\n'
    files = {"name": f"{HOSTILE_NAME}.csv", "mimeType": "text/csv", "buffer": content.encode()}
    await page.locator('input[type="file"]').first.set_input_files(files)
    await expect(page.locator(".columns-of-file").first).to_contain_text(f"{HOSTILE_NAME}.csv has 2 rows.")
    await page.get_by_label("Use of skip").select_option("not used")
    await page.get_by_label("Name of city").fill("town")
    await page.get_by_role("button", name="Use 2 rows").click()
    await expect(page.locator('textarea[name="loop.values"]')).to_have_value(re.compile("Wien"))
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Hand in").click()
    spec = await spec_of(site, page)
    rows = [json.loads(row) for row in spec["loop"]["values"]]
    assert rows == [{"name": "Ada", "town": "Wien"}, {"name": EVIL, "town": "Graz"}]
    assert await page.title() != "owned"
    assert complaints == []


async def test_a_job_is_cloned_from_its_page_and_changed(site: Site) -> None:
    job = await site.world.submit(goal=EVIL, extract={"fields": {"price": {"select": ".p"}}}, labels={"team": EVIL})
    page, complaints = await site.page(f"/jobs/{job}")
    await page.get_by_role("link", name="Clone").click()
    await expect(page.locator('textarea[name="goal"]')).to_have_value(EVIL)
    await page.locator('textarea[name="goal"]').fill("other")
    await expect(page.locator("#verdict")).to_have_text("Valid: it can be handed in.")
    await page.get_by_role("button", name="Hand in").click()
    spec = await spec_of(site, page)
    assert (spec["goal"], spec["labels"]) == ("other", {"team": EVIL})
    assert spec["extract"] == (await site.world.client.get(f"/v1/jobs/{job}")).json()["spec"]["extract"]
    assert await page.title() != "owned"
    assert complaints == []


async def test_the_same_job_goes_in_by_curl_command_line_and_python(site: Site, tmp_path: Path) -> None:
    page, _ = await site.page("/new")
    goal = "say \"hello\" to 'Ada' $HOME `id` \\ ü"
    await page.locator('input[name="url"]').fill("https://a.example/")
    await page.locator('textarea[name="goal"]').fill(goal)
    await expect(page.locator("#as-curl pre")).to_contain_text("hello")
    texts = {name: await page.locator(f"#as-{name} pre").text_content() for name in ("curl", "cli", "python")}
    python = texts["python"].partition("    for result")[0] + "    print(job.id)\n"
    shell = f'PATH="{Path(sys.executable).parent}:$PATH"\n'
    for name, command in (
        ("curl", ["bash", "-c", texts["curl"]]),
        ("cli", ["bash", "-c", shell + texts["cli"]]),
        ("python", [sys.executable, "-c", python]),
    ):
        before = len((await site.world.client.get("/v1/jobs?limit=500")).json()["jobs"])
        environment = {**os.environ, "HOME": str(tmp_path)}
        ended = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env=environment
        )
        out, _ = await asyncio.wait_for(ended.communicate(), 60)
        found = (await site.world.client.get("/v1/jobs?limit=500")).json()["jobs"]
        assert (ended.returncode, len(found)) == (0, before + 1), (name, out.decode())
        assert found[0]["goal"] == goal, name


@pytest.mark.parametrize("path", ["/new", "/new?preset=pages", "/nothing"])
async def test_axe_finds_nothing_serious_and_the_page_fits(site: Site, path: str) -> None:
    page, _ = await site.page(path)
    if path.startswith("/new"):
        await expect(page.locator("#verdict")).not_to_have_text("Checked as you type.")
        await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert await faults_in_views(page, path) == []
    await page.context.close()
