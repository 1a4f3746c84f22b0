"""What a process remembers of what never changes: specs of jobs, token limits in them, ids of host names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

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
        self._size = size
        self._most = weight
        self._weight = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The entry, or None when it is not here (any more)."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: K, value: V, *, weight: int = 0) -> None:
        """Remembers an entry; forgets those that were not used for longest, as far as there is no room for them."""
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._entries[key] = value, weight
            self._weight += weight - before
            while len(self._entries) > self._size or (self._most is not None and self._weight > self._most):
                _, (_, gone) = self._entries.popitem(last=False)
                self._weight -= gone


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
