"""For how long queues have waited to be served, as far as one dispatcher saw."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.services.store.records import Partition


class UnservedPartitions:
    """Queues with ready sessions, the one that waits longest first. Nothing here costs more for there being many.

    Moments are seconds of one monotonic clock that the caller reads, and that it must not give out of order.
    """

    def __init__(self) -> None:
        self._since: dict[tuple[int, int], float] = {}  # by job and domain; in the order of the moments

    def ready(self, partitions: Iterable[Partition], now: float) -> None:
        """These queues have ready sessions; who waits already goes on."""
        for partition in partitions:
            self._since.setdefault((partition.job, partition.domain), now)

    def served(self, job: int, domain: int, now: float) -> None:
        """Sessions of this queue were claimed; what is left of it waits from now on."""
        key = (job, domain)
        if self._since.pop(key, None) is not None:
            self._since[key] = now

    def empty(self, job: int, domain: int) -> None:
        """This queue has nothing ready."""
        self._since.pop((job, domain), None)

    def longest_s(self, now: float) -> float:
        """For how long the queue that waits longest was not served; 0 without any."""
        return now - next(iter(self._since.values()), now)
