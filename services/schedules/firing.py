"""The firing of a schedule at a moment: times that run, and times that were missed. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.schedules.times import Cron, Interval, Times, interval_s, passed

IN_TIME_S = 300.0
"""A time that is fired so much later, at most, is not missed."""
RUN_KEY = "schedule:"
"""Prefix of the idempotency keys of runs; callers' own may not have it."""
LATE_S = 60.0
"""A firing that is so much later counts as late."""


class RunState(StrEnum):
    """States of one of a schedule's times."""

    STARTED = "started"
    """A job was submitted."""
    QUEUED = "queued"
    """It waits until the run before is over."""
    SKIPPED = "skipped"
    """The run before was not over."""
    MISSED = "missed"
    """It passed while no gateway ran."""
    REFUSED = "refused"
    """Its job could not be submitted."""


class Pending(StrEnum):
    """Work that is still to be done about a run."""

    START = "start"
    VERDICT = "verdict"


PENDING = {RunState.STARTED: Pending.VERDICT, RunState.QUEUED: Pending.START}
"""Work that is left on a run, by its state; none in the other states."""


@dataclass(frozen=True, slots=True)
class MissedTimes:
    """Times that passed without a run."""

    first: float
    last: float
    times: int
    counted: bool  # else they are at least so many


@dataclass(frozen=True, slots=True)
class FiringPlan:
    """The times that are due, and the next one."""

    run_at: float | None  # the time that runs now
    missed: MissedTimes | None
    next_due: float


def times_of(spec: ScheduleSpec, start: float) -> Times:
    """The times of a schedule; those of an interval count from `start`."""
    if spec.cron is not None:
        return Cron(spec.cron, spec.time_zone)
    assert spec.every is not None  # the spec has one of the two
    return Interval(interval_s(spec.every), start)


def plan(times: Times, due_at: float, now: float, catch_up: Literal["none", "one"]) -> FiringPlan:
    """Return what to do at `now` about a time that is due,
    and those that came behind it.

    Of several that have passed the last one runs, where it is in time or is to be caught up; the others are missed.
    """
    come = passed(times, due_at, now)
    if catch_up == "one" or now - come.last <= IN_TIME_S:
        missed = None
        if come.missed:
            missed = MissedTimes(due_at, come.before, come.missed, come.counted)
        return FiringPlan(come.last, missed, come.next)
    return FiringPlan(None, MissedTimes(due_at, come.last, come.missed + 1, come.counted), come.next)
