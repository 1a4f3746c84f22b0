"""A process's cache of data that never change: specs of jobs, token limits in them, ids of host names."""

from __future__ import annotations

from collections.abc import Hashable
from operator import itemgetter
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

from shoal.agent.spec import JobSpec

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


_SPECS = 32 * 2**20
"""Characters of all specs that are remembered. Parsed, a long one takes up to twice its text, a short one some KB."""


class Recent(Generic[K, V]):
    """The most recently used entries of a mapping, for several threads."""

    def __init__(self, size: int, *, weight: int | None = None) -> None:
        """
        Args:
            size: how many entries it holds.
            weight: what they may weigh together; None: as much as they like.
        """
        self._least = 1 if weight is None else weight / size  # so that `size` entries fill it, whatever they weigh
        self._entries: LRUCache[K, tuple[V, float]] = LRUCache(weight or size, getsizeof=itemgetter(1))
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The entry, or None when it is not here (any more)."""
        with self._lock:
            entry = self._entries.get(key)
        return entry and entry[0]

    def put(self, key: K, value: V, *, weight: int = 0) -> None:
        """Remembers an entry; forgets those that were not used for longest, as far as there is no room for them."""
        with self._lock:
            self._entries.pop(key, None)
            if weight <= self._entries.maxsize:
                self._entries[key] = value, max(weight, self._least)


class Caches:
    """One per store."""

    def __init__(self) -> None:
        self.specs: Recent[int, JobSpec] = Recent(2_000, weight=_SPECS)
        """Specs by job; each weighs as much as its text is long."""
        self.token_limits: Recent[int, int] = Recent(100_000)
        """`budget.job_tokens` of specs by job; 0: without."""
        self.domains: Recent[str, int] = Recent(100_000)
        """Ids of domains by host name."""
        self.hosts: Recent[int, str] = Recent(100_000)
        """Host names by id."""
