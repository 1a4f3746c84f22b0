"""Loop items, compressed: how a long loop travels to the store, and lies there until its items become sessions."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoal.agent.types import LoopItem

PART = 1_000
"""Items in one part: the store makes those of one part sessions in one transaction."""


@dataclass(frozen=True)
class CompressedItems:
    """Some consecutive items of a loop, in a tenth of their size."""

    n: int
    data: bytes  # zlib-compressed JSON: an array of the fields of LoopItem


@dataclass(frozen=True)
class LoopPiece:
    """Items that a session has found for its loop, behind those that it handed on before."""

    at: int  # index of the first of them in the loop
    parts: tuple[CompressedItems, ...]

    @property
    def n(self) -> int:
        """Return how many items they are."""
        return sum(part.n for part in self.parts)


def compress_items(items: Sequence[LoopItem], part: int = PART) -> Iterator[CompressedItems]:
    """The items in parts of `part`; the last may be smaller."""
    for start in range(0, len(items), part):
        some = items[start : start + part]
        rows = [
            {"index": item.index, "value": item.value, "is_link": item.is_link, "label": item.label, **_place(item)}
            for item in some
        ]
        # In ASCII: a page's text may hold half a surrogate pair, which UTF-8 cannot carry.
        yield CompressedItems(len(some), zlib.compress(json.dumps(rows).encode("ascii"), 1))


def _place(item: LoopItem) -> dict[str, str | int]:
    """Return where an item stood and when it changed, as far as it is said: of most items nothing is."""
    fields = (("page", item.page), ("turns", item.turns), ("modified", item.modified))
    return {name: value for name, value in fields if value}


def decompress_items(data: bytes) -> tuple[LoopItem, ...]:
    """The items of one part."""
    return tuple(LoopItem(**row) for row in json.loads(zlib.decompress(data)))
