"""Items of a loop whose values are rows, such as those of a CSV file: a column for each of their details."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from shoal.agent.support.json_value import Json, row_of
from shoal.agent.types import LoopItem
from shoal.services.web.pages.filters import value

COLUMNS_SHOWN = 5

Item = LoopItem | Mapping[str, Json]
"""An item of the store, or one of a line of results."""


@dataclass(frozen=True, slots=True)
class ItemColumns:
    """The columns that a table has for its items; none where no item is a row."""

    names: tuple[str, ...]
    hidden: int  # details that have no column


def item_columns(items: Iterable[Item | None]) -> ItemColumns:
    """The columns for some items: what their rows name, in the order of the first that names it."""
    names = tuple(dict.fromkeys(name for item in items if item is not None for name in details(item)))
    return ItemColumns(names[:COLUMNS_SHOWN], max(0, len(names) - COLUMNS_SHOWN))


def details(item: Item) -> Mapping[str, Json]:
    """The details of an item that is a row; empty for any other."""
    text, _, is_link = _parts(item)
    row = None if is_link else row_of(text)
    return row if isinstance(row, Mapping) else {}


def item_name(item: Item) -> str:
    """An item in words: what its page calls it, its value, or the values of its row."""
    text, label, _ = _parts(item)
    row = details(item)
    return " · ".join(value(part) for part in row.values() if part not in (None, "")) if row else label or text


def named_values(data: Json, name: str = "") -> Iterator[tuple[str, Json]]:
    """The names and values of details; a value inside another has both names, with a dot between."""
    if not isinstance(data, Mapping) or not data:
        yield name, data
        return
    for key, part in data.items():
        yield from named_values(part, f"{name}.{key}" if name else str(key))


def _parts(item: Item) -> tuple[str, str, bool]:
    if isinstance(item, Mapping):
        return item["value"], item["label"], item["is_link"]
    return item.value, item.label, item.is_link
