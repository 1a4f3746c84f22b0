"""Leases of an earlier dispatcher, which this one takes over."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.services.dispatch.clock import loop_time
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.store.store import Store


async def take_over(store: Store, state: DispatchState, held: Mapping[int, int]) -> None:
    """Sessions that workers hold under these fences are this dispatcher's from now on: renewed, and tried again."""
    for lease in await store.running(held) if held else ():
        if held[lease.work.session] == lease.work.fence:
            state.lease(lease, loop_time(), adopted=True)
