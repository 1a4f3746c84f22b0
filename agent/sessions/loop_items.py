"""A loop's items while they are found: the first are kept, the others go to the journal."""

from __future__ import annotations

from collections.abc import AsyncIterable

from shoal.agent.sessions.dependencies import Journal
from shoal.agent.types import LoopItem

FIRST_ITEMS = 250
"""Items that become sessions at once: more than a dispatcher claims at first, few enough to run within a blink."""
ITEMS_AT_ONCE = 10_000
"""Items that are handed on together: some 4 MB here, 0.3 MB on their way."""


async def gather(found: AsyncIterable[LoopItem], journal: Journal) -> tuple[tuple[LoopItem, ...], int]:
    """The first items of a loop, and how many followed, which the journal has.

    Raises:
        Canceled: the store says that this session is somebody else's by now.
    """
    first: list[LoopItem] = []
    more: list[LoopItem] = []
    later = 0
    async for item in found:
        if len(first) < FIRST_ITEMS:
            first.append(item)
            continue
        more.append(item)
        if len(more) == ITEMS_AT_ONCE:
            await journal.items(FIRST_ITEMS + later, more)
            later += len(more)
            more = []
    if more:
        await journal.items(FIRST_ITEMS + later, more)
    return tuple(first), later + len(more)
