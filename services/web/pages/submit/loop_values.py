"""Values of a loop from a file: CSV or JSON lines, with its columns mapped."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput

SAMPLE_ROWS = 5
_MOST_COLUMNS = 500
_SNIFFED = 1 << 14


@dataclass(frozen=True, slots=True)
class TableFile:
    """The rows of a file, each with a value for each column that it has."""

    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, Json]]


def read_table(content: bytes) -> TableFile:
    """The table in a file: JSON lines where its first character says so, else CSV with a line of headers.

    Raises:
        BadInput: it is neither; with the line.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _bad(f"the file is not UTF-8: byte {error.start} is no text") from None
    if "\0" in text:
        raise _bad("the file holds the character U+0000: it is no CSV and no JSON lines file")
    rows = list(_json_rows(text) if text.lstrip()[:1] in ("{", "[", '"') else _csv_rows(text))
    if not rows:
        raise _bad("the file has no rows")
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    if len(columns) > _MOST_COLUMNS:
        raise _bad(f"the file has {len(columns)} columns; at most {_MOST_COLUMNS} are taken")
    return TableFile(columns, rows)


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
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise _bad(f"line {number} is no JSON: {error}") from None
        if isinstance(value, list):
            raise _bad(f"line {number} is a list; each line must be an object or a text")
        yield value if isinstance(value, dict) else {"value": value}


def _csv_rows(text: str) -> Iterator[Mapping[str, Json]]:
    reader = csv.reader(io.StringIO(text, newline=""), dialect=_dialect(text), strict=True)
    try:
        headers = [name.strip() for name in next(reader, [])]
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
