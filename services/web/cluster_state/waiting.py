"""What a session waits for, and about how long: from its row, its job, and what the dispatchers last said. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from shoal.agent.status import Status
from shoal.services.store.records import FREE_SLOT, JobRow, SessionRow
from shoal.services.web.cluster_state.overview import Snapshot

Json = Any

MEASURED_ITEMS = 5
"""A job's own rate is believed once so many of its items have ended."""


class Cause(StrEnum):
    """What sessions wait for."""

    PAUSED = "paused"
    """Its owner holds the job back."""
    CANCELED = "canceled"
    """Its job is being canceled: it only waits to be told so."""
    CHILDREN = "children"
    """The items of its loop."""
    RETRY_TIME = "retry_time"
    """The pause before its next try."""
    CONCURRENCY = "concurrency"
    """The loop's own limit: a sibling has to end first."""
    DISPATCHER = "dispatcher"
    """None speaks."""
    WORKER = "worker"
    """No browser worker runs."""
    DOMAIN_PAUSE = "domain_pause"
    """The site asked for a pause."""
    DOMAIN_DELAY = "domain_delay"
    """The delay between two sessions on the site."""
    DOMAIN_LIMIT = "domain_limit"
    """So many sessions are on the site as may be."""
    MODEL = "model"
    """The model server takes no more."""
    SLOT = "slot"
    """Every browser slot is busy."""
    TURN = "turn"
    """There are free slots: the next claim takes it."""


CAUSES: Mapping[str, Cause] = {
    "the site asked for a pause": Cause.DOMAIN_PAUSE,
    "domain limit": Cause.DOMAIN_LIMIT,
    "the delay between sessions": Cause.DOMAIN_DELAY,
    "the model server": Cause.MODEL,
    "a free slot": Cause.SLOT,
}
"""The dispatchers' own words."""


@dataclass(frozen=True, slots=True)
class Wait:
    """What one session waits for."""

    cause: Cause
    words: str  # follow "waiting for"
    for_s: float | None = None  # about how long; None: nobody can say


@dataclass(frozen=True, slots=True)
class WaitContext:
    """What the explanation is drawn from, besides the session itself."""

    job: JobRow
    live: Sequence[Snapshot]  # dispatchers that still speak
    now: datetime
    put_off: Mapping[int | None, datetime] = field(default_factory=dict)  # the last tries to come, by their parents

    @property
    def slots(self) -> float:
        """Browser slots in all."""
        return sum(one.number("slots") for one in self.live)

    @property
    def free(self) -> float:
        """Browser slots that nobody uses."""
        return self.slots - sum(one.number("busy") for one in self.live)

    @property
    def rate(self) -> float:
        """Sessions of this job that end per second, as measured, else as its fair share promises; 0: unknown."""
        counts, began = self.job.counts, self.job.started_at
        if began is not None and counts.final >= MEASURED_ITEMS:
            return counts.final / max((self.now - began).total_seconds(), 0.001)
        whole = sum(one.number("rate") for one in self.live)
        return whole * max((_share(one.data, self.job.tenant) for one in self.live), default=0.0)

    def held(self, session: SessionRow) -> tuple[str, float] | None:
        """What keeps the dispatchers from this job's sessions on this one's site, and for how long; 0: nobody knows."""
        for one in self.live:
            found = one.data.get("held", {}).get(str(session.job), {}).get(session.domain)
            if found is not None:
                return str(found[0]), float(found[1])
        return None

    @property
    def waiting(self) -> Mapping[str, int]:
        """Queues by what they wait for, in the dispatchers' words."""
        total = Counter[str]()
        for one in self.live:
            total.update(one.data.get("lanes_waiting", {}))
        return +total

    @property
    def unnamed(self) -> str | None:
        """What most of those queues wait for that the dispatchers do not name one by one; None: they name them all."""
        left = Counter({why: n for why, n in self.waiting.items() if why != FREE_SLOT})
        for one in self.live:
            left.subtract({why: len(partitions) for why, partitions in one.data.get("lanes_held", {}).items()})
        return next((why for why, n in left.most_common(1) if n > 0), None)


def explain(session: SessionRow, scene: WaitContext, ahead: int) -> Wait | None:
    """What `session` waits for, with `ahead` sessions of its job before it; None when it does not wait."""
    if session.status is Status.WAITING:
        return Wait(Cause.CHILDREN, _children(session), _until_children(session, scene))
    if session.status is Status.PAUSED:
        return Wait(Cause.PAUSED, "its job to be resumed")
    if session.status is not Status.QUEUED:
        return None
    if scene.job.cancel_requested:
        return Wait(Cause.CANCELED, "the end of its job, which was canceled")
    if session.ready_at is not None and session.ready_at > scene.now:
        wait_s = (session.ready_at - scene.now).total_seconds()
        return Wait(Cause.RETRY_TIME, f"its next try (number {session.attempt + 1})", wait_s)
    if not scene.live:
        return Wait(Cause.DISPATCHER, "a dispatcher: none speaks")
    if session.waiting_for == "the loop's concurrency":
        limit = scene.job.concurrency
        words = "the loop's concurrency" + (f": {limit:,} at once" if limit else "")
        return Wait(Cause.CONCURRENCY, words, _over(ahead + 1, scene.rate))
    return _queued(session, scene, ahead)


def _queued(session: SessionRow, scene: WaitContext, ahead: int) -> Wait:
    """A session that could be claimed now, if there were room."""
    wait_s = _over(ahead + 1, scene.rate)
    before = f" ({ahead:,} of its job are before it)" if ahead else ""
    if not scene.slots:
        return Wait(Cause.WORKER, "a browser worker: none is running")
    held = scene.held(session)
    if held is not None:
        why, pause_s = held
        cause = CAUSES.get(why, Cause.DOMAIN_LIMIT)
        words = why if cause is Cause.MODEL else f"{session.domain}: {why}"
        return Wait(cause, words + before, pause_s + (wait_s or 0.0) or None)
    unnamed = scene.unnamed
    if unnamed is not None and (scene.free > 0 or FREE_SLOT not in scene.waiting):
        return Wait(CAUSES.get(unnamed, Cause.DOMAIN_LIMIT), f"{unnamed}, probably{before}", wait_s)
    if scene.free > 0 and ahead < scene.free:
        return Wait(Cause.TURN, "the next claim: slots are free", min(wait_s or 1.0, 1.0))
    return Wait(Cause.SLOT, f"a free slot: {scene.slots:,.0f} are busy{before}", wait_s)


def _share(data: Mapping[str, Json], tenant: str) -> float:
    """The part of a dispatcher's work that is one job's turn: its tenant's weight, split over the tenant's jobs."""
    tenants, weights = data.get("tenants", {}), data.get("weights", {})
    if not tenants:
        return 1.0
    mine = float(weights.get(tenant, 1.0))
    everybody = sum(float(weights.get(name, 1.0)) for name in {*tenants, tenant})
    return mine / everybody / max(int(tenants.get(tenant, 1)), 1)


def _over(sessions: int, rate: float) -> float | None:
    return sessions / rate if rate > 0 else None


def _until_children(session: SessionRow, scene: WaitContext) -> float | None:
    """By the rate, and not before the last try of an item that is put off; a root waits for all loops below it."""
    tries = scene.put_off.values() if session.parent is None else filter(None, [scene.put_off.get(session.id)])
    known = [max(0.0, (at - scene.now).total_seconds()) for at in tries]
    by_rate_s = _over(session.pending_children, scene.rate)
    return max(known + ([] if by_rate_s is None else [by_rate_s]), default=None)


def _children(session: SessionRow) -> str:
    return f"the items of its loop: {session.pending_children:,} to go"
