"""How much of one tenant's work may wait."""

from __future__ import annotations

import time

from agent.status import Status
from services.errors import QuotaExceeded
from services.gateway.keys import Caller
from services.store.store import Store

COUNTED_FOR_S = 1.0
"""How long one count of the queue is used: a tenant may overshoot by what it submits in that time."""
RETRY_AFTER_S = 30


class Quota:
    """Refuses submissions of tenants that have `limit` sessions waiting already; 0: never."""

    def __init__(self, store: Store, limit: int) -> None:
        self._store = store
        self._limit = limit
        self._counted_at = float("-inf")
        self._waiting: dict[str, int] = {}

    async def check(self, caller: Caller) -> None:
        """Raises QuotaExceeded when the caller's tenant has to wait."""
        if self._limit <= 0:
            return
        if time.monotonic() - self._counted_at > COUNTED_FOR_S:
            counts = await self._store.counts_by_status()
            self._waiting = {tenant: n for (tenant, status), n in counts.items() if status is Status.QUEUED}
            self._counted_at = time.monotonic()
        waiting = self._waiting.get(caller.tenant, 0)
        if waiting >= self._limit:
            raise QuotaExceeded(
                f"{waiting} sessions of this tenant are waiting already; at most {self._limit} may.",
                retry_after_s=RETRY_AFTER_S,
            )
