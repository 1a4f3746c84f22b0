"""The common part of every role of the store."""

from __future__ import annotations

from shoal.services.store.database.database import Database


class OnDatabase:
    """A part of the store."""

    def __init__(self, database: Database) -> None:
        self._db = database
