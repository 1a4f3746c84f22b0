"""Datasette, a browser of SQLite databases: paged tables with labels of other tables' rows, rows, JSON and CSV."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records
from tests.sites.registry.database import rows

NAME = "Datasette"
_PACKAGES = ("datasette==0.65.1", "setuptools==80.9.0")
_FIELDS = {"id": "integer", "name": "string", "weight": "number", "station": "string", "seen": "string"}
_STATIONS = ("Cape North", "Lake House", "Old Pier")
_BIRDS = ("Arctic tern", "Grey heron", "Common crane", "Little auk", "Sand martin")
_COUNT = 130


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the database is served."""
    with birds(_COUNT) as (url, database):
        yield list(_cases(url, database))


@contextmanager
def birds(count: int) -> Iterator[tuple[str, Path]]:
    """The address of a database with so many sightings of birds, and its file, while it is served."""
    python = cache.pypi("datasette", _PACKAGES)
    with tempfile.TemporaryDirectory(prefix="shoal-datasette-") as temp:
        database = Path(temp) / "birds.db"
        _seed(database, count)
        port = serving.free_port()
        command = [str(python), "-m", "datasette", "serve", str(database), "--port", str(port), "--setting",
                   "num_sql_threads", "1"]  # fmt: skip
        with serving.program(command, port, cwd=Path(temp)) as url:
            yield url, database


def _seed(database: Path, count: int) -> None:
    chance = random.Random(18)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE station (id INTEGER PRIMARY KEY, name TEXT, height INTEGER)")
        connection.execute(
            "CREATE TABLE sighting (id INTEGER PRIMARY KEY, name TEXT, weight REAL, station INTEGER REFERENCES "
            "station(id), seen TEXT, note TEXT)"
        )
        stations = [(n, name, 10 * n) for n, name in enumerate(_STATIONS, 1)]
        connection.executemany("INSERT INTO station VALUES (?, ?, ?)", stations)
        for n in range(1, count + 1):
            note = "ringed" if n % 4 == 0 else None
            values = (n, f"{chance.choice(_BIRDS)} {n}", chance.randrange(200, 90000) / 10, chance.randrange(1, 4),
                      f"2026-{chance.randrange(1, 10):02d}-{chance.randrange(1, 28):02d}", note)  # fmt: skip
            connection.execute("INSERT INTO sighting VALUES (?, ?, ?, ?, ?, ?)", values)


def _cases(url: str, database: Path) -> Iterator[Case]:
    found = rows(
        database,
        "SELECT sighting.*, station.name AS at FROM sighting JOIN station ON station.id = station ORDER BY sighting.id",
    )
    shown = [_record_of(row) for row in found]
    extract = {"schema": records(_FIELDS, required=["id", "name"])}
    table = Case("all sightings", "paged list", {"url": f"{url}/birds/sighting", "extract": extract}, shown, key="id")
    yield table
    yield table.with_places({name: {"column": name} for name in _FIELDS}, records="table.rows-and-columns tbody tr")
    yield Case(
        "stations",
        "table",
        {"url": f"{url}/birds/station", "extract": {"schema": records({"name": "string", "height": "integer"})}},
        [{"name": name, "height": 10 * n} for n, name in enumerate(_STATIONS, 1)],
        key="name",
    )
    one = {"schema": record(_FIELDS, required=["name"])}
    yield Case("sighting 7", "single", {"url": f"{url}/birds/sighting/7", "extract": one}, [_of_its_own_page(found[6])])
    yield Case(
        "each sighting",
        "loop",
        {
            "url": f"{url}/birds/sighting",
            "loop": {"from": {"select": "td.type-pk a"}, "max_items": 12},
            "extract": one,
        },
        [{"page": f"{url}/birds/sighting/{row['id']}", **_of_its_own_page(row)} for row in found[:12]],
        at="page",
    )
    yield from _documents(url, found)


def _record_of(row: Json) -> Json:
    own = {name: row[name] for name in _FIELDS if name != "station"}
    return {**own, "station": either(row["at"], f"{row['at']} {row['station']}")}


def _of_its_own_page(row: Json) -> Json:
    """A row's own page has the number of its station and not the name."""
    return {**_record_of(row), "station": str(row["station"])}


def _documents(url: str, found: list[Json]) -> Iterator[Case]:
    """The same as JSON and as CSV."""
    fields = {"id": "integer", "name": "string", "weight": "number", "note": "string"}
    plain = [{name: row[name] for name in fields} for row in found]
    schema = records(fields, required=["id", "name"])
    json_list = Case(
        "all sightings as JSON",
        "list",
        {"url": f"{url}/birds/sighting.json?_shape=array&_size=max", "extract": {"schema": schema}},
        plain,
        key="id",
    )
    yield json_list
    yield json_list.with_places({name: {"json": f"$.{name}"} for name in fields}, records="$[*]")
    yield Case(
        "sighting 9 as JSON",
        "single",
        {"url": f"{url}/birds/sighting/9.json?_shape=array", "extract": {"schema": record(fields)}},
        [{name: value for name, value in plain[8].items() if value is not None}],
    )
    yield Case(
        "all sightings as CSV",
        "list",
        {"url": f"{url}/birds/sighting.csv?_size=max", "extract": {"schema": schema}},
        plain,
        key="id",
    )
