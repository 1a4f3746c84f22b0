"""The manual of Python, made by Sphinx."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records
from tests.sites.registry.markup import parsed, text

NAME = "Sphinx (Python manual)"
_MARK = ".//a[@class='headerlink']"


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the manual is served."""
    root = _pages()
    with serving.folder(root) as url:
        yield [
            _modules(root, url, "persistence"),
            _modules(root, url, "netdata"),
            _one_module(root, url),
            _functions(root, url),
            _glossary(root, url),
            _encodings(root, url),
            _encodings(root, url).with_places(
                {"codec": {"column": "Codec"}, "aliases": {"column": "Aliases"}, "languages": {"column": "Languages"}},
                records="#standard-encodings table tbody tr",
            ),
        ]


def _pages() -> Path:
    try:
        said = subprocess.run(
            ["apt-cache", "depends", "python3-doc"], capture_output=True, text=True, timeout=60
        ).stdout
    except FileNotFoundError as error:
        raise cache.Unreachable("apt-cache: there is no apt here") from error
    packages = [line.split()[-1] for line in said.splitlines() if "Depends: python3." in line]
    if not packages:
        raise cache.Unreachable("apt-cache names no python3-doc")
    indexes = sorted(cache.debian(packages[0]).glob("usr/share/doc/python3*/html/genindex-all.html"))
    return indexes[0].parent


def _module(path: Path) -> Json:
    page = parsed(path)
    source = page.xpath("//p[strong[starts-with(., 'Source code:')]]/a")
    return {
        "title": text(page.xpath("//h1")[0], without=_MARK),
        "source_code": either(*(way for link in source for way in (text(link), link.get("href")))) if source else None,
    }


def _modules(root: Path, url: str, chapter: str) -> Case:
    links = parsed(root / "library" / f"{chapter}.html").xpath("//li[@class='toctree-l1']/a/@href")
    return Case(
        f"modules of {chapter}",
        "loop",
        {
            "url": f"{url}/library/{chapter}.html",
            "loop": {"from": {"select": "li.toctree-l1 > a"}},
            "extract": {"schema": record({"title": "string", "source_code": "string"}, required=["title"])},
        },
        [{"page": f"{url}/library/{link}", **_module(root / "library" / link)} for link in links],
        at="page",
    )


def _one_module(root: Path, url: str) -> Case:
    return Case(
        "module json",
        "single",
        {
            "url": f"{url}/library/json.html",
            "extract": {"schema": record({"title": "string", "source_code": "string"}, required=["title"])},
        },
        [_module(root / "library" / "json.html")],
    )


def _functions(root: Path, url: str) -> Case:
    found = []
    for entry in parsed(root / "library" / "functions.html").xpath("//dl[@class='py function']"):
        signatures = [text(signature, without=_MARK) for signature in entry.xpath("./dt")]
        body = entry.xpath("./dd")[0]
        first = [text(part) for part in body.xpath("./p")[:1]]
        found.append(
            {
                "signature": either(", ".join(signatures), " ".join(signatures), *signatures),
                "description": either(text(body), *first),
            }
        )
    return Case(
        "built-in functions",
        "list",
        {
            "url": f"{url}/library/functions.html",
            "extract": {"schema": records({"signature": "string", "description": "string"}, required=["signature"])},
        },
        found,
        key="signature",
    )


def _glossary(root: Path, url: str) -> Case:
    terms: list[Json] = []
    for term in parsed(root / "glossary.html").xpath("//dl[@class='glossary']/dt"):
        meaning = term.getnext()
        first = [text(part) for part in meaning.xpath("./p")[:1]]
        terms.append({"term": text(term, without=_MARK), "definition": either(text(meaning), *first)})
    return Case(
        "glossary",
        "list",
        {
            "url": f"{url}/glossary.html",
            "extract": {"schema": records({"term": "string", "definition": "string"}, required=["term"])},
        },
        terms,
        key="term",
    )


def _encodings(root: Path, url: str) -> Case:
    rows = []
    for table in parsed(root / "library" / "codecs.html").xpath("//table"):
        if [text(head) for head in table.xpath(".//thead//th")] == ["Codec", "Aliases", "Languages"]:
            cells = [[text(cell) or None for cell in row.xpath("./td")] for row in table.xpath(".//tbody/tr")]
            rows += [dict(zip(("codec", "aliases", "languages"), row, strict=True)) for row in cells]
    return Case(
        "standard encodings",
        "table",
        {
            "url": f"{url}/library/codecs.html",
            "extract": {
                "schema": records(
                    {"codec": "string", "aliases": "string", "languages": "string"}, required=["codec", "languages"]
                )
            },
        },
        rows,
        key="codec",
    )
