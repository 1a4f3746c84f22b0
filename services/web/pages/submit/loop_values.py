"""Values of a loop from a file: CSV or JSON lines, with its columns mapped."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from pydantic_core import from_json

from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput

SAMPLE_ROWS = 5
_SAMPLE_CHARS = 200
_MOST_ROWS, _MOST_COLUMNS, _MOST_CELLS = 100_000, 500, 1_000_000
_LONGEST_LINE = 1 << 17
"""Characters of one JSON line; Python's csv takes as many of one cell."""
_SNIFFED = 1 << 14


@dataclass(frozen=True, slots=True)
class TableFile:
    """The rows of a file, each with a value for each column that it has."""

    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, Json]]

    def sample(self) -> list[list[Json]]:
        """The first rows, by columns; long texts are cut."""
        return [[_clipped(row.get(column)) for column in self.columns] for row in self.rows[:SAMPLE_ROWS]]


def read_table(content: bytes) -> TableFile:
    """The table in a file: JSON lines where its first character says so, else CSV with a line of headers.

    Raises:
        BadInput: it is neither, with the line; or it has more rows, columns or cells than are taken.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _bad(f"the file is not UTF-8: byte {error.start} is no text") from None
    if "\0" in text:
        raise _bad("the file holds the character U+0000: it is no CSV and no JSON lines file")
    rows: list[Mapping[str, Json]] = []
    columns: dict[str, None] = {}
    cells = 0
    for row in _json_rows(text) if text.lstrip()[:1] in ("{", "[", '"') else _csv_rows(text):
        rows.append(row)
        columns |= dict.fromkeys(row)
        cells += len(row)
        for count, most, what in (
            (len(rows), _MOST_ROWS, "rows"),
            (len(columns), _MOST_COLUMNS, "columns"),
            (cells, _MOST_CELLS, "cells"),
        ):
            if count > most:
                raise _bad(f"the file has more than {most:,} {what}, which is the most that is taken: split it")
    if not rows:
        raise _bad("the file has no rows")
    return TableFile(tuple(columns), rows)


def loop_values(table: TableFile, mapping: Mapping[str, str]) -> list[str]:
    """The values of a loop.

    Args:
        mapping: name by column. One column with the name "": its texts are the values. Else each row is the details of
            one item, under these names.

    Raises:
        BadInput: a row lacks its value, or a column is not there.
    """
    if missing := [column for column in mapping if column not in table.columns]:
        raise _bad(f"there is no column {missing[0]!r}")
    if not mapping:
        raise _bad("no column was chosen")
    whole = [column for column, name in mapping.items() if not name]
    if whole and len(mapping) > 1:
        raise _bad("either one column is the value, or each chosen column has a name")
    if len(set(mapping.values())) < len(mapping):
        raise _bad("two columns have the same name")
    if whole:
        return [_value(row, whole[0], number) for number, row in enumerate(table.rows, 1)]
    return [
        json.dumps({name: row[column] for column, name in mapping.items() if column in row}, ensure_ascii=False)
        for row in table.rows
    ]


def _value(row: Mapping[str, Json], column: str, number: int) -> str:
    value = row.get(column)
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    if not text.strip():
        raise _bad(f"row {number} has nothing in the column {column!r}")
    return text.strip()


def _json_rows(text: str) -> Iterator[Mapping[str, Json]]:
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
        if not line.strip():
            continue
        if len(line) > _LONGEST_LINE:
            raise _bad(f"line {number} has more than {_LONGEST_LINE:,} characters")
        try:
            value = from_json(line, allow_inf_nan=False)
        except ValueError as error:
            raise _bad(f"line {number} is no JSON: {error}") from None
        if isinstance(value, list):
            raise _bad(f"line {number} is a list; each line must be an object or a text")
        yield value if isinstance(value, dict) else {"value": value}


def _csv_rows(text: str) -> Iterator[Mapping[str, Json]]:
    reader = csv.reader(io.StringIO(text, newline=""), dialect=_dialect(text), strict=True)
    try:
        headers = [name.strip() for name in next(reader, [])]
        if len(headers) > _MOST_COLUMNS:
            raise _bad(f"the file has {len(headers):,} columns; at most {_MOST_COLUMNS} are taken")
        if len(set(headers)) < len(headers) or not all(headers):
            raise _bad("the first line must name each column, and each name once")
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(headers):
                raise _bad(f"line {reader.line_num} has {len(row)} cells, and the first line {len(headers)}")
            yield dict(zip(headers, row, strict=True))
    except csv.Error as error:
        raise _bad(f"line {reader.line_num} is no CSV: {error}") from None


def _clipped(value: Json) -> Json:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _SAMPLE_CHARS else f"{text[:_SAMPLE_CHARS]}…"


class _Csv(csv.excel):
    """RFC 4180 with a separator that the file's first line shows."""


def _dialect(text: str) -> type[csv.Dialect]:
    """Comma, semicolon or tab: the one that the first line has most of, outside of quotation marks."""
    first = next(iter(islice(text[:_SNIFFED].splitlines(), 1)), "")
    bare = "".join(part for n, part in enumerate(first.split('"')) if n % 2 == 0)
    best = max(",;\t", key=bare.count)
    return type("_Separated", (_Csv,), {"delimiter": best})


def _bad(reason: str) -> BadInput:
    return BadInput(f"{reason[0].upper()}{reason[1:]}.", errors=[{"field": "file", "reason": reason}])
