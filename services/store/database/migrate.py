"""The version of a database's schema: asked for at each start, and brought up to this program's."""

from __future__ import annotations

from importlib import import_module

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from shoal.services.errors import StoreOutdated
from shoal.services.store.database.database import Database, away, is_away

HEAD = "0035"
"""The newest revision of `migrations`, which this program needs."""
_LOCK = 357859247437
"""PostgreSQL's advisory lock for migrations: two processes that start together migrate one after the other."""
_UNRELEASED = frozenset(f"{number:04}" for number in range(1, 17))
"""Revisions of before the first release. The first release makes all tables in one revision, 0017."""


async def migrate(url: str) -> None:
    """Makes the tables of the database at `url`, or changes them to this program's.

    Raises:
        StoreAway: the database does not answer.
        StoreOutdated: the schema is newer than this program, or older than its first release.
    """
    database = Database(url, None)
    try:
        await database.call(lambda: bring_up(database))
    finally:
        await database.close()


def bring_up(database: Database) -> None:
    """`migrate`, in the calling thread."""
    try:
        with database.writer.begin() as conn:
            if not database.is_sqlite:
                conn.exec_driver_sql(f"select pg_advisory_xact_lock({_LOCK})")
            current = _version(conn)
            if current == HEAD:
                return
            if current in _UNRELEASED:
                raise _unreleased(current)
            # Only here: Alembic takes 0.1 s to import, and most starts find the schema as it should be.
            import_module("shoal.services.store.database.upgrade").upgrade(conn, current)
    except DBAPIError as err:
        if is_away(err):
            raise away(database.writer.url, err) from err
        raise


def check_version(database: Database) -> None:
    """Makes sure that the schema is this program's.

    Raises:
        StoreAway: the database does not answer.
        StoreOutdated: it is another one.
    """
    try:
        with database.reader.begin() as conn:
            current = _version(conn)
    except DBAPIError as err:
        if is_away(err):
            raise away(database.writer.url, err) from err
        raise
    if current in _UNRELEASED:
        raise _unreleased(current)
    if current != HEAD:
        raise StoreOutdated(
            f"the database has schema version {current or 'none'}, this program needs {HEAD}; run `shoal migrate`"
        )


def _unreleased(version: str) -> StoreOutdated:
    return StoreOutdated(
        f"the database has schema version {version}, from before the first release; this program needs 0017 or later. "
        "Set SHOAL_STORE_URL to an empty database, or bring this one to 0017 first: "
        "docs/operations/upgrade.md names the commit whose `shoal migrate` does that"
    )


def _version(conn: Connection) -> str | None:
    """Return the revision that Alembic has noted; None for a database without tables."""
    if not inspect(conn).has_table("alembic_version"):
        return None
    version: str | None = conn.scalar(text("select version_num from alembic_version"))
    return version
