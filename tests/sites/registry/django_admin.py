"""Django's admin over a seeded database: everything lies behind its login form."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, record, records
from tests.sites.registry.database import rows

NAME = "Django admin"
_PACKAGES = ("django==5.2.*",)
_PROGRAM = Path(__file__).with_name("programs") / "django_admin_site.py"
_QUERY = """
SELECT book.*, author.name AS author
FROM office_book AS book JOIN office_author AS author ON author.id = author_id
ORDER BY book.id
"""
_TYPES = {
    "title": "string",
    "author": "string",
    "isbn": "string",
    "pages": "integer",
    "price": "number",
    "available": "boolean",
}
_GOOD = {"username": "ada", "password": "correct horse 7"}


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the admin is served over a new database."""
    python = cache.pypi("django", _PACKAGES)
    with tempfile.TemporaryDirectory(prefix="shoal-django-") as temp:
        database = Path(temp) / "library.db"
        port = serving.free_port()
        command = [str(python), str(_PROGRAM), str(database), str(port)]
        with serving.program(command, port, cwd=Path(temp), path="/admin/") as url:
            yield [*_logins(url), *_behind_login(url, database)]


def _logins(url: str) -> Iterator[Case]:
    yield Case("log in", "login", {"url": f"{url}/admin/", "goal": "log in", "data": _GOOD})
    yield Case(
        "log in with a wrong password",
        "login",
        {"url": f"{url}/admin/", "goal": "log in", "data": {**_GOOD, "password": "wrong"}},
        succeeds=False,
    )


def _behind_login(url: str, database: Path) -> Iterator[Case]:
    books: list[Json] = [
        {name: bool(row[name]) if name == "available" else row[name] for name in _TYPES}
        for row in rows(database, _QUERY)
    ]
    login = {"url": f"{url}/admin/login/", "data": _GOOD}
    yield Case(
        "all books",
        "paged list",
        {
            "url": f"{url}/admin/office/book/",
            "login": login,
            "extract": {"schema": records(_TYPES, required=["title", "isbn"])},
        },
        books,
        key="isbn",
    )
    yield Case(
        "edit page of book 9",
        "edit",
        {
            "url": f"{url}/admin/office/book/9/change/",
            "login": login,
            "extract": {"schema": record(_TYPES, required=["title", "isbn"])},
        },
        [books[8]],
    )
    yield Case(
        "each book's edit page",
        "login loop",
        {
            "url": f"{url}/admin/office/book/",
            "login": login,
            "loop": {"from": {"select": "th.field-title a"}, "max_items": 24},
            "extract": {"schema": record(_TYPES, required=["title", "isbn"])},
        },
        books[:24],
        key="isbn",
    )
