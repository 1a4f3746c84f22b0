"""The manual of the Apache HTTP Server: a page states what its module is, and the same of each of its directives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lxml import html

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records
from tests.sites.registry.markup import parsed, text

NAME = "Apache manual"
_MODULE = ("description", "status", "module_identifier", "source_file")
_DIRECTIVE = ("description", "syntax", "default", "context", "override", "status", "module")


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the English manual is served."""
    root = cache.debian("apache2-doc") / "usr/share/doc/apache2-doc/manual"
    with serving.folder(root) as url:
        folder, at = root / "en/mod", f"{url}/en/mod"
        yield [
            _modules(folder, at),
            _one_module(folder, at, "mod_expires"),
            _listed(folder, at),
            *(_directives(folder, at, name) for name in ("mod_expires", "mod_dir", "mod_alias")),
        ]


def _names(folder: Path) -> list[str]:
    return list(dict.fromkeys(parsed(folder / "index.html").xpath("//div[@id='page-content']//dl/dt/a/@href")))


def _stated(table: html.HtmlElement) -> dict[str, str]:
    """Return what a table with a name at the beginning of each row says."""
    rows = table.xpath("./tr | ./tbody/tr")
    return {text(row.xpath("./th")[0]).rstrip(":"): text(row.xpath("./td")[0]) for row in rows}


def _module(folder: Path, name: str) -> dict[str, Json]:
    said = _stated(parsed(folder / name).xpath("//table[@class='module']")[0])
    spelled = {"description": "Description", "status": "Status"}
    spelled |= {"module_identifier": "Module Identifier", "source_file": "Source File"}
    return {field: said.get(spelled[field]) for field in _MODULE}


def _modules(folder: Path, at: str) -> Case:
    return Case(
        "each module",
        "loop",
        {
            "url": f"{at}/index.html",
            "loop": {"from": {"select": "#page-content dl dt > a"}},
            "extract": {"schema": record(dict.fromkeys(_MODULE, "string"), required=["description"])},
        },
        [{"page": f"{at}/{name}", **_module(folder, name)} for name in _names(folder)],
        at="page",
    )


def _one_module(folder: Path, at: str, name: str) -> Case:
    schema = record(dict.fromkeys(_MODULE, "string"), required=["description"])
    return Case(
        name, "single", {"url": f"{at}/{name}.html", "extract": {"schema": schema}}, [_module(folder, f"{name}.html")]
    )


def _listed(folder: Path, at: str) -> Case:
    """A list of definitions, in two parts under a heading each."""
    page = parsed(folder / "index.html")
    truth = [
        {"name": text(term), "description": text(term.getnext())}
        for term in page.xpath("//div[@id='page-content']//dl/dt")
    ]
    schema = records({"name": "string", "description": "string"}, required=["name"])
    return Case(
        "the list of modules", "list", {"url": f"{at}/index.html", "extract": {"schema": schema}}, truth, "name"
    )


def _directives(folder: Path, at: str, name: str) -> Case:
    truth = []
    for section in parsed(folder / f"{name}.html").xpath("//div[@class='directive-section']"):
        said = _stated(section.xpath("./table[@class='directive']")[0])
        title = text(section.xpath("./h2")[0], without=".//a[@class='permalink']")
        row: dict[str, Json] = {field: said.get(field.capitalize()) for field in _DIRECTIVE}
        truth.append({"name": either(title, title.removesuffix(" Directive")), **row})
    schema = records(dict.fromkeys(("name", *_DIRECTIVE), "string"), required=["name"])
    spec: dict[str, Json] = {"url": f"{at}/{name}.html", "extract": {"schema": schema, "records": ".directive-section"}}
    return Case(f"directives of {name}", "list", spec, truth, "name")
