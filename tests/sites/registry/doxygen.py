"""The API of JsonCpp, made by Doxygen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lxml import html

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records
from tests.sites.registry.markup import has_class, parsed, text

NAME = "Doxygen (JsonCpp)"
_PAGES = {
    "Features": "class_json_1_1_features.html",
    "Reader": "class_json_1_1_reader.html",
    "ValueIterator": "class_json_1_1_value_iterator.html",
}
_ITEMS = 12


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the API is served."""
    root = cache.debian("libjsoncpp-doc") / "usr/share/doc/libjsoncpp-doc"
    with serving.folder(root) as url:
        loop = _loop(root, url)
        yield [
            _classes(root, url),
            *(_members(root, url, name) for name in _PAGES),
            _deprecated(root, url),
            _of_a_letter(root, url),
            _one(root, url, "Features"),
            loop,
            loop.with_places({"name": {"select": ".headertitle .title"}, "description": {"select": ".textblock"}}),
        ]


def _entries(page: html.HtmlElement) -> Iterator[html.HtmlElement]:
    yield from page.xpath(f"//table[{has_class('directory')}]//tr")


def _classes(root: Path, url: str) -> Case:
    """The table of all classes: a tree of rows without headers, each with an arrow and a letter for its kind."""
    found = []
    for row in _entries(parsed(root / "annotated.html")):
        name = text(row.xpath("./td[1]/a")[0])
        said = text(row.xpath("./td[2]")[0]) or None
        found.append({"name": name, "description": said})
    return Case(
        "all classes",
        "table",
        {
            "url": f"{url}/annotated.html",
            "extract": {"schema": records({"name": "string", "description": "string"}, required=["name"])},
        },
        found,
        key="name",
    )


def _members(root: Path, url: str, name: str) -> Case:
    """The table of a class's members: what it is called, which class it is from, and its properties."""
    path = _PAGES[name].replace(".html", "-members.html")
    found = []
    for row in _entries(parsed(root / path)):
        member, of, kind = (text(cell) for cell in row.xpath("./td"))
        found.append({"member": member, "class": of, "kind": kind or None})
    return Case(
        f"members of {name}",
        "table",
        {
            "url": f"{url}/{path}",
            "extract": {"schema": records({"member": "string", "class": "string"}, required=["member"])},
        },
        [{key: value for key, value in row.items() if key != "kind"} for row in found],
        key="member",
    )


def _deprecated(root: Path, url: str) -> Case:
    page = parsed(root / "deprecated.html")
    terms = [text(term) for term in page.xpath("//dl[@class='reflist']/dt")]
    meanings = [text(meaning) for meaning in page.xpath("//dl[@class='reflist']/dd")]
    return Case(
        "what is deprecated",
        "list",
        {
            "url": f"{url}/deprecated.html",
            "extract": {"schema": records({"name": "string", "description": "string"}, required=["name"])},
        },
        [{"name": name, "description": said} for name, said in zip(terms, meanings, strict=True)],
        key="name",
    )


def _of_a_letter(root: Path, url: str) -> Case:
    """An index: each entry's name, a colon, and the class that it belongs to as a link."""
    page = parsed(root / "functions_c.html")
    found = []
    for entry in page.xpath("//div[@class='contents']//li"):
        said = text(entry)
        name, _, classes = said.partition(" : ")
        found.append({"member": either(name, said), "class": classes})
    return Case(
        "members with c",
        "list",
        {
            "url": f"{url}/functions_c.html",
            "extract": {"schema": records({"member": "string", "class": "string"}, required=["member", "class"])},
        },
        found,
        key="member",
    )


def _class(path: Path) -> Json:
    page = parsed(path)
    title = text(page.xpath("//div[@class='title']")[0], without=".//div[@class='ingroups']")
    name = title.removesuffix(" Class Reference").removesuffix(" Struct Reference")
    name = name.removesuffix(" Class Template Reference").removesuffix(" Struct Template Reference")
    (brief,) = page.xpath("//div[@class='contents']/p[a[.='More...']]")[:1] or (None,)
    short = None if brief is None else text(brief).removesuffix("More...").strip()
    details = page.xpath("//div[@class='textblock']")
    whole = text(details[0], without=".//div[@class='ttc']") if details else None
    first = text(details[0].xpath("./p")[0]) if details and details[0].xpath("./p") else None
    ways = (short, f"{short} More..." if short else None, whole, first)
    return {"name": either(title, name, name.split("::")[-1]), "description": either(*ways) if any(ways) else None}


def _one(root: Path, url: str, name: str) -> Case:
    return Case(
        f"class {name}",
        "single",
        {
            "url": f"{url}/{_PAGES[name]}",
            "extract": {"schema": record({"name": "string", "description": "string"}, required=["name"])},
        },
        [_class(root / _PAGES[name])],
    )


def _loop(root: Path, url: str) -> Case:
    links = [row.xpath("./td[1]/a/@href")[0] for row in _entries(parsed(root / "annotated.html"))]
    links = [link for link in links if link.startswith(("class_", "struct_"))][:_ITEMS]
    return Case(
        "each class",
        "loop",
        {
            "url": f"{url}/annotated.html",
            "loop": {"from": {"select": "td.entry a[href^=class_], td.entry a[href^=struct_]"}, "max_items": _ITEMS},
            "extract": {"schema": record({"name": "string", "description": "string"}, required=["name"])},
        },
        [{"page": f"{url}/{link}", **_class(root / link)} for link in links],
        at="page",
    )
