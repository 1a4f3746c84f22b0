"""Tables as files that libraries write: Parquet, Arrow's stream, and Excel's workbook.

Imported when one is asked for: pyarrow and xlsxwriter take 0.2 s and 60 MiB.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter
from pydantic_core import to_json

from shoal.agent.support.json_value import Json
from shoal.services.web.results.table import CHUNK, ExportTable, Row

GROUP_ROWS = 5_000
"""Rows of one Parquet row group."""
_TYPES = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64(), "text": pa.string()}
_LONGEST_CELL = 32_767
_WHOLE = 2**53
"""A spreadsheet's numbers are exact up to it; larger ones are texts."""


def parquet(table: ExportTable) -> Iterator[bytes]:
    """Yield the table as a Parquet file, one row group after the other."""
    sink, schema = _Pipe(), _schema(table)
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        yield from _groups(table, schema, sink, writer)
    yield sink.take_bytes()


def arrow(table: ExportTable) -> Iterator[bytes]:
    """Yield the table as a stream of Arrow's IPC format, one batch after the other."""
    sink, schema = _Pipe(), _schema(table)
    with pa.ipc.new_stream(sink, schema) as writer:
        yield from _groups(table, schema, sink, writer)
    yield sink.take_bytes()


def xlsx(table: ExportTable) -> Iterator[bytes]:
    """Yield the table as the one sheet of an Excel file, whose texts are never formulas or links."""
    columns = table.columns
    with tempfile.TemporaryFile() as file:
        options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        with xlsxwriter.Workbook(file, options) as book:
            sheet = book.add_worksheet("records")
            lines = chain((dict(zip(columns, table.titles, strict=True)),), table.rows())
            for line, row in enumerate(lines):
                for column, name in enumerate(columns):
                    _write_cell(sheet, line, column, row.get(name))
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk


def _schema(table: ExportTable) -> pa.Schema:
    names = zip(table.columns, table.titles, strict=True)
    return pa.schema([pa.field(title, _TYPES[table.column_kind(name)]) for name, title in names])


def _groups(
    table: ExportTable, schema: pa.Schema, sink: _Pipe, writer: pq.ParquetWriter | pa.RecordBatchStreamWriter
) -> Iterator[bytes]:
    columns = table.columns
    for group in _grouped(table.rows(), GROUP_ROWS):
        arrays = [
            pa.array([_as(field.type, row.get(name)) for row in group], type=field.type)
            for name, field in zip(columns, schema, strict=True)
        ]
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
        yield sink.take_bytes()


def _as(kind: pa.DataType, value: Json) -> Json:
    """Return `value` as its column takes it: in a column of several kinds, what is no text is JSON text."""
    if value is None or not pa.types.is_string(kind) or isinstance(value, str):
        return value
    return to_json(value).decode()


def _write_cell(sheet: xlsxwriter.worksheet.Worksheet, line: int, column: int, value: Json) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(line, column, value)
    elif isinstance(value, int | float) and abs(value) <= _WHOLE:
        sheet.write_number(line, column, value)
    else:
        text = value if isinstance(value, str) else to_json(value).decode()
        shortened = text if len(text) <= _LONGEST_CELL else f"({len(text):,} characters: more than a cell can have)"
        sheet.write_string(line, column, shortened)


def _grouped(rows: Iterator[Row], size: int) -> Iterator[Sequence[Row]]:
    group: list[Row] = []
    for row in rows:
        group.append(row)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


class _Pipe(io.RawIOBase):
    """A file that is only appended to, and whose bytes are taken away as they come; its position counts on."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._position += len(part)
        return len(part)

    def take_bytes(self) -> bytes:
        """Return what was written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
