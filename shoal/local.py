"""Stand-ins for a cluster in sessions of one process: nothing is stored, pages wait for each other here."""

from __future__ import annotations

import time
from collections.abc import Sequence

from shoal.agent.types import Checkpoint, LoopItem
from shoal.agent.worker_messages import RateSlot, RobotsAnswer, RobotsWish


class LocalJournal:
    """A `Journal` that keeps nothing, with the distances between pages that this process opens.

    A session in this process is not resumed after a crash, so that a checkpoint has no reader.
    """

    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}  # when the next page of a host may be opened, by time.monotonic

    async def checkpoint(self, checkpoint: Checkpoint, *, durable: bool) -> None:
        """Returns at once."""

    async def items(self, at: int, items: Sequence[LoopItem]) -> None:
        """Returns at once; `Page.run` refuses loops before they begin."""

    async def rate_slot(self, host: str, delay_s: float, crawl_delay_s: float) -> RateSlot:
        """When a page of this host may be opened: the longer of the two distances after the last one."""
        now = time.monotonic()
        at = max(now, self._free_at.get(host, now))
        self._free_at[host] = at + max(delay_s, crawl_delay_s)
        return RateSlot(at - now)

    async def robots(self, origin: str) -> RobotsAnswer | None:
        """None: this process shares no robots.txt with others, so it fetches its own."""
        return None

    def share_robots(self, robots_wish: RobotsWish) -> None:
        """Returns at once: no other process shares it."""
