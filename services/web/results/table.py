"""Result lines as a table: columns by dotted names, for CSV and the files of `table_files`.

Objects are flattened (`record.price.amount`); a dot in a key is written `\\.`. Lists, empty objects, `rests_on`, and
`sources` and `candidates`, whose fields differ from line to line, stay JSON text. Which columns there are is known only
when every line was seen, so the lines go through a temporary file; memory stays bounded.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping, Sequence
from typing import IO

import orjson
from pydantic_core import from_json, to_json

from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput

Row = dict[str, Json]

LEADING = ("job", "session", "item.index", "item.value", "item.is_link", "item.label", "status")
TRAILING = (
    *("error.class", "error.code", "error.message", "error.retryable"),
    *("url", "at", "attempts", "seconds", "sources", "candidates", "screenshot"),
    *("answer", "rests_on", "tier", "workflow", "audit", "provisional", "carried_over.session", "carried_over.by"),
    *("usage.model_calls", "usage.prompt_tokens", "usage.completion_tokens"),
)
"""The columns around those of the record; present in every table of results, whatever the lines hold."""

_FIXED_KINDS = {
    **dict.fromkeys(("item.is_link", "error.retryable", "provisional"), "bool"),
    **dict.fromkeys(("item.index", "attempts", "usage.model_calls", "usage.prompt_tokens"), "int"),
    **{"usage.completion_tokens": "int", "seconds": "float"},
}
_TEXT_FIELDS = ("sources", "candidates", "rests_on")
_COMPUTED = re.compile(r"(?![+-][0-9][0-9.,]*$)[=+\-@\t\r\n＝＋－＠]")  # which spreadsheets take for these
"""The beginning of a text that a spreadsheet takes for a formula; numbers with a sign are none."""
_AT_ONCE = 500
"""Lines that are taken in together."""
IN_MEMORY = 8 << 20
CHUNK = 1 << 16
_INT64 = 2**63
_SHEET_LINES, _SHEET_COLUMNS = 1_048_576, 16_384

CHANGES_LEADING = ("change", "key", "why")
CHANGES_TRAILING = tuple(f"{run}.{name}" for run in ("before", "after") for name in ("session", "item", "url", "at"))
"""The columns around those of the fields in a table of changes."""


class ExportTable:
    """Rows of one export. Close it when done."""

    def __init__(
        self,
        schema: Mapping[str, Json] | None,
        leading: Sequence[str] = LEADING,
        trailing: Sequence[str] = TRAILING,
        *,
        prefix: str = "",
    ) -> None:
        """`prefix`: what the names of columns lose where they begin with it."""
        self._leading, self._trailing, self._prefix = leading, trailing, prefix
        self._lines = 0
        self._rows: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # closed by close()
        self._kinds: dict[str, set[str]] = {name: set() for name in _schema_columns(schema)}

    async def fill(self, lines: AsyncIterable[Row]) -> None:
        """Takes in all `lines`, beside the event loop: one session may have given tens of thousands."""
        rows: list[Row] = []
        async for line in lines:
            rows.append(line)
            if len(rows) == _AT_ONCE:
                await asyncio.to_thread(self._take, rows)
                rows = []
        await asyncio.to_thread(self._take, rows)

    def _take(self, lines: Sequence[Row]) -> None:
        for line in lines:
            row = flatten(line)
            for name, value in row.items():
                if name not in self._leading and name not in self._trailing:
                    self._kinds.setdefault(name, set()).add(_kind(value))
            self._lines += 1
            self._rows.write(to_json(row, inf_nan_mode="null") + b"\n")

    def require_sheet(self) -> None:
        """Refuses what is too large for a sheet of Excel.

        Raises:
            BadInput: it has more lines or columns.
        """
        for name, n, most in (("lines", self._lines + 1, _SHEET_LINES), ("columns", len(self.columns), _SHEET_COLUMNS)):
            if n > most:
                reason = f"a sheet has at most {most:,} {name}, and these are {n:,}: ask for csv or parquet"
                raise BadInput(f"format: {reason}.", errors=[{"field": "format", "reason": reason}])

    def close(self) -> None:
        """Drops the rows."""
        self._rows.close()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns, in order."""
        own = [name for name, kinds in self._kinds.items() if name != "record" or kinds - {"null"}]
        return (*self._leading, *own, *self._trailing)

    @property
    def titles(self) -> list[str]:
        """The names of the columns as the table shows them."""
        return [name.removeprefix(self._prefix) for name in self.columns]

    def column_kind(self, name: str) -> str:
        """Return what all values of a column are: `bool`, `int` or `float`; `text` where they differ or are none."""
        if name in _FIXED_KINDS:
            return _FIXED_KINDS[name]
        kinds = self._kinds.get(name, set()) - {"null"}
        if kinds == {"int", "float"}:
            return "float"
        return kinds.pop() if len(kinds) == 1 else "text"

    def rows(self) -> Iterator[Row]:
        """Yield each row by the names of its columns."""
        self._rows.seek(0)
        for line in self._rows:
            yield from_json(line)

    def csv(self, *, formulas: bool = True) -> Iterator[bytes]:
        """The table as CSV (RFC 4180, UTF-8): null is nothing at all, an empty text is `""`.

        Args:
            formulas: False: a text that a spreadsheet would compute gets an apostrophe before it, which keeps it text.
        """
        columns, cell_value = self.columns, _as_it_is if formulas else _as_text
        chunk = bytearray(_csv_line(self.titles))
        for row in self.rows():
            chunk += _csv_line([cell_value(row.get(name)) for name in columns])
            if len(chunk) >= CHUNK:
                yield bytes(chunk)
                chunk.clear()
        yield bytes(chunk)


def flatten(line: Row) -> Row:
    """One result line with dotted names instead of objects."""
    flat: Row = {}
    for field, value in line.items():
        if field in _TEXT_FIELDS:
            flat[field] = orjson.dumps(value).decode()
        else:
            flat.update(_flat(field, value))
    return flat


def _flat(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(f"{name}.{_escaped(key)}", inner)
    elif isinstance(value, Mapping | list | tuple):
        yield name, to_json(value).decode()
    elif value is not None or name.startswith("record"):
        yield name, value


def _escaped(key: str) -> str:
    return key.replace("\\", "\\\\").replace(".", "\\.")


def _schema_columns(schema: Mapping[str, Json] | None, prefix: str = "record", depth: int = 0) -> Iterator[str]:
    """Columns that the job's schema names, so that a table has them though no record does."""
    properties = (schema or {}).get("properties")
    if not isinstance(properties, Mapping) or depth > 8:
        if prefix != "record":
            yield prefix
        return
    for key, inner in properties.items():
        yield from _schema_columns(
            inner if isinstance(inner, Mapping) else None, f"{prefix}.{_escaped(key)}", depth + 1
        )


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -_INT64 <= value < _INT64 else "text"
    return "float" if isinstance(value, float) else "text"


def _as_it_is(value: Json) -> Json:
    return value


def _as_text(value: Json) -> Json:
    return f"'{value}" if isinstance(value, str) and _COMPUTED.match(value) else value


def _csv_line(values: Iterable[Json]) -> bytes:
    return (",".join(map(_csv_value, values)) + "\r\n").encode()


def _csv_value(value: Json) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else to_json(value).decode()
    if text == "" or any(mark in text for mark in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
