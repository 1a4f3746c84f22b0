"""Pages nobody here wrote: the Python documentation as Debian ships it, by its module index."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest
from lxml import html

from tests.embedded import Up
from tests.loopback import served
from tests.sites.ring import sweep

pytestmark = [pytest.mark.timeout(600), sweep]  # a cluster has to start, and real pages take their time
FOLDERS = (Path("/usr/share/doc/python3-doc/html"), Path("/usr/share/doc/python3/html"))


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def folder() -> Path:
    found = next((f for f in FOLDERS if (f / "py-modindex.html").exists()), None)
    if found is None:
        pytest.skip("the package python3-doc is not there: scripts/setup-tests installs it where it may")
    return found.resolve()


@pytest.fixture(scope="module")
def docs(folder: Path) -> Iterator[str]:
    with served(functools.partial(Quiet, directory=str(folder))) as url:
        yield url


def index_entries(folder: Path) -> dict[str, str]:
    """Address with fragment of each entry of the module index, by its module."""
    tree = html.parse(folder / "py-modindex.html")
    return {a.get("href"): a.text_content().strip() for a in tree.xpath("//table//a[@href]")}


def headings(folder: Path, page: str) -> list[str]:
    tree = html.parse(folder / page)
    found = tree.xpath("//h1")
    for link in tree.xpath("//h1//a[contains(@class, 'headerlink')]"):
        link.drop_tree()
    return [" ".join(h.text_content().split()) for h in found]


def test_every_entry_of_the_module_index_gives_its_module_and_title(cluster: Up, folder: Path, docs: str) -> None:
    entries = index_entries(folder)
    assert len(entries) > 250
    job = cluster.submit(
        {
            "url": f"{docs}/py-modindex.html",
            "goal": "every entry of the module index",
            "loop": {"from": {"select": "table a"}},
            "extract": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "module": {"type": "string", "description": "name of the module"},
                        "title": {"type": "string", "description": "title of the page"},
                    },
                    "required": ["module", "title"],
                }
            },
            "artifacts": {"screenshots": "none"},
        }
    )
    final = cluster.final(job, 400)
    rows = cluster.results(job)
    assert final["counts"]["completed"] == len(rows) == len(entries), final["counts"]
    assert [row["item"]["value"].removeprefix(f"{docs}/") for row in rows] == list(entries)
    wrong = []
    for row in rows:
        address = row["item"]["value"].removeprefix(f"{docs}/")
        page = address.partition("#")[0]
        if row["record"]["module"] != entries[address] or row["record"]["title"] not in headings(folder, page):
            wrong.append((address, row["record"], entries[address]))
    assert wrong == []
