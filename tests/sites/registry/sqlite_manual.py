"""SQLite's manual: tables written by hand, with tags left open, and pages of one kind that differ in what they have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, record, records
from tests.sites.registry.markup import parsed, text

NAME = "SQLite manual"


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the manual is served."""
    root = cache.debian("sqlite3-doc") / "usr/share/doc/sqlite3"
    with serving.folder(root) as url:
        yield [
            _table(root, url, "cves", {"cve_number": 0, "fix": 1, "comments": 2}, "CVE Number"),
            _table(root, url, "chronology", {"date": 0, "version": 1}, "Date"),
            _table(root, url, "vtablist", {"name": 0, "description": 1}, "Name"),
            _table(root, url, "opcode", {"opcode_name": 0, "description": 1}, "Opcode Name"),
            _routines(root, url),
        ]


def _table(root: Path, url: str, page: str, columns: Mapping[str, int], first: str) -> Case:
    tables = parsed(root / f"{page}.html").xpath(f"//table[.//th[normalize-space()='{first}']]")
    truth: list[dict[str, Json]] = []
    for row in tables[-1].xpath(".//tr[td]"):
        cells = [text(cell) for cell in row.xpath("./td")]
        if len(cells) > max(columns.values()):
            truth.append({name: cells[at] or None for name, at in columns.items()})
    schema = records(dict.fromkeys(columns, "string"), required=list(columns)[:1])
    return Case(page, "table", {"url": f"{url}/{page}.html", "extract": {"schema": schema}}, truth, next(iter(columns)))


def _routines(root: Path, url: str) -> Case:
    names = sorted(path.name for path in (root / "c3ref").glob("[a-b]*.html"))
    truth = []
    for name in names:
        heads = parsed(root / "c3ref" / name).xpath("//h2")
        declared = parsed(root / "c3ref" / name).xpath("//blockquote/pre")
        if len(heads) > 1 and declared:
            truth.append({"page": f"{url}/c3ref/{name}", "title": text(heads[1]), "declaration": text(declared[0])})
    return Case(
        "each routine",
        "loop",
        {
            "url": truth[0]["page"],
            "loop": {"values": [row["page"] for row in truth], "is_link": True},
            "extract": {
                "schema": record({"title": "string", "declaration": "string"}, required=["title"]),
                "fields": {"declaration": {"select": "blockquote > pre"}},
            },
        },
        truth,
        at="page",
    )
