"""The Debian Reference, made by the DocBook stylesheets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lxml import html

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, either, record, records
from tests.sites.registry.markup import parsed, text

NAME = "DocBook (Debian Reference)"


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the book is served."""
    root = cache.debian("debian-reference-en") / "usr/share/debian-reference"
    with serving.folder(root) as url:
        yield [
            *(_chapters(root, url), _one(root, url), *_tables(root, url)),
            _chapters(root, url).with_places({"title": {"select": ".titlepage h1"}}),
        ]


def _title(path: Path) -> str:
    return text(parsed(path).xpath("//*[@class='titlepage']//h1 | //*[@class='titlepage']//h2")[0])


def _chapters(root: Path, url: str) -> Case:
    names = sorted(path.name for path in root.glob("ch??.en.html"))
    found = []
    for name in names:
        title = _title(root / name)
        found.append({"page": f"{url}/{name}", "title": either(title, title.partition(". ")[2])})
    return Case(
        "chapters",
        "loop",
        {
            "url": f"{url}/index.en.html",
            "loop": {"from": {"select": "span.chapter > a"}},
            "extract": {"schema": record({"title": "string"}, required=["title"])},
        },
        found,
        at="page",
    )


def _one(root: Path, url: str) -> Case:
    title = _title(root / "ch07.en.html")
    return Case(
        "chapter 7",
        "single",
        {"url": f"{url}/ch07.en.html", "extract": {"schema": record({"title": "string"}, required=["title"])}},
        [{"title": either(title, title.partition(". ")[2])}],
    )


def _heads(table: html.HtmlElement) -> tuple[str, ...]:
    return tuple(text(head) for head in table.xpath("./thead/tr[1]/*"))


def _tables(root: Path, url: str) -> Iterator[Case]:
    """One case for each table whose columns no other table of its chapter has."""
    for chapter in ("ch03", "ch05", "ch08"):
        tables = parsed(root / f"{chapter}.en.html").xpath("//div[@class='table-contents']/table")
        all_heads = [_heads(table) for table in tables]
        for table in tables:
            heads = _heads(table)
            names = tuple(head.lower().replace(" ", "_") for head in heads)
            if all_heads.count(heads) == 1 and len(heads) > 1 and all(name.isidentifier() for name in names):
                rows = [[text(cell) or None for cell in row.xpath("./td")] for row in table.xpath("./tbody/tr")]
                yield Case(
                    f"{chapter}: {', '.join(names)}",
                    "table",
                    {
                        "url": f"{url}/{chapter}.en.html",
                        "extract": {"schema": records(dict.fromkeys(names, "string"), required=names[:1])},
                    },
                    [dict(zip(names, row, strict=True)) for row in rows],
                    key=names[0],
                )
