"""One worker, as its dispatcher sees it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from shoal.agent.support.moments import loop_time
from shoal.agent.worker_messages import Answer, LearnedUse, Work
from shoal.services.browsers.pools.pool import WorkerHandle
from shoal.services.dispatch.config import DispatchConfig

_SMOOTHING = 0.1
"""Share of the newest session in what one takes."""
_MOST_AUDITED = 64
"""Audited sessions of runs that a worker may hold and be given more: what they say of a version comes late by them."""


@dataclass(slots=True)
class WorkerState:
    """The state of a worker: the sessions that it holds and may take, and its last reports."""

    handle: WorkerHandle
    config: DispatchConfig
    held: set[int] = field(default_factory=set)  # sessions that take a slot
    in_runs: set[int] = field(default_factory=set)  # sessions that read documents
    audited: set[int] = field(default_factory=set)  # those of them that a browser reads, too: they wait for slots
    empty: asyncio.Event = field(default_factory=asyncio.Event)  # it holds nothing
    committed: int = 0  # serial number up to which the worker knows, or hears by a pull, that the store has all
    refused: set[int] = field(default_factory=set)  # later ones that the store did not take, until the worker knows
    answers: dict[int, Answer] = field(default_factory=dict)  # to those that asked; until it knows, too
    seen: int = 0  # serial number of the last report pulled
    puller: asyncio.Task[None] | None = None
    session_s: float = 1.0  # what a session takes, smoothed
    document_s: float = 1.0  # what one of a run takes, smoothed
    leaving: bool = False  # it gets no more sessions
    claiming: int = 0  # claims under way that may give it some
    settled: asyncio.Event = field(default_factory=asyncio.Event)  # no such claim is under way
    notifying: asyncio.Task[None] | None = None  # that something has changed for what it runs
    spending: Mapping[tuple[int, int], int] = field(default_factory=dict)  # `WorkerStats.spending`, as it last said
    idle_since: float = field(default_factory=loop_time)
    began: float = field(default_factory=loop_time)  # when it was first heard of
    worked: bool = False  # a session has ended on it

    def __post_init__(self) -> None:
        self.settled.set()

    @property
    def name(self) -> str:
        return self.handle.name

    @property
    def capacity(self) -> int:
        """Sessions that it may hold: long ones are not taken ahead of time, when another worker may be free sooner."""
        slots = self.handle.slots
        ahead = self.config.ahead_s / max(self.session_s, 0.001)
        return slots + math.ceil(slots * min(self.config.prefetch, ahead))

    @property
    def credit(self) -> int:
        """Sessions that it may take."""
        return 0 if self.leaving else max(0, self.capacity - len(self.held))

    @property
    def free(self) -> int:
        """Slots that would run dry without a claim."""
        return 0 if self.leaving else max(0, self.handle.slots - len(self.held))

    @property
    def wants_more(self) -> bool:
        """Return whether a claim is worth its price:
        in halves of what the worker may hold, before its slots run dry.
        """
        return self.credit > 0 and (self.credit >= self.capacity // 2 or len(self.held) <= self.handle.slots)

    @property
    def run(self) -> int:
        """Sessions that it may take as a run: what it reads in some seconds; 0 while it has half of that."""
        config = self.config
        most = math.ceil(config.run_width * config.run_ahead_s / max(self.document_s, 0.001))
        most = min(config.most_in_run, max(config.least_in_run, most))
        held = len(self.in_runs) - len(self.audited)
        has_enough = 2 * held > most or len(self.audited) > _MOST_AUDITED
        return 0 if self.leaving or has_enough else most - held

    @property
    def holds(self) -> bool:
        """Return whether it has any session."""
        return bool(self.held or self.in_runs)

    def idle_s(self, now: float) -> float:
        """For how long it has held nothing."""
        return 0.0 if self.holds else now - self.idle_since

    def hold(self, *sessions: int) -> None:
        """It was given these."""
        self.held.update(sessions)
        self._note()

    def hold_run(self, works: Iterable[Work]) -> None:
        """It was given these as a run."""
        for work in works:
            self.in_runs.add(work.session)
            if work.learned is LearnedUse.AUDIT:
                self.audited.add(work.session)
        self._note()

    def release(self, session: int, seconds: float) -> None:
        """It has ended this one, which took so long."""
        if session in self.in_runs:
            self.in_runs.discard(session)
            if session in self.audited:
                self.audited.discard(session)
            else:
                self.document_s += (seconds - self.document_s) * _SMOOTHING
        else:
            self.held.discard(session)
            self.session_s += (seconds - self.session_s) * _SMOOTHING
        self._note()

    def _note(self) -> None:
        if self.holds:
            self.empty.clear()
        elif not self.empty.is_set():
            self.empty.set()
            self.idle_since = loop_time()


@contextmanager
def claiming(workers: Iterable[WorkerState]) -> Iterator[None]:
    """While a claim is under way that may give these sessions, and until they hold them."""
    workers = list(workers)
    for worker in workers:
        worker.claiming += 1
        worker.settled.clear()
    try:
        yield
    finally:
        for worker in workers:
            worker.claiming -= 1
            if not worker.claiming:
                worker.settled.set()
