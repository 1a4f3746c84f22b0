"""The one status enum of jobs and sessions, with its transition table and its final states."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The status of a job or a session. A job has the status of its root session, or `paused`."""

    QUEUED = "queued"
    """Ready to be claimed once its time, its domain and its job allow it."""
    RUNNING = "running"
    """Leased to a worker."""
    WAITING = "waiting"
    """Fanned out: holds no slot until its last child is final."""
    PAUSED = "paused"
    """Held back by its owner; resumes from its checkpoint."""
    COMPLETED = "completed"
    """The goal was reached and every record is valid."""
    TERMINATED = "terminated"
    """The goal cannot be reached, on evidence from the site; carries the caller's error codes."""
    FAILED = "failed"
    """Gave up after its attempts; carries the error."""
    UNSURE = "unsure"
    """Died inside an action that must not be repeated; a person settles it."""
    CANCELED = "canceled"
    """Stopped by its owner."""


FINAL: frozenset[Status] = frozenset(
    {Status.COMPLETED, Status.TERMINATED, Status.FAILED, Status.UNSURE, Status.CANCELED}
)
"""States that the system itself never leaves."""
RETRIED: frozenset[Status] = frozenset({Status.FAILED, Status.TERMINATED, Status.CANCELED})
"""Those of them from which the owner's command `retry` queues a session again."""

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.RUNNING, Status.PAUSED, Status.CANCELED, Status.FAILED}),
    Status.RUNNING: FINAL | {Status.QUEUED, Status.WAITING, Status.PAUSED},
    Status.WAITING: frozenset({Status.QUEUED, Status.PAUSED, Status.CANCELED, Status.FAILED}),
    Status.PAUSED: frozenset({Status.QUEUED, Status.WAITING, Status.CANCELED, Status.FAILED}),
    **{status: frozenset() for status in FINAL},
}
"""Transitions that the system may make by itself."""

REOPENINGS: dict[Status, frozenset[Status]] = {
    Status.COMPLETED: frozenset({Status.WAITING}),
    Status.FAILED: frozenset({Status.QUEUED, Status.WAITING}),
    Status.TERMINATED: frozenset({Status.QUEUED, Status.WAITING}),
    Status.CANCELED: frozenset({Status.QUEUED, Status.WAITING}),
    Status.UNSURE: frozenset({Status.QUEUED, Status.WAITING, Status.COMPLETED, Status.FAILED}),
}
"""Transitions of a final state that only an explicit command of the owner may make (`retry`, settling an `unsure`).

A session that fanned out waits again, whatever it had become, when items of its loop are retried.
"""


def may_become(now: Status, then: Status, *, commanded: bool = False) -> bool:
    """Return whether `now` may turn into `then`; `commanded` also allows the owner's reopenings."""
    return then in TRANSITIONS[now] or (commanded and then in REOPENINGS.get(now, frozenset()))
