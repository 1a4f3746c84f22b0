"""Partitions as a dispatcher would know them that never reads them all."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from shoal.services.store.records import ClaimRequest, Claims, Partition
from shoal.services.store.store import Store

Call = Callable[..., Coroutine[Any, Any, Any]]

TOLD = {
    "finish": "ready",
    "materialize": "ready",
    "run_bulk_operations": "ready",
    "expire_leases": "ready",
    "changed_partitions": "ready",
    "claim": "woken",
}
"""Calls of a store, and what in their answers tells of ready sessions."""


class KnownPartitions:
    """Partitions as a dispatcher knows them that never reads all of them: from its own calls and from news."""

    def __init__(self) -> None:
        self.cursors: dict[tuple[int, int], int] = {}  # by job and domain
        self._seq = 0

    def listen_to(self, store: Store) -> None:
        """Adds what its calls tell."""
        for name, told in TOLD.items():
            setattr(store, name, self._listened(getattr(store, name), told))

    def _listened(self, call: Call, told: str) -> Call:
        async def listened(*args: Any, **options: Any) -> Any:
            answer = await call(*args, **options)
            self.add(getattr(answer, told))
            return answer

        return listened

    async def hear(self, store: Store) -> None:
        """Asks for news."""
        news = await store.changed_partitions(self._seq)
        self._seq = news.seq

    def add(self, partitions: Iterable[Partition]) -> None:
        """These have ready sessions."""
        for partition in partitions:
            key = (partition.job, partition.domain)
            self.cursors[key] = min(partition.cursor, self.cursors.get(key, partition.cursor))

    def note(self, takes: Iterable[ClaimRequest], claims: Claims) -> None:
        """Note that what was claimed is behind the cursor;
        a partition that gave less than it was asked for has no more.
        """
        got: dict[tuple[int, int], list[int]] = {}
        for one in claims.sessions:
            got.setdefault((one.work.job, one.domain), []).append(one.work.session)
        for take in takes:
            key = (take.job, take.domain)
            ids = got.get(key, [])
            if len(ids) < take.n and key not in claims.held:
                del self.cursors[key]
            elif ids:
                self.cursors[key] = max(ids)
        self.add(claims.woken)
