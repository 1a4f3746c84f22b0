"""One text for both databases wherever they can do the same."""

from __future__ import annotations

import re

import pytest

from shoal.services.store.database.queries import _for_psycopg, _for_sqlite, load, read


def test_a_query_is_kept_twice_only_where_the_databases_do_different_things() -> None:
    sqlite, postgresql = read("sqlite"), read("postgresql")
    assert not read("common").keys() & (sqlite.keys() | postgresql.keys()), "one text would hide the other"
    twice = sqlite.keys() & postgresql.keys()
    alike = [name for name in twice if _bare(sqlite[name][1]) == _bare(postgresql[name][1])]
    assert alike == [], "these belong into common.sql"


def _bare(sql: str) -> str:
    """A statement without what the loader adds or leaves out: casts, arrays, hints and locks."""
    sql = re.sub(r"cast\((:\w+) as \w+(?:\[\])?\)", r"\1", _for_sqlite(sql))
    sql = re.sub(r"= any\((:\w+)\)", r"in (select value from json_each(\1))", re.sub(r" indexed by \w+", "", sql))
    return " ".join(sql.split())


@pytest.mark.parametrize(
    ("written", "sqlite", "postgresql"),
    [
        (
            "delete from a where id in many(:ids, bigint)",
            "delete from a where id in (select value from json_each(:ids))",
            "delete from a where id = any(cast(%(ids)s as bigint[]))",
        ),
        (
            "insert into a (x) select value from values_of(:xs, text) where true",
            "insert into a (x) select value from json_each(:xs) where true",
            "insert into a (x) select value from unnest(cast(%(xs)s as text[])) as value where true",
        ),
        (
            "insert into a (x, y, z) rows(x text, 0, at double precision,\n  at double precision order by n integer)",
            "insert into a (x, y, z) values (:x, 0, :at, :at)",
            "insert into a (x, y, z) select v.x, 0, v.at, v.at from json_to_recordset(cast(%(rows)s as json)) as v "
            "(x text, at double precision, n integer) order by v.n",
        ),
        (
            "select 1 from a indexed by b where x = any(array(select y from c where z in (1, 2) for update of c "
            "skip locked)) order by x for no key update",
            "select 1 from a indexed by b where x in (select y from c where z in (1, 2)) order by x",
            "select 1 from a where x = any(array(select y from c where z in (1, 2) for update of c skip locked)) "
            "order by x for no key update",
        ),
        (
            "select string_agg(chr(65 + x), '') from a where strpos(y, :y) > 0 order by z collate \"C\"",
            "select group_concat(char(65 + x), '') from a where instr(y, :y) > 0 order by z",
            "select string_agg(chr(65 + x), '') from a where strpos(y, %(y)s) > 0 order by z collate \"C\"",
        ),
    ],
)
def test_what_one_text_becomes(written: str, sqlite: str, postgresql: str) -> None:
    assert _for_sqlite(written) == sqlite
    assert _for_psycopg(written) == postgresql


def test_rows_come_at_once_where_postgresql_has_a_text_for_them() -> None:
    assert "%(rows)s" in load("postgresql")["add_children"]
    assert "%(rows)s" not in load("postgresql")["put_job_pace"]
