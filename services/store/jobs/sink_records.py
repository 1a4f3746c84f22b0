"""The store's records of the sinks of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SinkState(StrEnum):
    """States of writing a job's records to one sink."""

    WAITING = "waiting"
    """For its next attempt, or one is under way."""
    DONE = "done"
    """All records of the job were taken."""
    FAILED = "failed"
    """Given up; its owner may have it tried again."""
    SKIPPED = "skipped"
    """Nothing is written: the job is not completed, or a newer one stands there already."""
    UNJUDGED = "unjudged"
    """It waits until its run is held against its schedule's history."""
    HELD = "held"
    """Held back, since its run is degraded; its owner may have it written."""


@dataclass(frozen=True, slots=True)
class SinkRow:
    """One sink of a job that has ended."""

    job: int
    nth: int  # place among the job's `sinks`, from 0
    tenant: str
    place: str  # where it writes to, for people
    state: SinkState
    attempts: int  # begun, the one under way included
    failures: int  # attempts that failed since it last came on
    leased: bool  # one is under way
    cursor: str  # how far it came: text of the writer's own
    written: int  # records that were taken
    due_at: datetime  # of the next attempt; while one is under way, when it counts as lost
    created_at: datetime
    ended_at: datetime | None
    error: str  # why the last attempt failed
    overtaken: bool = False  # a newer job has written to the same place; known of those that are claimed


@dataclass(frozen=True, slots=True)
class SinkEnd:
    """The end of one attempt to write."""

    state: SinkState  # WAITING: again in `again_in_s`
    again_in_s: float = 0.0
    error: str = ""
