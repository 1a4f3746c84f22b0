"""What travels between dispatcher and workers: work out, reports back.

These records and what they hold have no `__slots__`: they are pickled by the thousand each second, and a frozen
dataclass with slots takes twice as long, because it asks for its fields anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.packed import LoopPiece
from agent.spec import JobSpec
from agent.types import Checkpoint, ChildrenSummary, LoopItem, Outcome


@dataclass(frozen=True)
class Work:
    """One leased session, with all that a worker needs to run it."""

    session: int  # session id
    fence: int  # fencing token of this lease; every report carries it back
    job: int  # job id
    tenant: str
    attempt: int  # from 1
    depth: int  # 0 for the job's root session, 1 for its loop's items, ...
    spec: JobSpec  # of the job; `spec.level(depth)` gives what holds for this session
    item: LoopItem | None  # None for the root session
    checkpoint: Checkpoint | None  # None at the first attempt, except for loop items: the parent's state
    children: ChildrenSummary | None  # set when the session goes on after its loop
    seconds_left: float | None  # until the job's deadline, when this was sent; None without one
    job_tokens: int = 0  # model tokens that the job's finished attempts have spent; counted where it has a budget

    @property
    def limited(self) -> bool:
        """Whether its job had a deadline or a budget when it was claimed."""
        return self.seconds_left is not None or self.spec.budget.job_tokens is not None


@dataclass(frozen=True)
class JobLimits:
    """What holds for all running sessions of a job."""

    seconds_left: float | None = None  # until its deadline, when this was sent; None without one
    job_tokens: int | None = None  # model tokens that its sessions may spend together; None: no limit
    spent: int = 0  # what they have spent, as far as is known: those that run are asked every few seconds

    @classmethod
    def of(cls, work: Work) -> JobLimits:
        """What held when `work` was claimed."""
        return cls(work.seconds_left, work.spec.budget.job_tokens, work.job_tokens)

    @property
    def any(self) -> bool:
        """Whether there is a limit."""
        return self.seconds_left is not None or self.job_tokens is not None


@dataclass(frozen=True)
class PageWish:
    """A page that a session wants to open, and the distance that it keeps from the page before it on that host."""

    host: str  # host name in lower case
    delay_s: float


@dataclass(frozen=True)
class PageTurn:
    """When a page may be opened."""

    wait_s: float  # from now on
    given: bool = True  # False: nothing was given, so many stand before it; ask again then


@dataclass(frozen=True)
class Report:
    """What a worker says about a session that it holds. Exactly one of outcome, checkpoint, items and page is set."""

    session: int
    fence: int
    outcome: Outcome | None = None  # the attempt is over
    checkpoint: Checkpoint | None = None  # a task is done, or an unrepeatable action is about to begin
    items: LoopPiece | None = None  # of the loop that it will open
    page: PageWish | None = None  # a page's turn is asked for; the answer comes with the acknowledgement
    wants_ack: bool = False  # the worker goes on only when the store has it
    serial: int = 0  # names this report in the acknowledgement
