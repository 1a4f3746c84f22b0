"""Named SQL: `common.sql`, and one file for each database where they differ.

A query is `-- name: NAME`, a comment that says what it does, then the statement. Parameters are `:name`. A parameter
that holds many values is an array on PostgreSQL and JSON text on SQLite (`Tx.many` makes either); `id in many(:ids,
bigint)` asks for those rows on both. `{QUEUED}` is the number of a `State`,
`{DELIVERY_DEAD}` that of a `DeliveryState`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from shoal.services.store.database.states import with_numbers

_HEAD = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_MANY = re.compile(r"\bin many\(:(\w+), (\w+)\)")
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")


@cache
def load(dialect: str) -> dict[str, str]:
    """Every query for `sqlite` or `postgresql` as its driver wants it, by name."""
    queries = {name: with_numbers(sql) for name, (_, sql) in (read("common") | read(dialect)).items()}
    if dialect == "sqlite":
        return {name: _MANY.sub(r"in (select value from json_each(:\1))", sql) for name, sql in queries.items()}
    return {name: _for_psycopg(sql) for name, sql in queries.items()}


def _for_psycopg(sql: str) -> str:
    sql = _MANY.sub(r"= any(cast(:\1 as \2[]))", sql)
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


def read(name: str) -> dict[str, tuple[str, str]]:
    """The queries of one file: name to (what it does, statement).

    Raises:
        ValueError: a query has no sentence, or its name is used twice.
    """
    parts = _HEAD.split((files(__package__) / f"{name}.sql").read_text("utf-8"))
    found: dict[str, tuple[str, str]] = {}
    for query, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = body.strip().splitlines()
        says = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
        if not says or query in found:
            raise ValueError(f"{name}.sql: query {query!r} needs a sentence and a name of its own")
        found[query] = (" ".join(says), "\n".join(line for line in lines if not line.startswith("--")))
    return found
