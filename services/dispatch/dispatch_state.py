"""State that the loops of one dispatcher share. All of it can be lost: the truth is in the store."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from shoal.agent.status import FINAL, Status
from shoal.agent.support.moments import loop_time
from shoal.agent.worker_messages import LearnedUse, Work
from shoal.services import tracing
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.scheduling.domains import DocumentPartitions, Domains
from shoal.services.dispatch.scheduling.fair_queue import FairQueue, Shares, UnservedPartitions
from shoal.services.dispatch.signals import Signals
from shoal.services.dispatch.status.dispatch_metrics import DispatchMetrics
from shoal.services.dispatch.status.site_rates import SiteRates
from shoal.services.events import LogEvent
from shoal.services.store.records import Claimed, CommitResult, ExpiredLeases, Finish, Partition
from shoal.services.store.store import Store

log = structlog.get_logger()

_CUT_SHORT = (Status.PAUSED, Status.CANCELED)
"""Ends that say nothing of how long such a session takes."""
_WITHOUT_MODEL = ("rules", "person", "workflow:")


def asks_model(policy: str) -> bool:
    """Return whether a job with this policy asks the model, where one is configured."""
    return not policy.startswith(_WITHOUT_MODEL)


@dataclass(slots=True)
class Lease:
    """A session that one of our workers holds."""

    work: Work
    domain: int
    worker: str
    renewed: float  # when it was last extended
    asks: bool  # whether it may ask the model
    began: float = field(default_factory=time.time)  # seconds since the epoch


@dataclass(slots=True)
class DispatchState:
    """Partitions, domains and leases, with the signals by which the loops wake each other."""

    config: DispatchConfig
    partitions: FairQueue
    domains: Domains
    documents: DocumentPartitions
    metrics: DispatchMetrics = field(default_factory=DispatchMetrics)
    site_rates: SiteRates = field(default_factory=SiteRates)
    unserved: UnservedPartitions = field(default_factory=UnservedPartitions)
    leases: dict[int, Lease] = field(default_factory=dict)
    in_runs: int = 0  # leases in runs of documents, which take no slots
    asking: int = 0  # leases on sessions that ask the model
    held: Counter[str] = field(default_factory=Counter)  # leases by tenant
    signals: Signals = field(default_factory=Signals)
    store_away: bool = False
    ended: int = 0  # sessions, since the start
    failed: int = 0
    _became_ready: list[Partition] | None = None  # partitions that became ready while a claim runs; None: none runs

    @classmethod
    def of(cls, config: DispatchConfig) -> DispatchState:
        """An empty dispatch state."""
        domains = Domains(config.per_domain)
        return cls(config, FairQueue(config.tenant_weights), domains, DocumentPartitions(domains))

    def note_store(self, *, away: bool, error: str = "") -> None:
        """The store did not answer, or does again."""
        if away and not self.store_away:
            log.warning(LogEvent.STORE_AWAY, error=error)
        elif self.store_away and not away:
            log.info(LogEvent.STORE_BACK)
        self.store_away = away

    # --- partitions ---------------------------------------------------------------------------------------

    def add(self, partitions: Sequence[Partition]) -> None:
        """These partitions have ready sessions, as was just read or claimed."""
        if self._became_ready is not None:
            self._became_ready.extend(partitions)
        self.partitions.add(partitions)
        self.unserved.ready(partitions, loop_time())

    @contextmanager
    def claiming(self) -> Iterator[None]:
        """A claim runs: partitions that become ready meanwhile are ready behind it, too.

        The store may have answered the claim before a session became ready again (its worker was lost). The claim's
        answer would then move the cursor past that session, or drop its partition.
        """
        self._became_ready = []
        try:
            yield
        finally:
            became_ready, self._became_ready = self._became_ready, None
            self.add(became_ready)

    def ready(self, partitions: Sequence[Partition]) -> None:
        """These partitions have ready sessions now: the claimer is told."""
        self.add(partitions)
        self.signals.sessions_ready()

    def committed(self, written: CommitResult) -> None:
        """A group of reports was written."""
        self.ready(written.ready)
        if written.pending_children:
            self.signals.children_pending()
        if written.stopped:
            self.signals.bulk_operation_left()
        if written.learned:
            self.signals.loop_learns()

    def empty(self, job: int, domain: int) -> None:
        """This partition has nothing ready for now."""
        self.partitions.drop(job, domain)
        self.unserved.empty(job, domain)

    # --- leases --------------------------------------------------------------------------------------

    def shares(self, slots: int) -> Shares | None:
        """Return what each tenant holds of so many slots, and how many one may hold;
        None where nothing bounds that.

        Sessions that a worker holds ahead of time count: it would begin them whatever else waits.
        """
        share = self.config.tenant_share
        return None if share >= 1 else Shares(max(1, math.floor(share * slots)), Counter(self.held))

    def lease(self, claimed: Claimed, now: float, *, adopted: bool = False) -> None:
        """A session was claimed for a worker, by this dispatcher or by the one before (then renewing it is due)."""
        work = claimed.work
        self._drop(work.session)  # another dispatcher may have ended an older one
        asks = asks_model(work.spec.policy) and work.learned is not LearnedUse.REPLAY
        self.asking += asks
        self.in_runs += bool(work.width)
        self.held[work.tenant] += not work.width
        self.leases[work.session] = Lease(work, claimed.domain, claimed.owner, -math.inf if adopted else now, asks)
        delay_s = work.spec.politeness.delay_s
        self.domains.started(claimed.domain, work.job, delay_s, now, owner=claimed.owner, width=work.width)
        self.unserved.served(work.job, claimed.domain, now)

    def end(self, finish: Finish) -> None:
        """A report was written, or was late: the lease that it was made under is over."""
        lease = self.leases.get(finish.session)
        if lease is None or lease.work.fence != finish.fence:
            return
        self._drop(finish.session)
        self.metrics.ended(finish.outcome)
        work, status = lease.work, str(finish.outcome.status)
        tracing.record_lease(work.job, work.session, work.fence, lease.began, worker=lease.worker, status=status)
        if self.documents.note(work, lease.domain, lease.worker, finish.outcome):
            self.domains.look_again(lease.domain)
        if finish.outcome.status not in _CUT_SHORT:
            self.site_rates.note(lease.domain, finish.outcome, loop_time())
            self.partitions.ended(work.tenant, work.job, finish.outcome.seconds)
        if finish.outcome.status in FINAL:
            self.ended += 1
            self.failed += finish.outcome.status is not Status.COMPLETED

    def give_up(self, session: int, fence: int) -> None:
        """This lease is renewed no more: the session goes on elsewhere when it has run out."""
        if (lease := self.leases.get(session)) is not None and lease.work.fence == fence:
            self._drop(session)

    def leases_of(self, workers: Container[str], *, before: float) -> dict[int, Lease]:
        """Leases of these workers. Those of others that ran out are dropped: renewed before that time, and ended by
        any dispatcher."""
        others = {lease.worker for lease in self.leases.values() if lease.worker not in workers}
        if not others:
            return dict(self.leases)
        for session, lease in list(self.leases.items()):
            if lease.worker in others and lease.renewed < before:
                self._drop(session)
        return {session: lease for session, lease in self.leases.items() if lease.worker not in others}

    def leases_expired(self, some: ExpiredLeases) -> None:
        """Leases ended without a report."""
        for session in some.sessions:
            log.warning(LogEvent.LEASE_REAPED, session=session.session, job=session.job, status=session.status)
            self.metrics.delta.add("shoal_leases_expired")
            self._drop(session.session)
        if some.sessions:
            self.add(some.ready)
            self.signals.store_changed()

    def _drop(self, session: int) -> None:
        if (lease := self.leases.pop(session, None)) is not None:
            work = lease.work
            self.asking -= lease.asks
            self.in_runs -= bool(work.width)
            self.held[work.tenant] -= not work.width
            if not self.held[work.tenant]:
                del self.held[work.tenant]
            self.domains.ended(lease.domain, work.job, owner=lease.worker, width=work.width)

    @property
    def in_slots(self) -> int:
        """Leases on sessions that take a slot of a browser."""
        return len(self.leases) - self.in_runs


async def take_over(store: Store, state: DispatchState, held: Mapping[int, int]) -> None:
    """Takes over the leases of an earlier dispatcher.

    Sessions that workers hold under these fences are this dispatcher's from now on: renewed, and tried again.
    """
    for lease in await store.running(held) if held else ():
        if held[lease.work.session] == lease.work.fence:
            state.lease(lease, loop_time(), adopted=True)
