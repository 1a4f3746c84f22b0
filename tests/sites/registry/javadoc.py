"""The API of Apache Commons Lang, made by Javadoc."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lxml import html

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records
from tests.sites.registry.markup import has_class, parsed, text

NAME = "Javadoc (commons-lang3)"
_PACKAGE = "org/apache/commons/lang3"
_ITEMS = 12


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the API is served."""
    root = cache.debian("libcommons-lang3-java-doc") / "usr/share/doc/libcommons-lang3-java/api"
    with serving.folder(root) as url:
        yield [
            _methods(root, url, "BitField"),
            _methods(root, url, "ArchUtils"),
            _classes(root, url),
            _one(root, url, "BitField"),
            _loop(root, url),
            _loop(root, url).with_places({"name": {"select": "h1"}, "package": {"select": ".sub-title a"}}),
        ]


def _summary(page: html.HtmlElement, headers: list[str]) -> Iterator[list[html.HtmlElement]]:
    """The rows of the page's grids of `div` that have these headers."""
    for grid in page.xpath(f"//div[{has_class('summary-table')}]"):
        heads = [text(head) for head in grid.xpath(f"./div[{has_class('table-header')}]")]
        if heads == headers:
            cells = [cell for cell in grid.xpath("./div") if "table-header" not in cell.get("class")]
            yield from (cells[at : at + len(heads)] for at in range(0, len(cells), len(heads)))


def _methods(root: Path, url: str, name: str) -> Case:
    rows: list[Json] = []
    for kind, method, description in _summary(
        parsed(root / _PACKAGE / f"{name}.html"), ["Modifier and Type", "Method", "Description"]
    ):
        rows.append({"modifier_and_type": text(kind), "method": text(method), "description": text(description) or None})
    fields = {"modifier_and_type": "string", "method": "string", "description": "string"}
    return Case(
        f"methods of {name}",
        "table",
        {
            "url": f"{url}/{_PACKAGE}/{name}.html",
            "extract": {"schema": records(fields, required=["method"])},
        },
        rows,
        key="method",
    )


def _classes(root: Path, url: str) -> Case:
    page = parsed(root / _PACKAGE / "package-summary.html")
    rows = [
        {"class": text(name), "description": text(said) or None}
        for name, said in _summary(page, ["Class", "Description"])
    ]
    return Case(
        "classes of the package",
        "table",
        {
            "url": f"{url}/{_PACKAGE}/package-summary.html",
            "extract": {"schema": records({"class": "string", "description": "string"}, required=["class"])},
        },
        rows,
        key="class",
    )


def _type(path: Path) -> Json:
    page = parsed(path)
    title = text(page.xpath("//h1")[0])
    simple = title.split(" ", 1)[1]
    package = text(page.xpath("//div[span[@class='package-label-in-type']]/a")[0])
    return {"name": either(title, simple, f"{package}.{simple}"), "package": package}


def _one(root: Path, url: str, name: str) -> Case:
    return Case(
        f"class {name}",
        "single",
        {
            "url": f"{url}/{_PACKAGE}/{name}.html",
            "extract": {"schema": record({"name": "string", "package": "string"}, required=["name"])},
        },
        [_type(root / _PACKAGE / f"{name}.html")],
    )


def _loop(root: Path, url: str) -> Case:
    page = parsed(root / _PACKAGE / "package-summary.html")
    links = [name.xpath(".//a/@href")[0] for name, _ in _summary(page, ["Class", "Description"])][:_ITEMS]
    return Case(
        "each class",
        "loop",
        {
            "url": f"{url}/{_PACKAGE}/package-summary.html",
            "loop": {"from": {"select": ".col-first.class-summary a"}, "max_items": _ITEMS},
            "extract": {"schema": record({"name": "string", "package": "string"}, required=["name"])},
        },
        [{"page": f"{url}/{_PACKAGE}/{link}", **_type(root / _PACKAGE / link)} for link in links],
        at="page",
    )
