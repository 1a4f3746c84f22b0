"""Databases that have today's schema from the start: copies of one that was migrated once.

To migrate takes 40 ms of CPU, and there are thousands of tests. `tests/migration` does the real thing.
"""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from shoal.services.store import store
from shoal.services.store.database.database import Database
from shoal.services.store.database.migrate import bring_up


@contextmanager
def sqlite_copies() -> Iterator[None]:
    """Each SQLite database that `open_store` finds empty becomes a copy."""
    with tempfile.TemporaryDirectory(prefix="shoal-template-") as folder, pytest.MonkeyPatch.context() as patch:
        template = Path(folder) / "shoal.db"
        _make(template)
        patch.setattr(store, "bring_up", _copying(template))
        yield


def _make(template: Path) -> None:
    database = Database(f"sqlite:///{template}", None)
    bring_up(database)
    database._close()  # on the way it writes back what lies in the write-ahead log


def _copying(template: Path) -> Callable[[Database], None]:
    source = sqlite3.connect(template, check_same_thread=False)
    content = template.read_bytes()
    one_at_a_time = threading.Lock()

    def bring_up_or_copy(database: Database) -> None:
        name = database.writer.url.database  # None: in memory
        if not database.is_sqlite or (name and Path(name).stat().st_size):
            bring_up(database)
        elif name:
            Path(name).write_bytes(content)  # nothing has opened the file yet
        else:
            with closing(database.writer.raw_connection()) as connection, one_at_a_time:
                source.backup(connection.driver_connection)

    return bring_up_or_copy
