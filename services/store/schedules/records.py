"""The store's records of schedules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shoal.agent.status import Status
from shoal.services.schedules.bands import Deviation
from shoal.services.schedules.figures import RunFigures
from shoal.services.schedules.firing import FiringPlan, RunState
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.store.ids import job_id
from shoal.services.store.records import NewJob


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A schedule as it stands."""

    id: int
    tenant: str
    spec: ScheduleSpec
    start: float  # seconds since the epoch from which its interval counts
    due_at: datetime | None  # of the next firing; None: it is paused
    created_by: str | None
    created_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """Why a run is degraded, and what its page looked like before and in it."""

    reasons: tuple[Deviation, ...]
    before: str | None = None  # screenshots, by their artifact ids
    now: str | None = None


@dataclass(frozen=True, slots=True)
class RunRow:
    """The outcome of one of a schedule's times, or of several that were missed in a row."""

    schedule: int
    at: datetime  # the time, or the first of them
    until: datetime  # the last of them
    times: int
    state: RunState
    why: str
    fired_at: datetime
    job: int | None
    status: Status | None  # of the job; None: there is none, or it is deleted
    figures: RunFigures | None  # once it is over
    verdict: RunVerdict | None  # None: it is not degraded, or not judged yet
    over: bool  # nothing is to be started or judged any more

    @property
    def late_s(self) -> float:
        """Return how long after its time it was fired."""
        return (self.fired_at - self.until).total_seconds()


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule whose time has come."""

    row: ScheduleRow
    due_at: float  # seconds since the epoch, as is
    version: float  # when it was changed last


@dataclass(frozen=True, slots=True)
class Firing:
    """A gateway's findings about a schedule that is due: they hold where nothing has changed meanwhile."""

    due: DueSchedule
    plan: FiringPlan
    job: NewJob | None  # what runs; None: it is refused, or nothing is in time
    refusal: str = ""  # why its job cannot be submitted
    waits: str = ""  # why it cannot be submitted yet


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run that waited, and whose turn has come."""

    row: ScheduleRow
    at: float


@dataclass(frozen=True, slots=True)
class QueuedStart:
    """A gateway's findings about a run whose turn has come."""

    run: QueuedRun
    job: NewJob | None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Fired:
    """The written outcome of a schedule's times."""

    schedule: int
    tenant: str
    name: str
    state: RunState
    times: int
    late_s: float
    job: int | None = None


@dataclass(frozen=True, slots=True)
class RunOfJob:
    """The run that a job is, with its schedule's name."""

    name: str
    run: RunRow


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Counts of a run's records that are unlike those of an earlier one."""

    since: int  # the earlier run's job
    counts: Mapping[str, int]  # those that appeared, went and changed, and those of which that is unclear


@dataclass(frozen=True, slots=True)
class Judged:
    """A run that is over, with what it gave."""

    schedule: int
    at: float
    job: int
    tenant: str
    finished_at: datetime | None  # of the job as it was looked at; None: it is deleted
    figures: RunFigures | None  # None: it did not complete
    verdict: RunVerdict | None
    changes: RunDifference | None = None  # against the last good run, where somebody asked for it

    def degraded_event(self, name: str) -> Mapping[str, object]:
        """Return the data of a degraded run's event."""
        reasons = self.verdict.reasons if self.verdict else ()
        return {
            "schedule": name,
            "job": job_id(self.job),
            "reasons": [{"kind": reason.kind, "field": reason.field, "text": reason.text} for reason in reasons],
        }

    def changes_event(self, name: str) -> Mapping[str, object] | None:
        """Return the data of the event that records changed; None where none did."""
        changes = self.changes
        if changes is None or not any(n for kind, n in changes.counts.items() if kind != "unclear"):
            return None
        return {"schedule": name, "since": job_id(changes.since), "changes": dict(changes.counts)}
