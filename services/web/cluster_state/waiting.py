"""The cause for which a session waits, and the likely time: from its row, its job, and the last reports of the
dispatchers. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from shoal.agent.status import Status
from shoal.services.store.records import JobRow, SessionRow
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.cluster_state.overview import Snapshot
from shoal.services.web.cluster_state.waiting_words import TEXTS, queue_label

MEASURED_ITEMS = 5
"""A job's own rate is believed once so many of its items have ended."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The cause for which one session waits, and the likely time."""

    cause: WaitingCause
    words: str  # follow "waiting for"
    for_s: float | None = None  # about how long; None: unknown


@dataclass(frozen=True, slots=True)
class WaitContext:
    """The facts that the explanation is drawn from, besides the session itself."""

    job: JobRow
    live: Sequence[Snapshot]  # of dispatchers that are running
    now: datetime
    put_off: Mapping[int | None, datetime] = field(default_factory=dict)  # the last tries to come, by their parents

    @property
    def slots(self) -> float:
        """Browser slots in all."""
        return sum(snapshot.number("slots") for snapshot in self.live)

    @property
    def free(self) -> float:
        """Browser slots that are free."""
        return self.slots - sum(snapshot.number("busy") for snapshot in self.live)

    @property
    def rate(self) -> float:
        """Sessions of this job that end per second, as measured, else as its fair share promises; 0: unknown."""
        counts, began = self.job.counts, self.job.started_at
        if began is not None and counts.final >= MEASURED_ITEMS:
            return counts.final / max((self.now - began).total_seconds(), 0.001)
        whole = sum(snapshot.number("rate") for snapshot in self.live)
        return whole * max((_share(snapshot, self.job.tenant) for snapshot in self.live), default=0.0)

    def delay_of(self, session: SessionRow) -> tuple[WaitingCause, float] | None:
        """Return what keeps the dispatchers from this job's sessions on this one's site, and for how long;
        0: unknown.
        """
        return next(filter(None, (snapshot.delay_of(session.job, session.domain) for snapshot in self.live)), None)

    @property
    def at_share(self) -> bool:
        """Return whether this job's tenant holds as many slots as one may, at each dispatcher."""
        return bool(self.live) and all(self.job.tenant in snapshot.data.get("at_share", ()) for snapshot in self.live)

    @property
    def waiting(self) -> Counter[WaitingCause]:
        """Queues by what they wait for."""
        return sum((snapshot.queues for snapshot in self.live), Counter[WaitingCause]())

    @property
    def unnamed(self) -> WaitingCause | None:
        """Return what most of those queues wait for that the dispatchers do not name one by one;
        None: they name them all.
        """
        left = self.waiting
        del left[WaitingCause.SLOT], left[WaitingCause.SHARE]  # of single tenants it is known, see `at_share`
        for snapshot in self.live:
            left.subtract({cause: len(queues) for cause, queues in snapshot.named_queues.items()})
        return next((cause for cause, n in left.most_common(1) if n > 0), None)


def explain(session: SessionRow, context: WaitContext, ahead: int) -> Wait | None:
    """Return what `session` waits for, with `ahead` sessions of its job before it; None when it does not wait."""
    if session.status is Status.WAITING:
        return Wait(WaitingCause.CHILDREN, _children(session), _until_children(session, context))
    if session.status is Status.PAUSED:
        return _plain(WaitingCause.PAUSED)
    if session.status is not Status.QUEUED:
        return None
    if context.job.cancel_requested:
        return _plain(WaitingCause.CANCELED)
    if session.ready_at is not None and session.ready_at > context.now:
        wait_s = (session.ready_at - context.now).total_seconds()
        return Wait(
            WaitingCause.RETRY_TIME, f"{TEXTS[WaitingCause.RETRY_TIME].words} (number {session.attempt + 1})", wait_s
        )
    if not context.live:
        return _plain(WaitingCause.DISPATCHER)
    if session.waiting_for is WaitingCause.LEARNING:
        return _plain(WaitingCause.LEARNING)
    if session.waiting_for is WaitingCause.CONCURRENCY:
        limit = context.job.concurrency
        words = TEXTS[WaitingCause.CONCURRENCY].words + (f": {limit:,} at once" if limit else "")
        return Wait(WaitingCause.CONCURRENCY, words, _over(ahead + 1, context.rate))
    return _queued(session, context, ahead)


def _queued(session: SessionRow, context: WaitContext, ahead: int) -> Wait:
    """A session that could be claimed now, if there were room."""
    wait_s = _over(ahead + 1, context.rate)
    before = f" ({ahead:,} of its job are before it)" if ahead else ""
    if not context.slots:
        return _plain(WaitingCause.WORKER)
    held = context.delay_of(session)
    if held is not None:
        cause, pause_s = held
        of_site = cause not in (WaitingCause.MODEL, WaitingCause.SHARE)
        words = f"{session.domain}: {queue_label(cause)}" if of_site else queue_label(cause)
        return Wait(cause, words + before, pause_s + (wait_s or 0.0) or None)
    if context.at_share:
        return Wait(WaitingCause.SHARE, queue_label(WaitingCause.SHARE) + before, wait_s)
    unnamed = context.unnamed
    if unnamed is not None and (context.free > 0 or WaitingCause.SLOT not in context.waiting):
        return Wait(unnamed, f"{queue_label(unnamed)}, probably{before}", wait_s)
    if context.free > 0 and ahead < context.free:
        return Wait(WaitingCause.TURN, TEXTS[WaitingCause.TURN].words, min(wait_s or 1.0, 1.0))
    return Wait(WaitingCause.SLOT, f"{TEXTS[WaitingCause.SLOT].words}: {context.slots:,.0f} are busy{before}", wait_s)


def _share(snapshot: Snapshot, tenant: str) -> float:
    """The part of a dispatcher's work that is one job's turn: its tenant's weight, split over the tenant's jobs."""
    tenants, weights = snapshot.data.get("tenants", {}), snapshot.data.get("weights", {})
    if not tenants:
        return 1.0
    mine = float(weights.get(tenant, 1.0))
    total = sum(float(weights.get(name, 1.0)) for name in {*tenants, tenant})
    return mine / total / max(int(tenants.get(tenant, 1)), 1)


def _plain(cause: WaitingCause) -> Wait:
    return Wait(cause, TEXTS[cause].words)


def _over(sessions: int, rate: float) -> float | None:
    return sessions / rate if rate > 0 else None


def _until_children(session: SessionRow, context: WaitContext) -> float | None:
    """By the rate, and not before the last try of an item that is put off; a root waits for all loops below it."""
    tries = context.put_off.values() if session.parent is None else filter(None, [context.put_off.get(session.id)])
    known = [max(0.0, (at - context.now).total_seconds()) for at in tries]
    by_rate_s = _over(session.pending_children, context.rate)
    return max(known + ([] if by_rate_s is None else [by_rate_s]), default=None)


def _children(session: SessionRow) -> str:
    return f"the items of its loop: {session.pending_children:,} to go"
