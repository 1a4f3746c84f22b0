"""The rate limit of one tenant over all gateways."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import LRUCache

from shoal.services.errors import QuotaExceeded
from shoal.services.store.store import Store

_BURST_S = 2.0
"""Seconds whose requests may come at once."""
_UNTOLD_S = 0.2
"""A gateway tells the store of a tenant's requests when they are as many as in this time: at 50 a second each tenth
waits for the store. By what is not told yet a burst at several gateways may be larger; the rate stays what it is."""
_TENANTS = 10_000
"""Of which a gateway remembers what it has not told."""


@dataclass(slots=True)
class _TenantBucket:
    untold: int = 0  # requests that were let in and that the store does not know of
    refused_until: float = 0.0


class RateLimit:
    """Lets a tenant's requests in, by one token bucket in the store.

    Args:
        per_s: of one tenant, on average; 0: as many as it likes.
        clock: seconds of a monotonic clock.
    """

    def __init__(self, store: Store, per_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._per_s = per_s
        self._clock = clock
        self._tenants: LRUCache[str, _TenantBucket] = LRUCache(_TENANTS)

    async def admit(self, tenant: str) -> None:
        """Returns when one more request may be served.

        Raises:
            QuotaExceeded: too many have been of late.
            StoreAway: the store does not answer.
        """
        if self._per_s <= 0:
            return
        known = self._tenants.setdefault(tenant, _TenantBucket())
        if (wait_s := known.refused_until - self._clock()) > 0:
            raise self._exceeded(wait_s)
        if known.untold + 1 < self._per_s * _UNTOLD_S:
            known.untold += 1
            return
        spent, known.untold = known.untold, 0
        wait_s = await self._store.spend(tenant, spent, per_s=self._per_s, most=max(1.0, _BURST_S * self._per_s))
        if wait_s > 0:
            known.refused_until = self._clock() + wait_s
            raise self._exceeded(wait_s)

    def _exceeded(self, wait_s: float) -> QuotaExceeded:
        return QuotaExceeded(f"This tenant may make {self._per_s:g} requests per second.", retry_after_s=wait_s)
