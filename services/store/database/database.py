"""Connections and threads: runs transactions of either database without blocking the event loop.

SQLite has one writer thread with one connection (`BEGIN IMMEDIATE`: a transaction that reads first and writes later
fails with "busy" whatever its timeout) and a few reading ones. PostgreSQL has a small pool, one thread per connection.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, QueuePool, StaticPool, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, InterfaceError, OperationalError

from shoal.services.errors import BadSetting, StoreAway, StoreBroken
from shoal.services.private import make_file, make_folder
from shoal.services.store.database import codec
from shoal.services.store.database.cache import Caches
from shoal.services.store.database.change_notifier import ChangeNotifier, PollingNotifier
from shoal.services.store.database.queries import load
from shoal.services.store.database.transaction import Operation, Tx

T = TypeVar("T")
Clock = Callable[[], float]

_BUSY_TIMEOUT_MS = 15_000
"""Milliseconds that SQLite waits for another process that writes."""
_READERS = 4
_CONNECTIONS = 8
"""PostgreSQL connections of one process: a gateway's short reads beside a dispatcher's claim and commit."""
_PLANNING = (
    "timezone=UTC",
    "jit=off",  # compiling a plan costs more than these short statements take
    "enable_seqscan=off",
    "enable_bitmapscan=off",
)
"""Options of PostgreSQL's planner: each frequent query has its index, and each statement is planned anew (none is
prepared). A plan kept from when the table of sessions was nearly empty read a million sessions for each of its
partitions: until PostgreSQL counts its rows anew, a minute later, it does not know how full a table has become. Bitmaps
read again and again what has left an index since the last vacuum; a plain scan marks it as dead, and reads it once.
"""
_SILENT_S = 15.0
"""For how long a transaction may ask for nothing; between two statements are milliseconds. By TCP a server notices only
after two hours that a machine was cut off, and until then the rows that it has locked stay locked."""
_TRIES = 5
"""After a deadlock or a race for the same key the transaction runs again."""
_RACES = ("40001", "40P01")
_READ_ONLY = "25006"
_DISK_FULL = "53100"
_QUERY_CANCELED = "57014"
"""SQLSTATEs (PostgreSQL's manual, appendix A): the classes of psycopg need its import, a tenth of a second of CPU."""
_LEAST_FREE = 1024 * 1024
"""Bytes that SQLite's log needs at least to take a commit of some outcomes."""
_PROBE = "store/probe"
"""Name of the row that is written to see whether anything can be."""
_MOVED = "the database {where} was moved or removed while it was open: end Shoal, and put it back"
_FULL = "the disk of {where} is full: make room there; what runs keeps its outcomes until then"
_CLOCK_AGE_S = 60.0
"""Seconds that a comparison with PostgreSQL's clock may be old."""


class Database:
    """One database, through which every transaction of a store goes."""

    def __init__(self, url: str, clock: Clock | None) -> None:
        self.caches = Caches()
        self._closed = False
        self._file: tuple[int, int] | None = None  # of SQLite: its device and number
        self._url = _parse(url)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._open_sqlite()
        else:
            self._open_postgresql()
        self._clock = clock
        self._server_clock = ServerClock()

    def _open_sqlite(self) -> None:
        self.writer = _sqlite_engine(self._url, begin="BEGIN IMMEDIATE")
        self._writing = ThreadPoolExecutor(1, "store-write")
        if self.writer.url.database:
            self.reader = _sqlite_engine(self._url, begin="BEGIN")
            self._reading = ThreadPoolExecutor(_READERS, "store-read")
        else:  # a database in memory is its one connection
            self.reader, self._reading = self.writer, self._writing
        self.notifier: ChangeNotifier = PollingNotifier(self.writer, self._writing)

    def _open_postgresql(self) -> None:
        self.writer = self.reader = create_engine(
            self._url,
            poolclass=QueuePool,
            pool_size=_CONNECTIONS,
            max_overflow=0,
            hide_parameters=True,  # a failed statement must not put what jobs hold into the log
            connect_args={
                "connect_timeout": 5,
                "application_name": "shoal",
                "tcp_user_timeout": 30_000,
                "prepare_threshold": None,
                "options": " ".join(
                    f"-c {setting}"
                    for setting in (*_PLANNING, f"idle_in_transaction_session_timeout={_SILENT_S * 1000:.0f}")
                ),
            },
        )
        event.listen(self.writer, "handle_error", _leave_if_useless)
        self._single = self.writer.execution_options(isolation_level="AUTOCOMMIT")  # the same connections
        self._writing = self._reading = ThreadPoolExecutor(_CONNECTIONS, "store")
        listening = import_module("shoal.services.store.database.listening_notifier")
        self.notifier = listening.ListeningNotifier(self._url)

    def _now(self, conn: Connection) -> float:
        """Seconds since the epoch, by PostgreSQL's clock, since several machines share its rows."""
        if self._clock:
            return self._clock()
        return time.time() if self.is_sqlite else self._server_clock.now(conn)

    async def read(self, work: Operation[T]) -> T:
        """Runs a transaction that only reads."""
        return await self._in_thread(self._reading, lambda: self._run(self.reader, work))

    async def write(
        self, work: Operation[T], *, ids: Mapping[str, int] | None = None, hosts: Collection[str] = ()
    ) -> T:
        """Runs a transaction that writes.

        `ids` reserves so many ids in a row from each counter, `hosts` gives each host name an id; both are in `Tx`.
        """
        return await self._in_thread(self._writing, lambda: self.write_now(work, ids=ids or {}, hosts=hosts))

    def write_now(self, work: Operation[T], *, ids: Mapping[str, int], hosts: Collection[str]) -> T:
        """`write`, for a caller who is in a thread of this database already."""
        numbers = {host: self.caches.domains.get(host) for host in hosts}
        known = {host: number for host, number in numbers.items() if number is not None}
        unknown = sorted(numbers.keys() - known.keys())
        ids = {name: n for name, n in ids.items() if n}
        if self.is_sqlite:
            return self._run(self.writer, lambda tx: work(_prepared(tx, ids, unknown, known)))
        if ids or unknown:
            # Each statement by itself, so that a long fan-out does not keep other writers from these rows.
            before = self._run(self._single, lambda tx: _prepared(tx, ids, unknown, known))
            return self._run(self.writer, work, before=before)
        return self._run(self.writer, lambda tx: work(_prepared(tx, {}, [], known)))

    def _run(self, engine: Engine, work: Operation[T], before: Tx | None = None) -> T:
        for attempt in range(_TRIES):
            try:
                with engine.begin() as conn:
                    tx = Tx(conn, self._now(conn), self.caches)
                    if before:
                        tx.first, tx.hosts = before.first, before.hosts
                    result = work(tx)
                    tx.flush()
            except DBAPIError as err:
                if _is_race(err) and attempt + 1 < _TRIES:
                    continue
                if is_away(err):
                    raise away(self._url, err) from err
                raise
            for host, number in tx.hosts.items():
                self.caches.domains.put(host, number)
                self.caches.hosts.put(number, host)
            if tx.changed:
                self.notifier.notify()
            return result
        raise AssertionError("unreachable")

    def note_file(self) -> None:
        """Notes which file this is, once it has been made."""
        if self.is_sqlite and self._url.database:
            self._file = _file_at(self._url.database)

    async def probe(self) -> None:
        """Returns once something was written.

        Raises:
            StoreAway: nothing can be; the message says why, and what to do.
            StoreBroken: and no waiting mends that.
        """
        if self.is_sqlite and self._url.database:
            if self._file != await asyncio.to_thread(_file_at, self._url.database):
                raise StoreBroken(_MOVED.format(where=self._url.database))  # writes would succeed, and be lost
            free = await asyncio.to_thread(_free_beside, self._url.database)
            if free is not None and free < _LEAST_FREE:  # a small write may still fit where the next outcome does not
                raise StoreAway(_FULL.format(where=self._url.database))
            try:
                await asyncio.to_thread(_read_anew, self._url.database)
            except sqlite3.DatabaseError as err:
                raise _sqlite_away(self._url.database, err) from err
        await self.write(lambda tx: tx.run("put_state", name=_PROBE, data="{}", at=tx.now))

    async def call(self, work: Callable[[], T]) -> T:
        """Runs a function in the writing thread."""
        return await self._in_thread(self._writing, work)

    async def _in_thread(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        self.require_open()
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def require_open(self) -> None:
        """Raises StoreAway after `close`."""
        if self._closed:
            raise StoreAway("the store is closed")

    async def close(self) -> None:
        """Ends threads and connections; transactions under way end first."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self.notifier.close()
        self._reading.shutdown()
        self._writing.shutdown()
        self.reader.dispose()
        self.writer.dispose()


class ServerClock:
    """PostgreSQL's clock, asked every minute; in between it goes on by this machine's monotonic clock.

    That clock is never set: a step of the machine's time of day would end, or extend, every lease.
    """

    def __init__(self) -> None:
        self._asked: tuple[float, float] | None = None  # monotonic, and what the server said at that moment

    def now(self, conn: Connection) -> float:
        """Seconds since the epoch."""
        asked = self._asked  # several threads come here
        if asked is None or time.monotonic() - asked[0] > _CLOCK_AGE_S:
            before = time.monotonic()
            there = float(conn.exec_driver_sql(load("postgresql")["now"]).scalar_one())
            asked = self._asked = ((before + time.monotonic()) / 2, there)
        return asked[1] + time.monotonic() - asked[0]


def _parse(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError as err:
        raise BadSetting(f"not a database URL: {text.split(':', 1)[0]}:…") from err
    backend = url.drivername.split("+")[0]
    if backend == "sqlite":
        return url.set(drivername="sqlite+pysqlite")
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise BadSetting(f"{backend!r} is no database that the store knows: use sqlite:///PATH or postgresql://…")


def _sqlite_engine(url: URL, *, begin: str) -> Engine:
    path = url.database if url.database != ":memory:" else None
    if path:
        make_folder(Path(path).parent)
        with suppress(OSError):  # SQLite says what is wrong, when it opens the file
            make_file(Path(path))  # what it puts beside that is as open as the file itself
    engine = create_engine(
        url.set(database=path),
        poolclass=QueuePool if path else StaticPool,
        hide_parameters=True,
        connect_args={"check_same_thread": False, "isolation_level": None, "cached_statements": 512},
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: DBAPIConnection, _: object) -> None:
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={_BUSY_TIMEOUT_MS}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "cache_size=-65536",
            "temp_store=MEMORY",
        ):
            cursor.execute(f"pragma {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _read_anew(path: str) -> None:
    """Reads the file's first page by a connection of its own: those that are open may have it in their caches.

    Only SQLite may open the file: when a process closes another descriptor of it, POSIX drops all locks of the process.

    Raises:
        sqlite3.DatabaseError: the file cannot be read, or is no database.
    """
    with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=rw", uri=True)) as connection:
        connection.execute("pragma schema_version").fetchone()


def _file_at(path: str) -> tuple[int, int] | None:
    """Return what tells a file from another that takes its place; None where there is none."""
    try:
        file_stat = Path(path).stat()
    except FileNotFoundError:
        return None
    return file_stat.st_dev, file_stat.st_ino


def _free_beside(path: str) -> int | None:
    """Bytes that are free where a file lies; None where its folder is gone."""
    try:
        return shutil.disk_usage(Path(path).absolute().parent).free
    except FileNotFoundError:
        return None


def _prepared(tx: Tx, ids: Mapping[str, int], unknown: list[str], known: Mapping[str, int]) -> Tx:
    """`tx` with its ids reserved and its host names known."""
    if ids:
        last = tx.rows("reserve", counts=codec.dump_json(ids))
        tx.first = {row.name: row.value - ids[row.name] + 1 for row in last}
    tx.hosts = known
    tx.know_hosts(unknown)
    return tx


def _leave_if_useless(context: ExceptionContext) -> None:
    """Connections to a server that only reads lead nowhere, and would for ever: it was the primary before a failover.

    They are all given up, so that the next ones find who is the primary now.
    """
    if _sqlstate(context.original_exception) == _READ_ONLY:
        context.is_disconnect = True


def _sqlstate(cause: BaseException | None) -> str | None:
    return getattr(cause, "sqlstate", None)


def _is_race(err: DBAPIError) -> bool:
    """Return whether the same transaction may well succeed now."""
    return isinstance(err, IntegrityError) or _sqlstate(err.orig) in _RACES


def is_away(err: DBAPIError) -> bool:
    """Return whether the database cannot be reached or used, rather than the statement being wrong."""
    cause: Any = err.orig
    if isinstance(cause, sqlite3.OperationalError):
        return getattr(cause, "sqlite_errorname", "") != "SQLITE_ERROR"
    if isinstance(cause, sqlite3.DatabaseError):
        return type(cause) is sqlite3.DatabaseError  # not a database, or a damaged one
    return err.connection_invalidated or isinstance(err, OperationalError | InterfaceError)


def away(url: URL, err: DBAPIError) -> StoreAway:
    """Return what is wrong with a database that `is_away`: where, and what to do."""
    cause: Any = err.orig
    if isinstance(cause, sqlite3.DatabaseError):
        return _sqlite_away(url.database or "", cause)
    if _sqlstate(cause) == _READ_ONLY:
        return StoreAway(
            f"the database server {url.host or ''} only reads: name the primary in SHOAL_STORE_URL, "
            "or take default_transaction_read_only off"
        )
    if _sqlstate(cause) == _DISK_FULL:
        return StoreAway(_FULL.format(where=f"the database server {url.host or ''}"))
    if _sqlstate(cause) == _QUERY_CANCELED:
        return StoreAway(f"the database server ended a statement ({cause}): is statement_timeout too short?")
    return StoreAway(f"the database does not answer: {cause}")


def _sqlite_away(path: str, cause: sqlite3.DatabaseError) -> StoreAway:
    name = getattr(cause, "sqlite_errorname", "") or ""
    if name == "SQLITE_READONLY_DBMOVED":
        return StoreBroken(_MOVED.format(where=path))
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")):
        return StoreBroken(
            f"the database {path} is damaged ({cause}): end Shoal, and restore the file from a backup, "
            f"or save what can be read of it with `sqlite3 {path} .recover`"
        )
    if name == "SQLITE_FULL":
        return StoreAway(_FULL.format(where=path))
    if name.startswith("SQLITE_READONLY"):
        return StoreAway(f"the database {path} can only be read: allow this user to write it, its folder and its disk")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        waited_s = _BUSY_TIMEOUT_MS / 1000
        return StoreAway(f"the database {path} is locked: another program has held it for {waited_s:g} s; end that")
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM")):
        return StoreAway(f"the database {path} cannot be opened: allow this user to write it and its folder")
    return StoreAway(f"the database {path} does not answer: {cause}")
