"""Record keys, which tell the records of a run apart and find the same one in another run: a field, several, an item,
an address.

A job declares its key by `x-key` in the schema of a record. For one that does not, the key is found: it has to be
given in each record, be no other record's, and name records of both runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from shoal.services.web.results.result_lines import Line

ITEM, ADDRESS = "#item", "#url"
"""Keys that are no fields: the item's value, and the address of the page."""
SAMPLE = 2_000
"""Lines of each run by which it is found out which keys are worth a look at all lines."""
MOST_KEYS = 3
"""Keys that are held against all lines."""
LONGEST_KEY = 2_000
"""Characters of a value that may name a record: what is longer is its text."""

Key = tuple[str, ...]
"""Names that tell records apart together; mostly one."""


def key_values(line: Line, key: Key) -> tuple[str, ...] | None:
    """Return what a line has for each name of a key; None where it lacks one."""
    values = tuple(_value(line, name) for name in key)
    return None if any(value is None for value in values) else tuple(map(str, values))


def _value(line: Line, name: str) -> str | None:
    record = line["record"]
    if name == ITEM:
        value = (line["item"] or {}).get("value")
    elif name == ADDRESS:
        value = line["url"]
    else:
        value = record.get(name) if isinstance(record, Mapping) else None
    if value is None or value == "" or isinstance(value, Mapping | list):
        return None
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= LONGEST_KEY else None


def usable_keys(lines: Sequence[Line]) -> list[str]:
    """By what lines can be told apart: their item, their address, their fields."""
    fields = dict.fromkeys(name for line in lines if isinstance(line["record"], Mapping) for name in line["record"])
    item = [ITEM] if any(line["item"] for line in lines) else []
    return [*item, ADDRESS, *fields]


def likely_keys(old: Sequence[Line], new: Sequence[Line]) -> list[Key]:
    """The keys by which most lines of two samples have a value of their own, the best first; at least one.

    Of equals those come first that more lines of both samples share: a price tells records apart and does not stay.
    """
    keys: list[Key] = [(name,) for name in usable_keys([*old, *new])]

    def merits(key: Key) -> tuple[int, int]:
        values = [_own(lines, key) for lines in (old, new)]
        return sum(map(len, values)), len(values[0] & values[1])

    return sorted(keys, key=merits, reverse=True)[:MOST_KEYS]


def _own(lines: Sequence[Line], key: Key) -> set[tuple[str, ...]]:
    """Values that one line alone has."""
    seen: dict[tuple[str, ...], int] = {}
    for line in lines:
        if (values := key_values(line, key)) is not None:
            seen[values] = seen.get(values, 0) + 1
    return {values for values, n in seen.items() if n == 1}
