"""Roundup, an issue tracker: a list in groups and pages, issues, and a login form on every page."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, record, records
from tests.sites.registry.database import rows

NAME = "Roundup"
_PACKAGES = ("roundup==2.6.0",)
_PROGRAMS = Path(__file__).with_name("programs")
_QUERY = """
SELECT issue.id, issue._title AS title, _priority.name AS priority, _status.name AS status, person.name AS assigned_to
FROM _issue AS issue
JOIN (SELECT id, _name AS name FROM _priority) AS _priority ON _priority.id = issue._priority
JOIN (SELECT id, _name AS name FROM _status) AS _status ON _status.id = issue._status
LEFT JOIN (SELECT id, _username AS name FROM _user) AS person ON person.id = issue._assignedto
ORDER BY issue.id
"""
_LIST = "issue?@sort=id&@group=priority&@columns=id,title,status,assignedto&@pagesize=25&@startwith=0"


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while a freshly filled tracker is served."""
    python = cache.pypi("roundup", _PACKAGES)
    with tempfile.TemporaryDirectory(prefix="shoal-roundup-") as temp:
        home = Path(temp) / "home"
        port = serving.free_port()
        serving.run(python, _PROGRAMS / "seed_roundup.py", home, f"http://127.0.0.1:{port}/")
        command = [str(python), str(_PROGRAMS / "roundup_site.py"), str(home), str(port)]
        with serving.program(command, port, cwd=Path(temp)) as url:
            yield _cases(url, home / "db" / "db")


def _cases(url: str, database: Path) -> list[Case]:
    issues = rows(database, _QUERY)
    cases = [
        Case(
            "all issues",
            "paged list",
            {
                "url": f"{url}/{_LIST}",
                "extract": {
                    "schema": records(
                        {"id": "integer", "title": "string", "status": "string"}, required=["id", "title"]
                    )
                },
            },
            [{name: row[name] for name in ("id", "title", "status")} for row in issues],
            key="id",
        ),
        Case(
            "each issue of the first page",
            "loop",
            {
                "url": f"{url}/issue?@sort=id&@columns=id,title,status&@pagesize=20&@startwith=0",
                "loop": {"from": {"select": "table.list a[href^=issue]"}, "max_items": 20},
                "extract": {"schema": record(dict.fromkeys(_FIELDS, "string"), required=["title"])},
            },
            [{"page": f"{url}/issue{row['id']}", **{name: row[name] for name in _FIELDS}} for row in issues[:20]],
            at="page",
        ),
        Case(
            "one issue",
            "single",
            {
                "url": f"{url}/issue9",
                "extract": {"schema": record(dict.fromkeys(_FIELDS, "string"), required=["title"])},
            },
            [{name: issues[8][name] for name in _FIELDS}],
        ),
        *_logins(url, database),
    ]
    columns = {"id": {"column": "ID"}, "title": {"column": "Title"}, "status": {"column": "Status"}}
    return [*cases, cases[0].with_places(columns, records="table.list tr:has(td a)", next="next")]


_FIELDS = ("title", "priority", "status", "assigned_to")


def _logins(url: str, database: Path) -> Iterator[Case]:
    def people() -> str:
        names = [row["_username"] for row in rows(database, "SELECT _username FROM _user ORDER BY id")]
        expected = ["admin", "anonymous", "ada", "bruno", "chloe"]
        return "" if names == expected else f"accounts are now {names}"

    good: Json = {"login name": "ada", "password": "correct horse 7"}
    yield Case("log in", "login", {"url": f"{url}/", "goal": "log in", "data": good}, check=people)
    yield Case(
        "log in with a wrong password",
        "login",
        {"url": f"{url}/", "goal": "log in", "data": {**good, "password": "wrong"}},
        succeeds=False,
        check=people,
    )
