"""The cost of holding a value to a schema, counted before it is done: an upper bound, in units of some 10 ns.

The engine walks a schema as often as it is referred to: twenty schemas that each name the next one twice are walked a
million times. The count meets each pair of schema and value once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import jsonschema_rs

from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.engine import PATTERN_BYTES, options
from shoal.agent.support.schemas.parts import References, Schema, in_place

_MOST_PAIRS = 200_000
"""Pairs of schema and value that are counted: some 0.1 s."""
_UNEVALUATED = 4
"""`unevaluated…` asks everything beside it again, twice in each of them: measured as 3 for each level."""
_OPTION_UNITS = 30  # of an enumeration with objects in it
_BYTES_PER_UNIT = 200
"""A hostile pattern of n bytes takes n / 20 ns for each character (measured at 10, 64 and 300 KiB)."""
_SIZES = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18)


class TooCostly(ValueError):
    """The count itself would take too long."""


class Endless(ValueError):
    """A schema refers to itself for the same value."""


@lru_cache(maxsize=4096)
def char_units(pattern: str) -> int:
    """Return what one character of text costs this pattern."""
    size = next((size for size in _SIZES if _compiles(pattern, size)), PATTERN_BYTES)
    return max(1, size // _BYTES_PER_UNIT)


def _compiles(pattern: str, size: int) -> bool:
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options(size), offline=True)
    except ValueError:
        return False
    return True


def size_of(value: Json) -> int:
    """Characters of a value, roughly."""
    total, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            total += len(part) + 2
        elif isinstance(part, dict):
            total += sum(map(len, part)) + 4 * len(part) + 2
            waiting += part.values()
        elif isinstance(part, list | tuple):
            total += len(part) + 2
            waiting += part
        else:
            total += 8
    return total


class Cost:
    """Counts for one schema. What it finds of one value does not help with the next: an object's id is used again."""

    def __init__(self, root: Schema, references: References) -> None:
        self._root = root
        self._references = references
        self._targets: dict[int, Schema | bool | None] = {}

    def of(self, value: Json) -> int:
        """Units for `value`.

        Raises:
            TooCostly, Endless.
        """
        return self._counted(self._root, value, {})

    def in_place(self) -> int:
        """The most that any part of the schema costs for a value without parts.

        Raises:
            TooCostly, Endless.
        """
        known: dict[tuple[int, int], int | None] = {}
        return max(self._counted(part, None, known) for part in self._references.parts)

    def _counted(self, schema: Schema, value: Json, known: dict[tuple[int, int], int | None]) -> int:
        try:
            return self._count(schema, value, known)
        except RecursionError:
            raise TooCostly("refers on and on") from None

    def _count(self, schema: Schema | bool | None, value: Json, known: dict[tuple[int, int], int | None]) -> int:
        if not isinstance(schema, dict):
            return 1
        pair = (id(schema), id(value))
        if pair in known:
            cost = known[pair]
            if cost is None:
                raise Endless("refers to itself without end")
            return cost
        if len(known) >= _MOST_PAIRS:
            raise TooCostly("is too large together with the value")
        known[pair] = None
        cost = _own(schema, value) + sum(self._count(part, value, known) for part in in_place(schema))
        if "$ref" in schema:
            cost += self._count(self._target(schema), value, known)
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            cost *= _UNEVALUATED
        if isinstance(value, dict):
            cost += self._of_object(schema, value, known)
        elif isinstance(value, list | tuple):
            cost += sum(self._count(part, element, known) for part in _of_items(schema) for element in value)
            for part, item in zip(_in_front(schema), value, strict=False):
                cost += self._count(part, item, known)
        known[pair] = cost
        return cost

    def _of_object(self, schema: Schema, value: dict[str, Json], known: dict[tuple[int, int], int | None]) -> int:
        cost = len(value)
        named = schema.get("properties")
        for name, part in named.items() if isinstance(named, dict) else ():
            if name in value:
                cost += self._count(part, value[name], known)
        patterns = schema.get("patternProperties")
        for pattern, part in patterns.items() if isinstance(patterns, dict) else ():
            cost += char_units(pattern) * sum(map(len, value))
            cost += sum(self._count(part, member, known) for member in value.values())
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if isinstance(part := schema.get(keyword), dict):
                cost += sum(self._count(part, member, known) for member in value.values())
        if isinstance(part := schema.get("propertyNames"), dict):
            cost += sum(self._count(part, name, known) for name in value)
        return cost

    def _target(self, schema: Schema) -> Schema | bool | None:
        if id(schema) not in self._targets:
            self._targets[id(schema)] = self._references.target(schema)
        return self._targets[id(schema)]


def _own(schema: Schema, value: Json) -> int:
    """Return what the keywords cost that hold no schemas."""
    cost = 1
    if value is None:
        return cost
    if isinstance(value, str) and isinstance(pattern := schema.get("pattern"), str):
        cost += char_units(pattern) * len(value)
    if isinstance(options_ := schema.get("enum"), list):
        cost += len(options_) * (_OPTION_UNITS if any(isinstance(option, dict | list) for option in options_) else 1)
    if isinstance(value, dict | list | tuple) and ("enum" in schema or "const" in schema or "uniqueItems" in schema):
        cost += size_of(value)
    if isinstance(value, dict) and isinstance(required := schema.get("required"), list):
        cost += len(required)
    return cost


def _of_items(schema: Schema) -> Iterator[Schema]:
    for keyword in ("items", "additionalItems", "unevaluatedItems", "contains"):
        if isinstance(part := schema.get(keyword), dict):
            yield part


def _in_front(schema: Schema) -> list[Json]:
    for keyword in ("prefixItems", "items"):
        if isinstance(parts := schema.get(keyword), list):
            return parts
    return []
