"""Records as rows of a PostgreSQL table, which is made from the schema and gets the columns that it lacks.

With a key, one record has one row, which a later job writes anew and an earlier one leaves alone. Without a key, and
where a record lacks a part of its key, a row is known by its job and its place among the job's records. So a batch that
is written again changes nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Sequence
from decimal import Decimal
from typing import LiteralString

import certifi
import psycopg
from psycopg import sql
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from shoal.agent.spec import PostgresSink
from shoal.agent.support.json_value import Json
from shoal.services.sinks.columns import Kind, as_text, fits, moment, top_row
from shoal.services.sinks.fault import SinkFault
from shoal.services.sinks.run import SinkProgress, SinkRecord, SinkRun
from shoal.services.webhooks.checked_http import CheckedHttp, NotReached

_CONNECT_S = 10
_STATEMENT_S = 60
_NOWHERE = "/dev/null/none"
"""A path under which no file can be."""
_CALL_S = 100.0
_TYPES: dict[Kind, LiteralString] = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "bigint",
    Kind.NUMBER: "numeric",
    Kind.DATE: "date",
    Kind.TIME: "timestamptz",
    Kind.TEXT: "text",
    Kind.JSON: "jsonb",
}
_KINDS = {
    "bool": Kind.BOOLEAN,
    **dict.fromkeys(("int2", "int4", "int8"), Kind.INTEGER),
    **dict.fromkeys(("float4", "float8", "numeric"), Kind.NUMBER),
    "date": Kind.DATE,
    "timestamptz": Kind.TIME,
    **dict.fromkeys(("text", "varchar", "bpchar"), Kind.TEXT),
    "jsonb": Kind.JSON,
}
"""Types that the columns of an existing table take."""
_WIDTHS = {"int2": 15, "int4": 31}
_OWN: tuple[tuple[str, LiteralString], ...] = (
    ("shoal_job", "text"),
    ("shoal_row", "bigint"),
    ("shoal_url", "text"),
    ("shoal_at", "text"),
    ("shoal_more", "jsonb"),
)
"""Columns for each row's origin, and for the values of its record that stand in no column: the table has none, or one
of another type.
"""

Connection = psycopg.AsyncConnection[TupleRow]


class PostgresTarget:
    """One table, over one connection."""

    flat = False
    replaces = False
    batch_records = 1_000
    batch_bytes = 4 << 20

    def __init__(self, sink: PostgresSink, password: str | None, http: CheckedHttp, run: SinkRun) -> None:
        self._sink = sink
        self._place = sink.place
        self._password = password
        self._http = http
        self._run = run
        self._connection: Connection | None = None
        self._kinds: dict[str, tuple[Kind, str]] = {}  # of the columns that are written, with their types
        self._table = sql.Identifier(*sink.table.split("."))

    async def begin(self, progress: SinkProgress) -> None:
        await self._call(self._begin(progress))

    async def write(self, batch: Sequence[SinkRecord], progress: SinkProgress) -> None:
        await self._call(self._write(batch, progress))

    async def finish(self, progress: SinkProgress) -> None:
        """Rows are there as soon as their batch is."""

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def _call(self, work: object) -> None:
        """Await `work`; raise what the server refuses as a `SinkFault`."""
        try:
            async with asyncio.timeout(_CALL_S):
                await work  # type: ignore[misc]
        except TimeoutError:
            raise SinkFault(f"{self._place} does not answer within {_CALL_S:g} s") from None
        except NotReached as error:
            raise SinkFault(str(error), final=error.refused) from error
        except psycopg.Error as error:
            message = " ".join(str(error).replace(str(self._password or "\0"), "(hidden)").split())
            raise SinkFault(f"{self._place}: {message[:500]}") from error

    async def _begin(self, progress: SinkProgress) -> None:
        sink = self._sink
        known = {column.name for column in progress.columns}
        missing = [name for name in sink.key if name not in known]
        if missing and not progress.records:  # nothing is known of columns, and nothing is to be written
            return
        if missing:
            raise SinkFault(f"`key` names {missing[0]!r}, which is no field of the records", final=True)
        address = await self._http.place(sink.host, sink.port, self._run.tenant)
        self._connection = connection = await psycopg.AsyncConnection.connect(
            host=sink.host,  # the name that the certificate must be for; the connection goes to the checked address
            hostaddr=address,
            port=sink.port,
            dbname=sink.database,
            user=sink.user,
            password=self._password or "-",  # an empty one would be taken from the gateway's own environment
            sslmode="verify-full" if sink.tls else "disable",
            sslrootcert=ssl.get_default_verify_paths().cafile or certifi.where(),
            connect_timeout=_CONNECT_S,
            options=f"-c statement_timeout={_STATEMENT_S * 1000} -c client_encoding=utf8",
            application_name="shoal-sink",
            # Nothing that belongs to the gateway's user is shown to a server that a tenant names.
            passfile=_NOWHERE,
            sslcert=_NOWHERE,
            gssencmode="disable",
            require_auth="scram-sha-256,md5,password,none",
            autocommit=True,
        )
        async with connection.transaction():
            await self._make(connection, progress)
        there = await self._read(connection)
        self._kinds = {
            column.name: there[column.name]
            for column in progress.columns
            if not _is_own(column.name) and there[column.name][1] in _KINDS
        }

    async def _make(self, connection: Connection, progress: SinkProgress) -> None:
        """The table with its columns and indexes, where they are missing."""
        columns = [(name, sql.SQL(kind)) for name, kind in _OWN]
        columns += [
            (column.name, sql.SQL(_TYPES[column.kind])) for column in progress.columns if not _is_own(column.name)
        ]
        there = await self._read(connection)
        if not there:
            made = sql.SQL(", ").join(sql.SQL("{} {}").format(sql.Identifier(name), kind) for name, kind in columns)
            await connection.execute(sql.SQL("create table if not exists {} ({})").format(self._table, made))
        for name, kind in columns if there else ():
            if name not in there:
                add = sql.SQL("alter table {} add column if not exists {} {}")
                await connection.execute(add.format(self._table, sql.Identifier(name), kind))
        mark = hashlib.sha256("\0".join((self._sink.table, *self._sink.key)).encode()).hexdigest()[:12]
        for group, fields, where in (("row", self._row_key(), self._rowed()), ("key", self._field_key(), sql.SQL(""))):
            if fields is not None:
                index = sql.Identifier(f"shoal_{group}_{mark}")
                unique = sql.SQL("create unique index if not exists {} on {} {}{}")
                await connection.execute(unique.format(index, self._table, fields, where))

    async def _read(self, connection: Connection) -> dict[str, tuple[Kind, str]]:
        """The table's columns by name; none where there is no table."""
        cursor = await connection.execute(
            "select a.attname, t.typname from pg_attribute a join pg_type t on t.oid = a.atttypid "
            "where a.attrelid = to_regclass(%s) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''",
            [self._table.as_string(connection)],
        )
        # A column of another type takes nothing, and what it would hold goes to `shoal_more`.
        return {name: (_KINDS.get(kind, Kind.JSON), kind) for name, kind in await cursor.fetchall()}

    # --- rows -----------------------------------------------------------------------------------------

    async def _write(self, batch: Sequence[SinkRecord], progress: SinkProgress) -> None:
        assert self._connection is not None
        names = list(self._kinds)
        keyed, others = list[list[Json]](), list[list[Json]]()
        for record in batch:
            row = self._row(record, names)
            values = dict(zip(names, row[len(_OWN) :], strict=True))
            is_keyed = bool(self._sink.key) and all(values.get(name) is not None for name in self._sink.key)
            (keyed if is_keyed else others).append(row)
        async with self._connection.transaction(), self._connection.cursor() as cursor:
            if progress.batches == 0:  # what an earlier writing of this job has left, whose rows may have moved
                forget = sql.SQL("delete from {} where shoal_job = {}{}")
                where = sql.SQL(" and ({})").format(self._lacks_key()) if self._sink.key else sql.SQL("")
                await cursor.execute(forget.format(self._table, sql.Literal(self._run.job), where))
            if keyed:
                await cursor.executemany(self._upsert(names, self._field_key(), sql.SQL("")), keyed)
            if others:
                await cursor.executemany(self._upsert(names, self._row_key(), self._rowed()), others)

    def _row(self, record: SinkRecord, names: Sequence[str]) -> list[Json]:
        row = top_row(record.value)
        cells, more = [], {name: value for name, value in row.items() if name not in names and value is not None}
        for name in names:
            value = row.get(name)
            kind, typed = self._kinds[name]
            if value is not None and not _fits(value, kind, typed):
                more[name] = value
                value = None
            cells.append(_cell(value, kind))
        return [self._run.job, record.index, record.url, record.at, Jsonb(more) if more else None, *cells]

    def _upsert(self, names: Sequence[str], fields: sql.Composable | None, where: sql.Composable) -> sql.Composed:
        """An insert that writes the row anew where it is there already, unless a newer job wrote it."""
        assert fields is not None
        columns = [sql.Identifier(name) for name in (*(name for name, _ in _OWN), *names)]
        sets = sql.SQL(", ").join(sql.SQL("{} = excluded.{}").format(column, column) for column in columns)
        return sql.SQL(
            "insert into {table} as t ({columns}) values ({values}) on conflict {fields}{where} do update set {sets} "
            "where t.shoal_job is null or cast(substr(t.shoal_job, 2) as bigint) <= {number}"
        ).format(
            table=self._table,
            columns=sql.SQL(", ").join(columns),
            values=sql.SQL(", ").join([sql.Placeholder()] * len(columns)),
            fields=fields,
            where=where,
            sets=sets,
            number=sql.Literal(self._run.number),
        )

    def _field_key(self) -> sql.Composable | None:
        if not self._sink.key:
            return None
        return sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Identifier, self._sink.key)))

    def _row_key(self) -> sql.Composable:
        return sql.SQL("(shoal_job, shoal_row)")

    def _rowed(self) -> sql.Composable:
        """Which rows are known by their job and place."""
        return sql.SQL(" where {}").format(self._lacks_key()) if self._sink.key else sql.SQL("")

    def _lacks_key(self) -> sql.Composable:
        lacks = (sql.SQL("{} is null").format(sql.Identifier(name)) for name in self._sink.key)
        return sql.SQL("({})").format(sql.SQL(" or ").join(lacks))


def _is_own(name: str) -> bool:
    return any(name == own for own, _ in _OWN)


def _fits(value: Json, kind: Kind, typed: str) -> bool:
    if kind is Kind.TEXT:
        return True
    if not fits(value, kind):
        return False
    bits = _WIDTHS.get(typed)
    return bits is None or -(2**bits) <= value < 2**bits


def _cell(value: Json, kind: Kind) -> Json:
    if value is None:
        return None
    if kind is Kind.JSON:
        return Jsonb(value)
    if kind is Kind.TEXT:
        return as_text(value)
    if kind is Kind.NUMBER:
        return Decimal(repr(value))  # as it is written; a float would be rounded to 15 digits
    return moment(value, kind) if kind in (Kind.DATE, Kind.TIME) else value
