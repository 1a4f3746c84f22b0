"""The standard library of Rust by rustdoc: lists of modules, types and macros under headings, and a page for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records
from tests.sites.registry.markup import has_class, parsed, text

NAME = "rustdoc (std)"
_PRIMITIVES = 12


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the documentation of Rust is served."""
    root = cache.debian("rust-doc") / "usr/share/doc/rust-doc/html"
    with serving.folder(root) as url:
        yield [
            _listed(root, url, "std/index.html", "primitives", "primitive_type"),
            _listed(root, url, "std/index.html", "macros", "macro"),
            _listed(root, url, "std/collections/index.html", "structs", "struct"),
            _one_type(root, url, "std/primitive.bool.html"),
            _each_primitive(root, url),
        ]


def _rows(path: Path, heading: str) -> list[dict[str, Json]]:
    table = parsed(path).xpath(f"//h2[@id='{heading}']/following-sibling::div[@class='item-table'][1]")[0]
    rows = []
    for row in table.xpath("./div[@class='item-row']"):
        name = row.xpath(f".//div[{has_class('item-left')}]")[0]
        said = row.xpath(f".//div[{has_class('item-right')}]")
        described = (text(said[0]) or None) if said else None
        rows.append({"name": either(text(name), text(name.xpath("./a")[0])), "description": described})
    return rows


def _listed(root: Path, url: str, page: str, heading: str, field: str) -> Case:
    """One list of a page that has several of the same kind."""
    truth = [{field: row["name"], "description": row["description"]} for row in _rows(root / page, heading)]
    schema = records({field: "string", "description": "string"}, required=[field])
    spec: dict[str, Json] = {"url": f"{url}/{page}", "extract": {"schema": schema}}
    return Case(f"{heading} of {page}", "list", spec, truth, field)


def _since(path: Path) -> str | None:
    said = parsed(path).xpath("//div[@class='main-heading']/span[@class='out-of-band']/span[@class='since']")
    return text(said[0]) if said else None  # a type that is not stable yet


def _title(path: Path) -> Json:
    (said,) = parsed(path).xpath("//h1/span[@class='in-band']")
    whole = text(said)
    return either(whole, whole.removeprefix("Primitive Type "))


def _one_type(root: Path, url: str, page: str) -> Case:
    schema = record({"title": "string", "since": "string"}, required=["title"])
    truth = [{"title": _title(root / page), "since": _since(root / page)}]
    return Case(page, "single", {"url": f"{url}/{page}", "extract": {"schema": schema}}, truth)


def _each_primitive(root: Path, url: str) -> Case:
    page = root / "std/index.html"
    links = parsed(page).xpath("//h2[@id='primitives']/following-sibling::div[1]//a[@class='primitive']/@href")
    truth = [
        {"page": f"{url}/std/{link}", "title": _title(page.parent / link), "since": _since(page.parent / link)}
        for link in links[:_PRIMITIVES]
    ]
    spec: dict[str, Json] = {
        "url": f"{url}/std/index.html",
        "loop": {"from": {"select": "#primitives + div a.primitive"}, "max_items": _PRIMITIVES},
        "extract": {"schema": record({"title": "string", "since": "string"}, required=["title"])},
    }
    return Case("each primitive type", "loop", spec, truth, at="page")
