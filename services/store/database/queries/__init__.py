"""Named SQL: `common.sql`, and one file for each database where they differ.

A query is `-- name: NAME`, a comment that says what it does, then the statement. Parameters are `:name`. A parameter
that holds many values is an array on PostgreSQL and JSON text on SQLite (`Tx.many` makes either). `{QUEUED}` is the
number of a `State`, `{DELIVERY_DEAD}` that of a `DeliveryState`.

One text serves both databases:

| in the text | PostgreSQL | SQLite |
| --- | --- | --- |
| `in many(:ids, bigint)` | the rows of an array | the rows of a JSON list |
| `from values_of(:ids, bigint)` | the column `value`, of an array | the column `value`, of a JSON list |
| `rows(id bigint, 0, name text order by id)` | all rows of the JSON text `:rows`, at once | the values of one row |
| `= any(array(select …))` | as it is: found once, then looked up | `in (select …)` |
| `for update`, `for no key update`, … | as it is | left out: it has one writer |
| `indexed by …` | left out: it knows its figures | as it is |
| `collate "C"` | as it is: the order of bytes | left out: its own order is that one |
| `strpos(…)`, `string_agg(…)`, `chr(…)` | as it is | `instr(…)`, `group_concat(…)`, `char(…)` |

`Tx.each` runs a query for many rows: once where PostgreSQL's text has `:rows`, else once for each row.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from shoal.services.store.database.states import with_numbers

_HEAD = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_MANY = re.compile(r"\bin many\(:(\w+), (\w+)\)")
_VALUES_OF = re.compile(r"\bvalues_of\(:(\w+), (\w+)\)")
_ROWS = re.compile(r"\brows\(([^()]+?)(?:\s+order by (\w+)( \w+)?)?\)")
_ARRAY = "= any(array("
_LOCK = re.compile(r"\s+for (?:no key )?update\b(?: of \w+)?(?: skip locked)?")
_HINT = re.compile(r" indexed by \w+")
_COLLATION = ' collate "C"'
_SQLITE_NAMES = {"strpos": "instr", "string_agg": "group_concat", "chr": "char"}
_FUNCTION = re.compile(rf"\b({'|'.join(_SQLITE_NAMES)})(?=\()")
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")


@cache
def load(dialect: str) -> dict[str, str]:
    """Every query for `sqlite` or `postgresql` as its driver wants it, by name."""
    queries = {name: with_numbers(sql) for name, (_, sql) in (read("common") | read(dialect)).items()}
    translate = _for_sqlite if dialect == "sqlite" else _for_psycopg
    return {name: translate(sql) for name, sql in queries.items()}


def _for_sqlite(sql: str) -> str:
    sql = _MANY.sub(r"in (select value from json_each(:\1))", sql)
    sql = _VALUES_OF.sub(r"json_each(:\1)", sql)
    sql = _ROWS.sub(lambda match: f"values ({', '.join(_value(column, ':') for column in _columns(match))})", sql)
    sql = _FUNCTION.sub(lambda match: _SQLITE_NAMES[match[1]], sql.replace(_COLLATION, ""))
    return _LOCK.sub("", _without_arrays(sql))


def _for_psycopg(sql: str) -> str:
    sql = _MANY.sub(r"= any(cast(:\1 as \2[]))", sql)
    sql = _VALUES_OF.sub(r"unnest(cast(:\1 as \2[])) as value", sql)
    sql = _ROWS.sub(_from_json, _HINT.sub("", sql))
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


def _columns(rows: re.Match[str]) -> list[str]:
    """Return what stands between the commas of `rows(…)`: a name and its type, or a constant."""
    return [" ".join(column.split()) for column in rows[1].split(",")]


def _value(column: str, prefix: str) -> str:
    name, typed, _ = column.partition(" ")
    return prefix + name if typed else column


def _from_json(rows: re.Match[str]) -> str:
    columns = _columns(rows)
    named = [column for column in columns if " " in column] + ([rows[2] + rows[3]] if rows[3] else [])
    order = f" order by v.{rows[2]}" if rows[2] else ""
    return (
        f"select {', '.join(_value(column, 'v.') for column in columns)} "
        f"from json_to_recordset(cast(:rows as json)) as v ({', '.join(dict.fromkeys(named))}){order}"
    )


def _without_arrays(sql: str) -> str:
    """`in (select …)` in the place of each `= any(array(select …))`."""
    before, array, rest = sql.partition(_ARRAY)
    if not array:
        return sql
    depth = 1
    for end, letter in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return f"{before}in ({_without_arrays(rest[:end])}{_without_arrays(rest[end + 1 :])}"
    raise ValueError(f"a bracket is missing: {sql}")


def read(name: str) -> dict[str, tuple[str, str]]:
    """The queries of one file: name to (what it does, statement).

    Raises:
        ValueError: a query has no sentence, or its name is used twice.
    """
    parts = _HEAD.split((files(__package__) / f"{name}.sql").read_text("utf-8"))
    queries: dict[str, tuple[str, str]] = {}
    for query, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = body.strip().splitlines()
        says = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
        if not says or query in queries:
            raise ValueError(f"{name}.sql: query {query!r} needs a sentence and a name of its own")
        queries[query] = (" ".join(says), "\n".join(line for line in lines if not line.startswith("--")))
    return queries
