"""Leases of an earlier dispatcher, which this one takes over."""

from __future__ import annotations

from collections.abc import Mapping

from services.dispatch.board import Board
from services.dispatch.clock import loop_time
from services.store.store import Store


async def take_over(store: Store, board: Board, held: Mapping[int, int]) -> None:
    """Sessions that workers hold under these fences are this dispatcher's from now on: renewed, and tried again."""
    for one in await store.running(held) if held else ():
        if held[one.work.session] == one.work.fence:
            board.lease(one, loop_time(), adopted=True)
