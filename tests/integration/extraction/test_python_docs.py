"""Given places on pages that nobody here wrote: the manual of Python, held against what lxml reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import lxml.html
import pytest

from shoal.agent.browser import Context
from tests.integration.extraction.test_places import TEXT, read, schema
from tests.loopback import served

DOCS = Path("/usr/share/doc/python3-doc/html")

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not DOCS.exists(), reason="needs python3-doc"),
]


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.fixture(scope="module")
def docs() -> Iterator[str]:
    with served(partial(Handler, directory=str(DOCS))) as url:
        yield url


def tree(path: str) -> Any:
    return lxml.html.fromstring((DOCS / path).read_text("utf-8"))


def text(element: Any) -> str:
    return " ".join(element.text_content().split())


async def test_a_table_by_its_columns(page: Context, docs: str) -> None:
    names = ["Codec", "Aliases", "Languages"]
    shape = schema(many=True, required=["Codec"], **{name: {"type": ["string", "null"]} for name in names})
    found = await read(
        page, f"{docs}/library/codecs.html", schema=shape, fields={name: {"column": name} for name in names}
    )
    (table,) = (
        one for one in tree("library/codecs.html").iter("table") if [text(th) for th in one.iter("th")] == names
    )
    truth = [
        tuple(text(cell) or None for cell in row.iter("td")) for row in table.iter("tr") if row.find("td") is not None
    ]
    assert len(truth) > 90
    assert [tuple(record.value[name] for name in names) for record in found.records] == truth


async def test_definitions_by_selectors(page: Context, docs: str) -> None:
    fields = {
        "id": {"select": "dt", "attribute": "id"},
        "name": {"select": "dt .descname"},
        "meaning": {"select": "dd"},
    }
    found = await read(page, f"{docs}/library/errno.html", records="dl.py.data", fields=fields)
    truth = [
        (one.find("dt").get("id"), text(one.find("dt").find_class("descname")[0]), text(one.find("dd")))
        for one in tree("library/errno.html").find_class("data")
        if one.tag == "dl" and "py" in one.get("class", "").split()
    ]
    assert len(truth) > 100
    assert [tuple(record.value.values()) for record in found.records] == truth


async def test_an_index_with_rows_that_are_titles(page: Context, docs: str) -> None:
    shape = schema(many=True, required=["module"], module=TEXT, url={"type": "string", "format": "uri"}, synopsis=TEXT)
    fields = {
        "module": {"select": "a code"},
        "url": {"select": "a", "attribute": "href"},
        "synopsis": {"select": "td:nth-child(3) em"},
    }
    url = f"{docs}/py-modindex.html"
    found = await read(page, url, schema=shape, records="table.modindextable tr", fields=fields)
    truth = []
    for row in tree("py-modindex.html").find_class("modindextable")[0].iter("tr"):
        link = row.find(".//a")
        if link is not None:
            said = row.findall("td")[2].find("em")
            more = {} if said is None or not text(said) else {"synopsis": text(said)}
            truth.append({"module": text(link.find("code")), "url": urljoin(url, link.get("href")), **more})
    assert len(truth) > 250
    assert [record.value for record in found.records] == truth
