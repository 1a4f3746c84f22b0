"""The pool seam: workers that take sessions and give reports. Implementations: `ray_pool`, `local_pool`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from shoal.agent.worker_messages import Answer, JobLimits, LiveRequest, Work
from shoal.services.browsers.reports.report_batch import ReportBatch
from shoal.services.errors import ServiceError


class WorkerLost(ServiceError):
    """The worker died or cannot be reached any more."""

    code = "worker_lost"


@dataclass(frozen=True, slots=True)
class WorkerStats:
    """The state of one worker."""

    name: str
    slots: int
    busy: int  # sessions that run
    waiting: int  # sessions that it holds beyond its slots
    browsers: int  # Chromium processes
    browser_restarts: int
    held: Mapping[int, int]  # session: fence, of everything it has not reported yet
    node: str = ""  # host name of the machine or pod that it runs on
    age_s: float = 0.0  # since it was made
    browser_age_s: float | None = None  # of its oldest browser; None: none runs
    uploads_waiting: int = 0  # artifacts that it holds until the artifact store takes them
    rss_bytes: int = 0  # of the worker and its browsers, what their processes share counted once
    ends_in_s: float | None = None  # its node ends then: what it runs should end before, nothing should begin
    spending: Mapping[tuple[int, int], int] = field(default_factory=dict)  # model tokens, by session and fence
    figures: Mapping[str, Any] = field(
        default_factory=dict
    )  # what it has counted, as `shoal.services.metrics_delta` writes it


class WorkerHandle(Protocol):
    """One worker. Every call raises `WorkerLost` when the worker is gone."""

    @property
    def name(self) -> str: ...

    @property
    def slots(self) -> int: ...

    async def submit(self, works: Sequence[Work]) -> None:
        """Hands sessions over; returns at once, they run as slots get free. One that drains gives them back."""
        ...

    async def pull(self, seen: int, committed: int, most_bytes: int) -> ReportBatch:
        """Reports after serial number `seen`; waits for the next ones, up to some seconds, when there are none.

        What is over `most_bytes`, as it is pickled, is left for the next pull; a single report always comes.

        Says by the way, as `confirm` does, that the store has all reports up to `committed` and refused none.
        """
        ...

    async def confirm(self, committed: int, refused: frozenset[int], answers: Mapping[int, Answer]) -> None:
        """The store has all reports up to `committed`, save the `refused` ones; `answers` to those that asked."""
        ...

    async def cancel(self, sessions: Sequence[int]) -> None:
        """Stops these sessions; each gives a last report with status canceled."""
        ...

    async def limit(self, limits: Mapping[int, JobLimits]) -> None:
        """Set what holds from now on for those of its sessions that are of these jobs."""
        ...

    async def show(self, requests: Mapping[int, Sequence[LiveRequest]]) -> None:
        """Gateways ask for the pages of these running sessions. Said again and again while they do."""
        ...

    async def stats(self) -> WorkerStats: ...

    async def drain(self, drain_s: float) -> None:
        """Takes no more, gives queued sessions back, lets running ones end for up to `drain_s`, then stops them.

        Their reports can still be pulled afterwards.
        """
        ...

    async def end(self) -> None:
        """Ends the browsers and the worker, with what it holds."""
        ...


class Pool(Protocol):
    """All workers."""

    async def adopt(self) -> list[WorkerHandle]:
        """Workers that an earlier dispatcher left running."""
        ...

    async def start(self) -> WorkerHandle:
        """One more worker; returns when it can take sessions.

        Raises:
            WorkerLost: it could not be started.
        """
        ...

    async def expect(self, workers: int) -> None:
        """So many workers are wanted in all: tells the provider of machines, before and after they are started."""
        ...

    async def close(self) -> None:
        """Ends whatever is left."""
        ...
