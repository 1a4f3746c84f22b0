"""Changes of a database's schema by Alembic, from code: no alembic.ini is needed."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from shoal.services.errors import StoreOutdated


def upgrade(conn: Connection, current: str | None) -> None:
    """Bring the schema from `current`, None for an empty database, to this program's.

    Raises:
        StoreOutdated: no revision of this program has that name.
    """
    config = config_for(conn)
    if current is not None and current not in revisions(config):
        raise StoreOutdated(f"the database has schema version {current}, which this program does not know")
    command.upgrade(config, "head")


def revisions(config: Config) -> list[str]:
    """Return this program's revisions, newest first."""
    return [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]


def config_for(conn: Connection | None = None) -> Config:
    """Return Alembic's settings for this program's revisions on an open connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = conn
    return config
