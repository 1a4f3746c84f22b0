"""The quota of one tenant's waiting work."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from shoal.agent.status import Status
from shoal.services.errors import QuotaExceeded
from shoal.services.store.records import NewJob
from shoal.services.store.store import Store

COUNTED_FOR_S = 1.0
"""Seconds for which one count of the queue, and the tenants' limits, are used. What this gateway takes in meanwhile is
added to it; by what others take in, a tenant may overshoot.
"""
RETRY_AFTER_S = 30


class Quota:
    """Refuses submissions of tenants that have so many sessions waiting already; 0: as many as they like.

    Args:
        limit: of each tenant.
        own: other limits of single tenants; what an operator has set in the store counts before them.
    """

    def __init__(self, store: Store, limit: int, own: Mapping[str, int] | None = None) -> None:
        self._store = store
        self._limit = limit
        self._settings = own or {}
        self._own = self._settings
        self._limits_at = float("-inf")
        self._counted_at = float("-inf")
        self._waiting: dict[str, int] = {}

    async def admits(self, tenant: str, jobs: Sequence[NewJob]) -> list[bool]:
        """Which of a tenant's jobs may be stored now: as many as there is room for, from the first on.

        One whose idempotency key stands for a job already takes no room: a caller that asks again, since the answer
        was lost, gets that job, however full the queue is by now.
        """
        room = await self._room(tenant, len(jobs))
        if room >= len(jobs):
            return [True] * len(jobs)
        keys = [job.spec.idempotency_key for job in jobs]
        known = set(await self._store.used_keys(tenant, {key for key in keys if key is not None}))
        admitted = []
        for key in keys:
            fits = key in known
            if not fits and room > 0:
                room, fits = room - 1, True
                known |= {key} if key is not None else set()  # the same key once more is the same job
            admitted.append(fits)
        return admitted

    async def _room(self, tenant: str, asked: int) -> int:
        if time.monotonic() - self._limits_at > COUNTED_FOR_S:
            self._own = {**self._settings, **(await self._store.tenants.limits()).quotas}
            self._limits_at = time.monotonic()
        limit = self._limit_of(tenant)
        if limit <= 0:
            return asked
        if time.monotonic() - self._counted_at > COUNTED_FOR_S:
            counts = await self._store.open_by_status()
            self._waiting = {tenant: n for (tenant, status), n in counts.items() if status is Status.QUEUED}
            self._counted_at = time.monotonic()
        return min(asked, max(0, limit - self._waiting.get(tenant, 0)))

    def count_jobs(self, tenant: str, jobs: int = 1) -> None:
        """Count so many new jobs of the tenant that were stored."""
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
