"""Figures of a run: enough to hold the next one against it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.agent.support.json_value import Json

MOST_FIELDS = 200
MOST_VALUES = 50
"""Different values of a field that are told apart."""
_MOST_DEPTH = 4


@dataclass(frozen=True, slots=True)
class FieldFigures:
    """One field over all records of a run."""

    given: int = 0  # records that have it
    values: int = 0  # different ones, counted up to `MOST_VALUES`
    least: float | None = None  # of its numbers
    most: float | None = None


@dataclass(frozen=True, slots=True)
class RunFigures:
    """One run."""

    items: int = 0  # pages or loop items that it had to do
    completed: int = 0  # of them
    records: int = 0
    fields: Mapping[str, FieldFigures] = field(default_factory=dict)  # by path, such as `offer.price`


@dataclass(slots=True)
class _Counted:
    given: int = 0
    values: set[int] = field(default_factory=set)
    least: float | None = None
    most: float | None = None

    def add(self, value: Json) -> None:
        self.given += 1
        if len(self.values) < MOST_VALUES:
            self.values.add(hash(repr(value)))
        if is_number(value):
            self.least = value if self.least is None else min(self.least, value)
            self.most = value if self.most is None else max(self.most, value)


class FigureCounter:
    """Adds a run's records up, one at a time; holds none of them."""

    def __init__(self) -> None:
        self._records = 0
        self._fields: dict[str, _Counted] = {}

    def add(self, record: Json) -> None:
        """Counts one record."""
        self._records += 1
        for path, value in values_of(record):
            if path not in self._fields and len(self._fields) < MOST_FIELDS:
                self._fields[path] = _Counted()
            if path in self._fields:
                self._fields[path].add(value)

    def figures(self, *, items: int, completed: int) -> RunFigures:
        """Return what was counted, of a run with so many items."""
        fields = {
            path: FieldFigures(counted.given, len(counted.values), counted.least, counted.most)
            for path, counted in self._fields.items()
        }
        return RunFigures(items, completed, self._records, fields)


def values_of(record: Json, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Each field that a record gives, by its path, with the value: nulls and empty texts and lists are not given."""
    if isinstance(record, Mapping) and depth < _MOST_DEPTH:
        for name, value in record.items():
            yield from values_of(value, f"{path}.{name}" if path else str(name), depth + 1)
    elif record not in (None, "", [], {}):
        yield path or "value", record


def is_number(value: Json) -> bool:
    """Return whether a value is a number that can be compared."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
