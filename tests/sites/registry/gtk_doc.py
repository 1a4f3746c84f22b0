"""Manuals made by gtk-doc: tables without a head, several on a page, and pages with a title and a purpose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, either, record, records
from tests.sites.registry.markup import parsed, text

NAME = "gtk-doc (GLib)"
_LISTING = ("glib-Bookmark-file-parser", "glib-Timers", "glib-Base64-Encoding", "glib-Quarks")
"""Pages with a table of functions, each name once."""


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while GLib's manual is served."""
    root = cache.debian("libglib2.0-doc") / "usr/share/gtk-doc/html/glib"
    pages = [path for path in sorted(root.glob("glib-*.html")) if parsed(path).xpath("//div[@class='refnamediv']")]
    with serving.folder(root) as url:
        yield [
            _sections(pages[:40], url),
            *(_functions(path, url) for path in pages if path.stem in _LISTING),
        ]


def _sections(pages: list[Path], url: str) -> Case:
    truth = []
    for path in pages:
        said = text(parsed(path).xpath("//div[@class='refnamediv']//p")[0])
        name, _, purpose = said.partition(" — ")
        truth.append({"page": f"{url}/{path.name}", "title": name, "purpose": purpose})
    return Case(
        "each section",
        "loop",
        {
            "url": truth[0]["page"],
            "loop": {"values": [row["page"] for row in truth], "is_link": True},
            "extract": {"schema": record({"title": "string", "purpose": "string"}, required=["title"])},
        },
        truth,
        at="page",
    )


def _functions(path: Path, url: str) -> Case:
    truth = []
    for row in parsed(path).xpath("//td[@class='function_name']/.."):
        kind, name = (text(cell) for cell in row.xpath("./td"))
        truth.append({"function": either(name, name.removesuffix(" ()")), "returns": kind})
    schema = records({"function": "string", "returns": "string"}, required=["function"])
    return Case(
        f"functions of {path.stem}",
        "list",
        {"url": f"{url}/{path.name}", "goal": "All functions and what they return", "extract": {"schema": schema}},
        truth,
        "function",
    )
