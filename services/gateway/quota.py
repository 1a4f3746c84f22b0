"""How much of one tenant's work may wait."""

from __future__ import annotations

import time
from collections.abc import Mapping

from agent.status import Status
from services.errors import QuotaExceeded
from services.store.store import Store

COUNTED_FOR_S = 1.0
"""How long one count of the queue is used. What this gateway takes in meanwhile is added to it; by what others take in,
a tenant may overshoot."""
RETRY_AFTER_S = 30


class Quota:
    """Refuses submissions of tenants that have so many sessions waiting already; 0: as many as they like.

    Args:
        limit: of each tenant.
        own: other limits of single tenants.
    """

    def __init__(self, store: Store, limit: int, own: Mapping[str, int] | None = None) -> None:
        self._store = store
        self._limit = limit
        self._own = own or {}
        self._counted_at = float("-inf")
        self._waiting: dict[str, int] = {}

    async def check(self, tenant: str) -> None:
        """Raises QuotaExceeded when the tenant has to wait."""
        if await self.room(tenant, 1) < 1:
            raise self.exceeded(tenant)

    async def room(self, tenant: str, wanted: int) -> int:
        """How many of `wanted` jobs the tenant may hand in now."""
        limit = self._limit_of(tenant)
        if limit <= 0:
            return wanted
        if time.monotonic() - self._counted_at > COUNTED_FOR_S:
            counts = await self._store.counts_by_status()
            self._waiting = {tenant: n for (tenant, status), n in counts.items() if status is Status.QUEUED}
            self._counted_at = time.monotonic()
        return min(wanted, max(0, limit - self._waiting.get(tenant, 0)))

    def taken(self, tenant: str, jobs: int = 1) -> None:
        """So many new jobs of the tenant were stored."""
        if self._limit_of(tenant) > 0:
            self._waiting[tenant] = self._waiting.get(tenant, 0) + jobs

    def exceeded(self, tenant: str) -> QuotaExceeded:
        """The error of a tenant that has to wait."""
        waiting, limit = self._waiting.get(tenant, 0), self._limit_of(tenant)
        return QuotaExceeded(
            f"{waiting} sessions of this tenant are waiting already; at most {limit} may.", retry_after_s=RETRY_AFTER_S
        )

    def _limit_of(self, tenant: str) -> int:
        return self._own.get(tenant, self._limit)
