"""Otter Wiki: pages with small tables, a page index, accounts with login and registration."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record
from tests.sites.registry.database import rows

NAME = "Otter Wiki"
_PACKAGES = ("otterwiki==2.26.1",)
_PROGRAM = Path(__file__).with_name("programs") / "otter_wiki.py"
_TYPES = {"title": "string", "keeper": "string", "floor": "integer", "opens": "string"}
_PASSWORD = "correct horse 7"


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while a freshly filled wiki is served."""
    python = cache.pypi("otterwiki", _PACKAGES)
    with tempfile.TemporaryDirectory(prefix="shoal-wiki-") as temp:
        root = Path(temp)
        port = serving.free_port()
        with serving.program([str(python), str(_PROGRAM), temp, str(port)], port, cwd=root, path="/-/about") as url:
            reading = list(_reading(url, root / "pages"))
            places = {name: {"column": name.capitalize()} for name in ("keeper", "floor", "opens")}
            given = [case.with_places({"title": {"select": ".page h1"}, **places}) for case in reading]
            yield [*reading, *given, *_accounts(url, root / "wiki.db")]


def _page(path: Path) -> Json:
    """Return what the page's Markdown says."""
    lines = path.read_text(encoding="utf-8").splitlines()
    heading = lines[0].removeprefix("# ")
    keeper, floor, opens = (cell.strip() for cell in lines[4].strip("|").split("|"))
    return {"title": either(heading, path.stem.capitalize()), "keeper": keeper, "floor": int(floor), "opens": opens}


def _reading(url: str, pages: Path) -> Iterator[Case]:
    schema = record(_TYPES, required=["title"])
    yield Case(
        "one page", "single", {"url": f"{url}/Kitchen", "extract": {"schema": schema}}, [_page(pages / "kitchen.md")]
    )
    yield Case(
        "each page of the index",
        "loop",
        {
            "url": f"{url}/-/index",
            "loop": {"from": {"select": "a.pageindex-page"}},
            "extract": {"schema": schema},
        },
        [{"page": f"{url}/{path.stem.capitalize()}", **_page(path)} for path in sorted(pages.glob("*.md"))],
        at="page",
    )


def _accounts(url: str, database: Path) -> Iterator[Case]:
    def people(*more: str) -> str:
        names = [row["name"] for row in rows(database, "SELECT name FROM user ORDER BY id")]
        expected = ["Ada", "Bruno", "Chloe", *more]
        return "" if names == expected else f"accounts are now {names}"

    good: Json = {"email": "ada@office.example", "password": _PASSWORD}
    yield Case("log in", "login", {"url": f"{url}/-/login", "goal": "log in", "data": good}, check=people)
    yield Case(
        "log in with a wrong password",
        "login",
        {"url": f"{url}/-/login", "goal": "log in", "data": {**good, "password": "wrong"}},
        succeeds=False,
        check=people,
    )
    yield Case(
        "register an address that is taken",
        "form",
        {
            "url": f"{url}/-/register",
            "goal": "register",
            "data": {"name": "Ada", "email": "ada@office.example", "password": _PASSWORD, "password2": _PASSWORD},
        },
        succeeds=False,
        check=people,
    )
    yield Case(
        "register",
        "form",
        {
            "url": f"{url}/-/register",
            "goal": "register",
            "data": {"name": "Dario", "email": "dario@office.example", "password": _PASSWORD, "password2": _PASSWORD},
        },
        check=lambda: people("Dario"),
    )
