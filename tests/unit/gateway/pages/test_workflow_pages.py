"""Pages of workflows: what was learned, what differs, and a version that is activated or retired by a person."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

import pytest_asyncio
from markupsafe import escape

from tests.gateway_world import World, world
from tests.unit.gateway.test_workflows import URL, edited
from tests.unit.workflows.books import BOOKS
from tests.unit.workflows.test_exchange import RECORDING

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


async def test_any_two_versions_are_compared(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    await w.client.put(f"{URL}/books/versions", json=edited("p.price", parent=1))
    await w.client.put(f"{URL}/books/versions", json=edited("p.cost", parent=2))
    page = (await w.client.get("/workflows/books?version=3&before=1")).text
    assert "What differs from version 1" in page and '<option value="1" selected>' in page
    assert "p.cost" in page.partition('id="differences"')[2]
    backwards = (await w.client.get("/workflows/books?version=1&before=3")).text
    assert "What differs from version 3" in backwards
    assert "Choose the version to compare with." in (await w.client.get("/workflows/books?version=1")).text
    assert (await w.client.get("/workflows/books?before=9")).status_code == 404


async def test_a_workflow_goes_out_as_a_file_and_comes_in_again(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    page = (await w.client.get("/workflows/books")).text
    for kind in ("shoal", "recorder", "automa", "playwright"):
        assert f'href="/workflows/books/export?version=1&amp;format={kind}"' in page
    api = (await w.client.get(f"{URL}/books/versions/1/export?format=playwright")).json()
    assert api["lost"] and str(escape(api["lost"][0][:60])) in page
    script = await w.client.get("/workflows/books/export?version=1&format=playwright")
    assert script.text == api["text"] and 'filename="books.py"' in script.headers["content-disposition"]
    assert (await w.client.get("/workflows/books/export?format=automa")).status_code == 400
    file = (await w.client.get("/workflows/books/export")).text
    assert json.loads(file) == (await w.client.get(f"{URL}/books/export")).json()

    listed = (await w.client.get("/workflows")).text
    token = re.search(r'name="token" value="([^"]*)"', listed)
    assert token is not None
    form = {"token": token[1], "format": "shoal", "name": "", "file": file.replace("books", "books-2")}
    done = await w.client.post("/workflows/import", data=form)
    assert done.status_code == 201 and 'href="/workflows/books-2?version=1"' in done.text
    assert [one["state"] for one in (await w.client.get(f"{URL}/books-2")).json()["versions"]] == ["draft"]
    recording = json.dumps(RECORDING)
    taken = await w.client.post(
        "/workflows/import", data={**form, "format": "recorder", "name": "again", "file": recording}
    )
    assert taken.status_code == 201 and "again was imported" in taken.text
    for wrong in ({"file": "{"}, {"file": EVIL}, {"format": "x"}, {"format": "automa"}, {"name": "both"}):
        refused = await w.client.post("/workflows/import", data={**form, **wrong})
        assert refused.status_code == 400 and EVIL not in refused.text, wrong
    assert (await w.client.post("/workflows/import", data={**form, "token": "forged"})).status_code == 403


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


async def test_what_a_version_leaves_to_the_model_is_told(w: World) -> None:
    (version,) = BOOKS["versions"]
    left = {"what": f"pages {EVIL}", "why": "1 of them is known"}
    await w.client.post(URL, json={**BOOKS, "versions": [{**version, "open": [left]}]})
    page = (await w.client.get("/workflows/books")).text
    assert "Left to the model" in page and "1 of them is known" in page and EVIL not in page
