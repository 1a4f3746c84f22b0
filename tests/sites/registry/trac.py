"""Trac, an issue tracker and wiki, with its account manager's login form."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records
from tests.sites.registry.database import rows

NAME = "Trac"
_PACKAGES = ("trac==1.6", "TracAccountManager==0.6.0", "setuptools<81")
_TICKETS = 57
_FIELDS = ("summary", "reporter", "owner", "priority", "component", "milestone", "keywords", "description")
_SEED = Path(__file__).with_name("programs") / "seed_trac.py"


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while a freshly filled Trac is served."""
    python = cache.pypi("trac", _PACKAGES)
    with tempfile.TemporaryDirectory(prefix="shoal-trac-") as temp:
        env = Path(temp) / "env"
        serving.run(python, "-m", "trac.admin.console", env, "initenv", "Office", "sqlite:db/trac.db")
        serving.run(python, _SEED, env)
        port = serving.free_port()
        command = [str(python), "-m", "trac.web.standalone", "-s", "--hostname=127.0.0.1", f"--port={port}", str(env)]
        with serving.program(command, port, cwd=Path(temp), path="/about") as url:
            yield _cases(url, env / "db" / "trac.db")


def _ticket(row: Json, url: str) -> Json:
    full = f"#{row['id']} {row['summary']}"
    return {
        "page": f"{url}/ticket/{row['id']}",
        **{name: row[name] or None for name in _FIELDS},
        "summary": either(row["summary"], full),
    }


def _cases(url: str, database: Path) -> list[Case]:
    tickets = rows(database, "SELECT * FROM ticket ORDER BY id")
    pages = rows(database, "SELECT DISTINCT name FROM wiki WHERE name LIKE 'Handbook%' ORDER BY name")
    fields = dict.fromkeys(_FIELDS, "string")
    few = ("summary", "reporter", "priority", "component")
    cases = [
        Case(
            "all tickets",
            "paged list",
            {
                "url": f"{url}/query?status=!closed&col=id&col=summary&col=owner&col=priority&col=component&order=id",
                "extract": {
                    "schema": records(
                        {"ticket": "string", **dict.fromkeys(("summary", "owner", "priority", "component"), "string")},
                        required=["ticket", "summary"],
                    )
                },
            },
            [
                {
                    "ticket": either(str(row["id"]), f"#{row['id']}"),
                    **{name: row[name] for name in ("summary", "owner", "priority", "component")},
                }
                for row in tickets
            ],
            key="summary",
        ),
        Case(
            "one ticket",
            "single",
            {"url": f"{url}/ticket/7", "extract": {"schema": record(fields, required=["summary"])}},
            [{name: value for name, value in _ticket(tickets[6], url).items() if name != "page"}],
        ),
        Case(
            "each ticket of some pages",
            "loop",
            {
                "url": f"{url}/query?status=!closed&col=id&col=summary&order=id",
                "loop": {"from": {"select": "td.summary a"}, "max_items": 24},
                "extract": {"schema": record(dict.fromkeys(few, "string"), required=["summary"])},
            },
            [{"page": f"{url}/ticket/{row['id']}", **{n: _ticket(row, url)[n] for n in few}} for row in tickets[:24]],
            at="page",
        ),
        Case(
            "each page of the handbook",
            "loop",
            {
                "url": f"{url}/wiki/TitleIndex?prefix=Handbook",
                "loop": {"from": {"select": ".titleindex a[href*=Handbook]"}},
                "extract": {"schema": record({"title": "string"}, required=["title"])},
            },
            [
                {"page": f"{url}/wiki/{page['name']}", "title": either(_heading(database, page["name"]), page["name"])}
                for page in pages
            ],
            at="page",
        ),
        *_forms(url, database),
    ]
    return [*cases, *_with_places({case.name: case for case in cases})]


def _with_places(cases: Mapping[str, Case]) -> Iterator[Case]:
    columns = {name: {"column": name.capitalize()} for name in ("ticket", "summary", "owner", "priority", "component")}
    yield cases["all tickets"].with_places(columns, records="table.tickets tbody tr", next=".paging .next a")
    places = {name: {"select": f"td[headers=h_{name}]"} for name in _FIELDS if name not in ("summary", "description")}
    yield cases["one ticket"].with_places(
        {
            **places,
            "summary": {"select": "h1 .summary, h2 .summary"},
            "description": {"select": ".description .searchable"},
        }
    )


def _heading(database: Path, page: str) -> str:
    (row,) = rows(database, "SELECT text FROM wiki WHERE name = ? ORDER BY version DESC LIMIT 1", page)
    return str(row["text"]).splitlines()[0].strip("= ")


def _forms(url: str, database: Path) -> Iterator[Case]:
    ticket = {
        "summary": "Coffee machine drips",
        "description": "It drips on the floor.",
        "type": "task",
        "priority": "minor",
        "component": "paper",
    }

    def stored() -> str:
        found = rows(database, "SELECT * FROM ticket WHERE id > ?", _TICKETS)
        if len(found) != 1:
            return f"{len(found)} new tickets"
        differing = {name: found[0][name] for name, value in ticket.items() if found[0][name] != value}
        return f"the ticket differs: {differing}" if differing else ""

    def accounts() -> str:
        found = rows(database, "SELECT DISTINCT sid FROM session_attribute WHERE name = 'password'")
        names = sorted(row["sid"] for row in found)
        return "" if names == ["ada", "bruno"] else f"accounts are now {names}"

    yield Case(
        "a new ticket", "form", {"url": f"{url}/newticket", "goal": "create the ticket", "data": ticket}, check=stored
    )
    yield Case(
        "log in",
        "login",
        {"url": f"{url}/login", "goal": "log in", "data": {"username": "ada", "password": "correct horse 7"}},
        check=accounts,
    )
    yield Case(
        "log in with a wrong password",
        "login",
        {"url": f"{url}/login", "goal": "log in", "data": {"username": "ada", "password": "wrong"}},
        succeeds=False,
        check=accounts,
    )
