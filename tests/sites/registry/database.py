"""The application's own database, for the truth."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from shoal.agent.support.json_value import Json


def rows(database: Path, query: str, *values: Json) -> list[Json]:
    """Return what a SQLite database answers to `query`, each row by column name."""
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query, values)]
