"""Trying a job on its page: the sample of the API, told as HTML; only valid jobs, only who may."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from shoal.agent.status import Status
from shoal.agent.types import FieldSource, Record, Task
from tests.gateway_world import World, completed, failed, world

EVIL = "<script>alert(1)</script>"


async def token(one: World) -> str:
    page = (await one.client.get("/new")).text
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found is not None
    return found[1]


async def test_a_sample_of_the_job_in_the_form_is_told_and_kept_nowhere() -> None:
    async with world() as here:
        form = {
            "token": await token(here),
            "url": "https://shop.example/",
            "extract.schema": '{"type": "object", "properties": {"name": {"type": "string"}}}',
        }
        places = {"records": None, "fields": {"name": [{"select": "h1"}]}}
        read = Task("extract", "read", Status.COMPLETED, {"records": 1, "missing": [], "places": places})
        asked = asyncio.create_task(here.client.post("/new/try", data=form))
        while not asked.done():
            await here.run(lambda work: replace(completed({"name": EVIL}), tasks=(read,)))
            await asyncio.sleep(0.01)
        told = (await asked).json()
        assert told["places"] == {"fields": {"name": {"select": "h1"}}, "records": None}
        assert "<script>" not in told["html"] and "&lt;script&gt;alert(1)" in told["html"]
        assert "Write the places of 1 field" in told["html"]
        assert (await here.client.get("/v1/jobs")).json()["jobs"] == []


async def test_the_word_of_the_field_glossary_by_which_a_value_was_found_is_told() -> None:
    async with world() as here:
        form = {"token": await token(here), "url": "https://shop.example/", "extract.schema": '{"type": "object"}'}
        source = FieldSource("table", "td#x", confirmed=True, called="Case <No.>")
        read = Record({"docket": "12-3"}, {"docket": source})
        asked = asyncio.create_task(here.client.post("/new/try", data=form))
        while not asked.done():
            await here.run(lambda work: replace(completed({}), records=(read,)))
            await asyncio.sleep(0.01)
        assert "table, called Case &lt;No.&gt;: td#x" in (await asked).json()["html"]


async def test_a_schema_that_says_nothing_of_its_records_is_tried_too() -> None:
    async with world() as here:
        schema = '{"type": "array", "items": true}'
        form = {"token": await token(here), "url": "https://shop.example/", "extract.schema": schema}
        asked = asyncio.create_task(here.client.post("/new/try", data=form))
        while not asked.done():
            await here.run(lambda work: completed({"name": "Lamp"}))
            await asyncio.sleep(0.01)
        assert "Choose on the picture" not in (await asked).json()["html"], "it names no field"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("It did not load.", []),
        (f"It did not load.; no picture to choose on: {EVIL}", ["no picture to choose on: &lt;script&gt;alert(1)"]),
        ("The form wants a code.", ["The form wants a code."]),
    ],
)
async def test_beside_an_error_stands_what_else_the_sample_says(reason: str, told: list[str]) -> None:
    async with world() as here:
        form = {"token": await token(here), "url": "https://shop.example/", "goal": "x"}
        asked = asyncio.create_task(here.client.post("/new/try", data=form))
        while not asked.done():
            await here.run(lambda work: replace(failed("page_crashed", "It did not load."), reason=reason))
            await asyncio.sleep(0.01)
        html = (await asked).json()["html"]
        assert html.partition(' class="tried"')[0].count("It did not load.") == 1 and "<script>" not in html
        assert all(text in html for text in told)
        assert ('<p class="soft wrap">' in html) == bool(told)


async def test_a_job_that_is_not_valid_is_not_tried() -> None:
    async with world() as here:
        form = {"token": await token(here), "url": "nowhere"}
        assert (await here.client.post("/new/try", data=form)).json() == {"fault": "The job is not valid yet."}
        assert (await here.client.post("/new/try", data={**form, "token": "x"})).status_code == 403


@pytest.mark.parametrize(("scopes", "status"), [(("submit",), 403), (("read",), 403)])
async def test_a_try_needs_both_scopes(scopes: tuple[str, ...], status: int) -> None:
    async with world(auth=True) as locked:
        assert (await locked.client.post("/new/try")).status_code == 303
        await locked.client.post("/login", data={"key": await locked.key("submit", "read"), "next": "/"})
        await locked.client.post("/login", data={"key": await locked.key(*scopes), "next": "/"})
        page = await locked.client.get("/login")
        assert page.status_code == 200
        form = {"url": "https://a.example/", "goal": "x"}
        if "submit" in scopes:
            form["token"] = await token(locked)
        assert (await locked.client.post("/new/try", data=form)).status_code == status
