"""A loop whose documents do not tell all that its pages show, each record against truth.

The pages are the manual of Python, which nobody here wrote, read by what lxml finds in its files.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from tests.embedded import Up
from tests.loopback import served
from tests.sites.registry import cache
from tests.sites.ring import sweep

pytestmark = [pytest.mark.timeout(800), sweep]
FIELDS = {"title": {"select": "h1"}, "source": {"label": "Source code"}, "summary": {"select": "title"}}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def folder() -> Path:
    for installed in (Path("/usr/share/doc/python3-doc/html"), Path("/usr/share/doc/python3.11/html")):
        if installed.exists():
            return installed.resolve()
    try:
        unpacked = cache.debian("python3.11-doc")
    except cache.Unreachable as error:
        pytest.skip(str(error))
    return next(unpacked.glob("usr/share/doc/python3*/html/library/json.html")).parents[1]


@pytest.fixture(scope="module")
def manual(folder: Path) -> Iterator[str]:
    with served(functools.partial(Quiet, directory=str(folder))) as url:
        yield url


def pages(folder: Path) -> dict[str, dict[str, str]]:
    """Title and source of the manual's pages of single modules that name one source, by path."""
    found = {}
    for path in sorted((folder / "library").glob("*.html")):
        tree = html.parse(path)
        source = tree.xpath("//p[strong[.='Source code:']]")
        headings = tree.xpath("//h1")
        if len(source) != 1 or len(headings) != 1:
            continue
        links = source[0].xpath("./a")
        if len(links) != 1:
            continue
        for link in tree.xpath("//a[@class='headerlink']"):
            link.drop_tree()
        title = " ".join(headings[0].text_content().split())
        found[f"library/{path.name}"] = {"title": title, "source": " ".join(links[0].text_content().split())}
    return found


def loop(manual: str, truth: dict[str, Any], **more: Any) -> dict[str, Any]:
    urls = [f"{manual}/{path}" for path in truth]
    return {"url": urls[0], "loop": {"values": urls, "is_link": True}, "politeness": {"robots": False}, **more}


def test_what_style_sheets_hide_keeps_a_loop_in_the_browser_and_every_record_is_true(
    cluster: Up, folder: Path, manual: str
) -> None:
    """Each heading holds a sign that the manual's style sheet hides: a document alone would give it with the title."""
    truth = pages(folder)
    assert len(truth) >= 120
    job = cluster.submit(
        loop(manual, truth, extract={"fields": FIELDS}, artifacts={"evidence": "document"}, goal="modules")
    )
    final = cluster.final(job, 300)
    rows = cluster.results(job)
    assert final["counts"]["completed"] == len(rows) == len(truth), final["counts"]
    wrong = []
    for row in rows:
        said = truth[row["item"]["value"].removeprefix(f"{manual}/")]
        record = row["record"]
        if record["title"].rstrip("¶").strip() != said["title"] or record["source"] != said["source"]:
            wrong.append((row["item"]["value"], record, said))
    assert wrong == []
    assert Counter(row["tier"] for row in rows) == {"page": len(truth)}
