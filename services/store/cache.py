"""What a process remembers of rows that never change: specs of jobs and ids of host names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from agent.spec import JobSpec

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The most recently used entries of a mapping, for several threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The entry, or None when it is not here (any more)."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key]

    def put(self, key: K, value: V) -> None:
        """Remembers an entry; forgets the one that was not used for longest."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def get_or(self, key: K, make: Callable[[], V]) -> V:
        """The entry, made and remembered when it is not here."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value


class Caches:
    """One per store."""

    def __init__(self) -> None:
        self.specs: Recent[int, JobSpec] = Recent(2_000)
        """Specs by job."""
        self.domains: Recent[str, int] = Recent(100_000)
        """Ids of domains by host name."""
        self.hosts: Recent[int, str] = Recent(100_000)
        """Host names by id."""
