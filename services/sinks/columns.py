"""Records as rows of a table: which columns they have, and of which kind each is.

The job's schema says so first. A column that it does not name, or of which a value is not as it says, takes the kind of
the values that there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from pydantic_core import to_json

from shoal.agent.support.json_value import Json

Row = dict[str, Json]

MOST = 500
"""Columns of one table. What records have besides is kept as JSON in one more."""
_DEEPEST = 8
_INT64 = 2**63


class Kind(StrEnum):
    """Types of a column's values."""

    BOOLEAN = "boolean"
    INTEGER = "integer"  # of 64 bits
    NUMBER = "number"
    DATE = "date"  # ISO 8601
    TIME = "time"  # a moment, ISO 8601 with its zone
    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table."""

    name: str
    kind: Kind


def flat_row(record: Json) -> Row:
    """A record's values by dotted names; lists and empty objects stay as they are."""
    return dict(_flat("", record)) if isinstance(record, Mapping) else {"value": record}


def top_row(record: Json) -> Row:
    """A record's values by its own fields."""
    return dict(record) if isinstance(record, Mapping) else {"value": record}


def escaped(key: str) -> str:
    """A field's name as a part of a dotted one."""
    return key.replace("\\", "\\\\").replace(".", "\\.")


def _flat(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(f"{name}.{escaped(key)}" if name else escaped(key), inner)
    else:
        yield name, value


def declared(schema: Mapping[str, Json] | None, *, flat: bool, prefix: str = "", depth: int = 0) -> dict[str, Kind]:
    """The columns that a record's schema names, in its order, each with the kind that it states.

    Args:
        flat: objects become dotted names, as `flat_row` has them.
    """
    kinds: dict[str, Kind] = {}
    properties = (schema or {}).get("properties")
    for key, inner in properties.items() if isinstance(properties, Mapping) else ():
        name = f"{prefix}.{escaped(key)}" if prefix else escaped(key) if flat else key
        part = inner if isinstance(inner, Mapping) else {}
        if flat and isinstance(part.get("properties"), Mapping) and depth < _DEEPEST:
            kinds |= declared(part, flat=True, prefix=name, depth=depth + 1)
        else:
            kinds[name] = _stated(part)
    return kinds


def _stated(part: Mapping[str, Json]) -> Kind:
    types = part.get("type")
    names = {name for name in (types if isinstance(types, list) else [types]) if name not in ("null", None)}
    if names == {"boolean"}:
        return Kind.BOOLEAN
    if names == {"integer"}:
        return Kind.INTEGER
    if names and names <= {"integer", "number"}:
        return Kind.NUMBER
    if names == {"string"}:
        return {"date": Kind.DATE, "date-time": Kind.TIME}.get(str(part.get("format")), Kind.TEXT)
    return Kind.JSON if names & {"array", "object"} or len(names) > 1 else Kind.TEXT


class ColumnFinder:
    """Finds the columns of rows that are shown to it one after the other."""

    def __init__(self, stated: Mapping[str, Kind]) -> None:
        self._stated = dict(stated)
        self._found: dict[str, set[Kind]] = {}
        self._unfit: set[str] = set()

    def add(self, row: Row) -> None:
        """Takes notice of one row."""
        for name, value in row.items():
            if value is None:
                continue
            if name in self._stated:
                if name not in self._unfit and not fits(value, self._stated[name]):
                    self._unfit.add(name)
            elif name not in self._found and len(self._found) + len(self._stated) >= MOST:
                continue
            self._found.setdefault(name, set()).add(_own_kind(value))

    @property
    def columns(self) -> tuple[TableColumn, ...]:
        """Those of the schema first, then those that were found."""
        stated = [
            TableColumn(name, _joined(self._found[name]) if name in self._unfit else kind)
            for name, kind in self._stated.items()
        ]
        return (
            *stated,
            *(TableColumn(name, _joined(k)) for name, k in self._found.items() if name not in self._stated),
        )


def _own_kind(value: Json) -> Kind:
    if isinstance(value, bool):
        return Kind.BOOLEAN
    if isinstance(value, int):
        return Kind.INTEGER if fits(value, Kind.INTEGER) else Kind.TEXT
    if isinstance(value, float):
        return Kind.NUMBER
    return Kind.TEXT if isinstance(value, str) else Kind.JSON


def _joined(kinds: set[Kind]) -> Kind:
    if len(kinds) == 1:
        return next(iter(kinds))
    return Kind.NUMBER if kinds == {Kind.INTEGER, Kind.NUMBER} else Kind.TEXT


def fits(value: Json, kind: Kind) -> bool:
    """Return whether a value, which is not null, can stand in a column of this kind as what it is."""
    if kind is Kind.BOOLEAN:
        return isinstance(value, bool)
    if kind in (Kind.INTEGER, Kind.NUMBER):
        is_int = isinstance(value, int) and not isinstance(value, bool)
        return (is_int and -_INT64 <= value < _INT64) or (kind is Kind.NUMBER and isinstance(value, float))
    if kind in (Kind.DATE, Kind.TIME):
        return isinstance(value, str) and moment(value, kind) is not None
    return kind is Kind.JSON or isinstance(value, str)


def moment(text: str, kind: Kind) -> date | datetime | None:
    """The date, or the moment with its zone, that a text states in ISO 8601; None where it states none."""
    try:
        if kind is Kind.DATE:
            return date.fromisoformat(text) if len(text) == len("2026-11-28") else None
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


def as_text(value: Json) -> Json:
    """A value of a column of texts: what is no text is JSON."""
    return value if value is None or isinstance(value, str) else to_json(value).decode()
