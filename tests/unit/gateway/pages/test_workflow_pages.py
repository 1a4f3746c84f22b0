"""Pages of workflows: what was learned, what differs, and a version that is activated or retired by a person."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.gateway_world import World, world
from tests.unit.gateway.test_workflows import BOOKS, URL, edited

EVIL = "<script>alert(1)</script>"


@pytest_asyncio.fixture
async def w() -> AsyncIterator[World]:
    async with world() as made:
        yield made


async def test_a_workflow_is_shown_with_its_versions_fields_and_differences(w: World) -> None:
    assert "no workflow yet" in (await w.client.get("/workflows")).text
    assert (await w.client.post(URL, json=BOOKS)).status_code == 201
    listed = (await w.client.get("/workflows")).text
    assert '<a href="/workflows/books"><b>books</b></a>' in listed and "shop.example" in listed
    await w.client.put(f"{URL}/books/versions", json=edited(f"p.price, {EVIL}", parent=1))
    page = (await w.client.get("/workflows/books")).text
    assert "What differs from version 1" in page and "branches[product].fields[price].channels" in page
    assert "<h2>Version 2</h2>" in page and EVIL not in page
    assert "label" in page and "https://shop.example/p/{}" in page
    assert (await w.client.get("/workflows/books?version=7")).status_code == 404
    assert (await w.client.get("/workflows/none")).status_code == 404


async def test_a_person_activates_and_retires_a_version(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    page = (await w.client.get("/workflows/books")).text
    found = re.search(r'name="token" value="([^"]*)"', page)
    assert found is not None
    token = {"token": found[1]}
    done = await w.client.post("/workflows/books/versions/1/activate", data=token)
    assert (done.status_code, done.headers["location"]) == (303, "/workflows/books?version=1")
    assert (await w.client.get(f"{URL}/books")).json()["active"] == 1
    await w.client.post("/workflows/books/versions/1/retire", data=token)
    assert (await w.client.get(f"{URL}/books")).json()["active"] is None
    assert (await w.client.post("/workflows/books/versions/1/burn", data=token)).status_code == 404
