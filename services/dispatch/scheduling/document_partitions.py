"""Partitions whose items a worker reads from documents: they are claimed in runs, and take no slot of a browser."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from cachetools import LRUCache

from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import LearnedUse, Work

RUN_WIDTH = 16
"""Documents of one run that are under way at once, where the site's limits allow as many."""
MOST_IN_RUN = 256
"""Sessions that a worker holds in runs."""
LEAST_IN_RUN = 16
_MOST_PARTITIONS = 1_000
_SMOOTHING = 0.1
_LEAST_SHARE = 0.5
"""Where fewer items than that are read from documents, each item gets a slot."""


@dataclass(slots=True)
class _Known:
    worker: str
    share: float = 1.0  # of its items that were read from documents, smoothed
    paused_until: float = 0.0  # seconds of the caller's clock
    served: float = 0.0  # when it last got a run; likewise


class DocumentPartitions:
    """What one dispatcher knows of them, by job and domain. A worker that is lost is known no more."""

    def __init__(self) -> None:
        self._known: LRUCache[tuple[int, int], _Known] = LRUCache(_MOST_PARTITIONS)

    def note(self, work: Work, domain: int, worker: str, outcome: Outcome) -> bool:
        """An item has ended; whether its partition is one of them no more, which it was before."""
        key = (work.job, domain)
        known = self._known.get(key)
        if outcome.status is not Status.COMPLETED or work.learned is LearnedUse.AUDIT:
            return False
        by_document = bool(outcome.records) and outcome.records[0].tier == "http"
        if known is None:
            if by_document and may_run(work, outcome):
                self._known[key] = _Known(worker)
            return False
        if known.worker == worker:
            known.share += (by_document - known.share) * _SMOOTHING
        return known.share < _LEAST_SHARE and self.forget(*key)

    def forget(self, job: int, domain: int) -> bool:
        """Each of its items gets a slot again."""
        return self._known.pop((job, domain), None) is not None

    def served(self, job: int, domain: int, now: float) -> None:
        """A run was asked for: others come first from now on."""
        if (known := self._known.get((job, domain))) is not None:
            known.served = now

    def refused(self, job: int, domain: int, until: float) -> None:
        """The store gives no run before that moment."""
        if (known := self._known.get((job, domain))) is not None:
            known.paused_until = until

    def worker_of(self, job: int, domain: int) -> str | None:
        """The worker that reads its documents."""
        known = self._known.get((job, domain))
        return None if known is None else known.worker

    def due(self, workers: Container[str], now: float) -> Iterator[tuple[int, int, str]]:
        """Those of some workers that may get a run now, with the worker; those that got none for longest come first."""
        for (job, domain), known in sorted(self._known.items(), key=lambda pair: pair[1].served):
            if known.worker in workers and known.paused_until <= now:
                yield job, domain, known.worker

    def lost(self, workers: Container[str]) -> list[int]:
        """Forgets those whose worker is not among these; gives their domains."""
        gone = [key for key, known in self._known.items() if known.worker not in workers]
        for key in gone:
            del self._known[key]
        return [domain for _, domain in gone]

    def __len__(self) -> int:
        return len(self._known)

    def next_change(self, now: float) -> float | None:
        """Seconds until a refusal is over; None where none is waited for."""
        later = [known.paused_until - now for known in self._known.values() if known.paused_until > now]
        return min(later, default=None)


def may_run(work: Work, outcome: Outcome) -> bool:
    """Whether other items of this loop may be claimed many at a time.

    Not where pages keep a distance, where the first failure ends the loop, or where only a sample is wanted.
    """
    loop = work.spec.loop_at(work.depth - 1) if work.depth else None
    distance = work.spec.politeness.delay_s > 0 or bool(outcome.crawl_delay_s)
    return loop is not None and loop.on_error == "continue" and not distance and work.spec.sample is None
