"""Brings a database's schema up to date, from code: no alembic.ini is needed."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from shoal.services.errors import StoreOutdated
from shoal.services.store.database.database import Database, away, is_away

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
            current, known = _versions(conn)
            if current == known.get_current_head():
                return
            if current in _UNRELEASED:
                raise _unreleased(current)
            if current is not None and current not in {script.revision for script in known.walk_revisions()}:
                raise StoreOutdated(f"the database has schema version {current}, which this program does not know")
            command.upgrade(config_for(conn), "head")
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
            current, known = _versions(conn)
    except DBAPIError as err:
        if is_away(err):
            raise away(database.writer.url, err) from err
        raise
    if current in _UNRELEASED:
        raise _unreleased(current)
    if current != known.get_current_head():
        raise StoreOutdated(
            f"the database has schema version {current or 'none'}, this program needs {known.get_current_head()}; "
            "run `shoal migrate`"
        )


def _unreleased(version: str) -> StoreOutdated:
    return StoreOutdated(
        f"the database has schema version {version}, from before the first release; this program needs 0017 or later. "
        "Set SHOAL_STORE_URL to an empty database, or bring this one to 0017 first: "
        "docs/operations/upgrade.md names the commit whose `shoal migrate` does that"
    )


def _versions(conn: Connection) -> tuple[str | None, ScriptDirectory]:
    return MigrationContext.configure(conn).get_current_revision(), ScriptDirectory.from_config(config_for(conn))


def config_for(conn: Connection) -> Config:
    """Alembic's settings for this program's revisions on an open connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = conn
    return config
