"""Widgets from npm fetch JSON that was not written here, and a job names places in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.agent.browser import Context
from tests.integration.extraction.test_places import read
from tests.sites.registry import serving
from tests.sites.registry.cache import Unreachable
from tests.sites.registry.script_tables import people

pytestmark = pytest.mark.asyncio(loop_scope="session")

PACKAGES = {
    "redoc": "redoc@2.1.5",
    "apis": "@readme/oas-examples@8.2.2",
    "tabulator": "tabulator-tables@6.5.3",
}
APIS = ("uspto", "star-trek", "readme-legacy", "petstore")
REDOC = """<!doctype html><html lang="en"><title>API</title><body>
<redoc spec-url="/lib/apis/3.0/json/{api}.json" disable-search></redoc>
<script src="/lib/redoc/bundles/redoc.standalone.js"></script></body></html>"""
TABULATOR = """<!doctype html><html lang="en"><title>Staff</title><body><h1>Staff</h1><div id="grid"></div>
<script src="/lib/tabulator/dist/js/tabulator.min.js"></script>
<script>new Tabulator('#grid', {ajaxURL: '/57.json', pagination: true, paginationSize: 10, columns: [
  {title: 'Name', field: 'name'}, {title: 'Office', field: 'office'}]})</script></body></html>"""


@pytest.fixture(scope="module")
def npm() -> Iterator[tuple[Path, str]]:
    """The folder that is served, and its address."""
    try:
        with serving.npm_folder(PACKAGES) as root:
            for api in APIS:
                (root / f"{api}.html").write_text(REDOC.format(api=api), encoding="utf-8")
            (root / "staff.html").write_text(TABULATOR, encoding="utf-8")
            (root / "57.json").write_text(json.dumps(people(57)), encoding="utf-8")
            with serving.folder(root) as url:
                yield root, url
    except Unreachable as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("api", APIS)
async def test_what_redoc_fetches_has_the_fields_that_it_does_not_show(
    page: Context, npm: tuple[Path, str], api: str
) -> None:
    root, url = npm
    truth = json.loads((root / f"lib/apis/3.0/json/{api}.json").read_text("utf-8"))
    fields: dict[str, Any] = {
        "openapi": {"json": "$.openapi"},
        "title": {"json": "$.info.title"},
        "version": {"json": "$.info.version"},
    }
    (record,) = (await read(page, f"{url}/{api}.html", fields=fields)).records
    assert record.value == {
        "openapi": truth["openapi"], "title": truth["info"]["title"], "version": truth["info"]["version"],
    }  # fmt: skip
    assert record.sources["openapi"].where.startswith(f"{url}/lib/apis/3.0/json/{api}.json ")


async def test_the_rows_that_a_grid_fetched_are_read_with_fields_that_it_does_not_show(
    page: Context, npm: tuple[Path, str]
) -> None:
    _, url = npm
    fields: dict[str, Any] = {
        "id": {"json": "$.id", "reader": "integer"},
        "name": {"json": "$.name"},
        "age": {"json": "$.age", "reader": "integer"},
    }
    found = await read(page, f"{url}/staff.html", records="$[*]", fields=fields)
    assert [record.value for record in found.records] == [
        {"id": person["id"], "name": person["name"], "age": person["age"]} for person in people(57)
    ]
    assert found.complete
