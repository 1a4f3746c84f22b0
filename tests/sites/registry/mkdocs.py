"""The manual of MkDocs, made by MkDocs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, either, record, records
from tests.sites.registry.markup import parsed, text

NAME = "MkDocs (its manual)"
_MARK = ".//a[@class='headerlink']"


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the manual is served."""
    root = cache.debian("mkdocs-doc") / "usr/share/doc/mkdocs/html"
    with serving.folder(root) as url:
        columns = {name: {"column": name.capitalize()} for name in ("name", "type", "description", "default")}
        yield [
            *(_pages(root, url), _settings(root, url), _keys(root, url), _one(root, url)),
            _settings(root, url).with_places(columns, records="[role=main] table tbody tr"),
            _pages(root, url).with_places({"title": {"select": "[role=main] h1:first-of-type"}}),
        ]


def _pages(root: Path, url: str) -> Case:
    links = parsed(root / "index.html").xpath("//a[@class='dropdown-item']/@href")
    found = []
    for link in links:
        titles = parsed(root / link).xpath("//*[@role='main']//h1")
        title = either(*(text(title, without=_MARK) for title in titles)) if titles else None
        found.append({"page": f"{url}/{link}", "title": title})
    return Case(
        "pages of the menu",
        "loop",
        {
            "url": f"{url}/index.html",
            "loop": {"from": {"select": "a.dropdown-item"}},
            "extract": {"schema": record({"title": "string"}, required=["title"])},
        },
        found,
        at="page",
    )


def _one(root: Path, url: str) -> Case:
    page = parsed(root / "user-guide" / "installation.html")
    return Case(
        "installation",
        "single",
        {
            "url": f"{url}/user-guide/installation.html",
            "extract": {"schema": record({"title": "string", "price": "string"})},
        },
        [{"title": text(page.xpath("//h1")[0], without=_MARK), "price": None}],
    )


def _settings(root: Path, url: str) -> Case:
    rows = []
    for table in parsed(root / "user-guide" / "cli.html").xpath("//table[.//th[.='Default']]"):
        for row in table.xpath(".//tbody/tr"):
            name, kind, description, default = (text(cell) or None for cell in row.xpath("./td"))
            rows.append({"name": name, "type": kind, "description": description, "default": default})
    fields = {name: "string" for name in ("name", "type", "description", "default")}
    return Case(
        "options of commands",
        "table",
        {
            "url": f"{url}/user-guide/cli.html",
            "extract": {"schema": records(fields, required=["name", "description"])},
        },
        rows,
        key="name",
    )


def _keys(root: Path, url: str) -> Case:
    rows = []
    for row in parsed(root / "user-guide" / "choosing-your-theme.html").xpath("//tbody/tr"):
        keys, action = (text(cell) for cell in row.xpath("./td"))
        rows.append({"keys": keys, "action": action})
    return Case(
        "keyboard shortcuts",
        "table",
        {
            "url": f"{url}/user-guide/choosing-your-theme.html",
            "extract": {"schema": records({"keys": "string", "action": "string"}, required=["keys", "action"])},
        },
        rows,
        key="keys",
    )
