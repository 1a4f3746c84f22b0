"""Loops whose pages it is known how to read: from documents alone, and by a stored workflow. Each record against truth.

The pages are the manual of Python, which nobody here wrote, read by what lxml finds in its files.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import html

from tests.embedded import Up
from tests.loopback import served
from tests.sites.registry import cache

pytestmark = pytest.mark.timeout(400)
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


def test_a_loop_with_given_places_is_read_from_documents_and_every_record_is_true(
    cluster: Up, folder: Path, manual: str
) -> None:
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
    tiers = Counter(row["tier"] for row in rows)
    assert tiers["http"] > len(truth) / 2, tiers
    session = httpx.get(f"{cluster.url}/v1/sessions/{rows[-1]['session']}", timeout=10).json()
    assert [one["kind"] for one in session["artifacts"]] == ["document"]


def test_a_stored_workflow_reads_a_loop_without_a_model(cluster: Up, folder: Path, manual: str) -> None:
    truth = pages(folder)
    workflow = {
        "format": "shoal-workflow/1",
        "name": "modules",
        "scope": {"site": manual.removeprefix("http://")},
        "versions": [
            {
                "nodes": [{"id": "read", "kind": "extract"}],
                "branches": [
                    {
                        "id": "module",
                        "signature": {"url": f"{manual}/library/{{}}"},
                        "fields": [
                            {
                                "name": "source",
                                "channels": [
                                    {"family": "label", "place": {"label": "Source code"}},
                                    {"family": "css", "place": {"select": "a.reference.external[href*='/cpython/']"}},
                                ],
                            }
                        ],
                    }
                ],
            }
        ],
    }
    api = f"{cluster.url}/v1/workflows"
    taken = httpx.post(api, json=workflow, timeout=10)
    assert taken.status_code == 201, taken.text
    httpx.post(f"{api}/modules/versions/1/activate", timeout=10).raise_for_status()
    schema = {"type": "object", "properties": {"source": {"type": "string"}}, "required": ["source"]}
    job = cluster.submit(
        loop(manual, truth, extract={"schema": schema}, policy="workflow:modules", artifacts={"screenshots": "none"})
    )
    final = cluster.final(job, 300)
    rows = cluster.results(job)
    done = [row for row in rows if row["record"] is not None]
    wrong = [
        (row["item"]["value"], row["record"])
        for row in done
        if row["record"]["source"] != truth[row["item"]["value"].removeprefix(f"{manual}/")]["source"]
    ]
    assert wrong == []
    assert final["usage"]["model_calls"] == 0
    assert len(rows) == len(truth)
    assert {row["workflow"] for row in done} <= {"modules@1"}
    missed = [row for row in rows if row["record"] is None]
    assert all(row["error"]["code"] == "workflow_miss" for row in missed), missed[:3]
    figures = httpx.get(f"{api}/modules", timeout=10).json()["versions"][0]["figures"]
    assert figures.get("replays", 0) == len(done)
    assert figures.get("misses", 0) == len(missed)
    httpx.delete(f"{api}/modules", timeout=10).raise_for_status()
