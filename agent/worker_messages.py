"""Messages between dispatcher and workers: work out, reports back.

These records and what they hold have no `__slots__`: they are pickled by the thousand each second, and a frozen
dataclass with slots takes twice as long, because it asks for its fields anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shoal.agent.compressed_items import LoopPiece
from shoal.agent.spec import JobSpec
from shoal.agent.types import Checkpoint, ChildrenSummary, EarlierReading, FieldGlossary, LoopItem, Outcome


class LearnedUse(StrEnum):
    """The part of a loop's item in what its loop learns. The job's own policy, model or rules, is the baseline."""

    TEACH = "teach"
    """The baseline works the item out, and what it did is kept as evidence; there is no workflow yet."""
    SHADOW = "shadow"
    """The baseline works the item out; what the workflow reads is compared with its record."""
    REPLAY = "replay"
    """The workflow does the item."""
    AUDIT = "audit"
    """So it does, and the baseline reads the page again."""


@dataclass(frozen=True)
class Work:
    """One leased session, with all that a worker needs to run it."""

    session: int  # session id
    fence: int  # fencing token of this lease; every report carries it back
    job: int  # job id
    tenant: str
    attempt: int  # from 1
    depth: int  # 0 for the job's root session, 1 for its loop's items, ...
    spec: JobSpec  # of the job, without the values of loops above (`JobSpec.below`)
    item: LoopItem | None  # None for the root session
    checkpoint: Checkpoint | None  # None at the first attempt, except for loop items: the parent's state
    children: ChildrenSummary | None  # set when the session goes on after its loop
    seconds_left: float | None  # until the job's deadline, when this was sent; None without one
    job_tokens: int = 0  # model tokens that the job's finished attempts have spent; counted where it has a budget
    learned: LearnedUse | None = None  # of `spec.workflow`, in a loop that learns; None: the job's own policy alone
    width: int = 0  # of a run of documents: how many of this job are under way at once; 0: it is in no run
    earlier: EarlierReading | None = None  # to be carried over where its page has not changed; None: it is read

    @property
    def limited(self) -> bool:
        """Return whether its job had a deadline or a budget when it was claimed."""
        return self.seconds_left is not None or self.spec.budget.job_tokens is not None


@dataclass(frozen=True)
class JobLimits:
    """Limits that hold for all running sessions of a job."""

    seconds_left: float | None = None  # until its deadline, when this was sent; None without one
    job_tokens: int | None = None  # model tokens that its sessions may spend together; None: no limit
    spent: int = 0  # what they have spent, as far as is known: those that run are asked every few seconds

    @classmethod
    def of(cls, work: Work) -> JobLimits:
        """Return what held when `work` was claimed."""
        return cls(work.seconds_left, work.spec.budget.job_tokens, work.job_tokens)

    @property
    def any(self) -> bool:
        """Return whether there is a limit."""
        return self.seconds_left is not None or self.job_tokens is not None


@dataclass(frozen=True)
class LiveRequest:
    """A gateway asks for a running session's page, because people look at it there."""

    url: str  # of the gateway, as workers reach it
    ticket: str  # names what is asked for, and may be used for nothing else


@dataclass(frozen=True)
class RateSlotRequest:
    """A page that a session wants to open, and the distances that it keeps from others on that host; 0: none."""

    job: int  # the session's
    host: str  # host name in lower case
    delay_s: float  # from the job's page before it
    crawl_delay_s: float = 0.0  # from any page that keeps such a distance, as the site's robots.txt asks


@dataclass(frozen=True)
class RateSlot:
    """When a page may be opened."""

    wait_s: float  # from now on
    given: bool = True  # False: nothing was given, so many stand before it; ask again then


class RobotsState(StrEnum):
    """The outcome of asking an origin for its robots.txt. New ones come last: the store knows them by their order."""

    RULES = "rules"
    """It has one."""
    NONE = "none"
    """It has none (4xx, or redirects without an end): everything is allowed."""
    BUSY = "busy"
    """It answered 429 or 503."""
    FAILED = "failed"
    """It answered another 5xx."""
    UNREACHABLE = "unreachable"
    """No answer came."""
    LARGE = "large"
    """It has one that is too long to be shared: each worker asks for it."""
    REFUSED = "refused"
    """The operator does not let browsers reach it; the site was not asked."""


@dataclass(frozen=True)
class RobotsFile:
    """An origin's robots.txt, or why there is none."""

    state: RobotsState
    keep_s: float  # how long it holds from now on
    packed: bytes = b""  # the text, UTF-8 and compressed with zlib; of RULES only
    why: str = ""  # in words, where it could not be read
    retry_after_s: float | None = None  # that the site asked for


@dataclass(frozen=True)
class RobotsWish:
    """A worker asks for an origin's robots.txt, or tells what it has found there."""

    origin: str  # scheme, host and port in lower case, "https://shop.example"
    found: RobotsFile | None = None  # None: it asks


@dataclass(frozen=True)
class RobotsAnswer:
    """The answer to a worker that asked for robots.txt: the file, or the order to fetch it, or a pause until it may ask
    again.
    """

    file: RobotsFile | None = None
    fetch: bool = False  # and tell what was found, for the whole cluster
    wait_s: float = 0.0  # otherwise: another worker fetches it


@dataclass(frozen=True)
class GlossaryWish:
    """A session asks for a schema's field glossary, tells what a model answered, or gives the order to ask back."""

    key: str  # what the answer depends on: a hash of schema, model and question
    answered: FieldGlossary | None = None  # for all jobs: it says nothing of the one that asked
    given_back: bool = False  # the model has answered nothing: the next session that wishes for it asks

    @property
    def asks(self) -> bool:
        """The session wants to know it."""
        return self.answered is None and not self.given_back


@dataclass(frozen=True)
class GlossaryAnswer:
    """The answer to a session that asked for a glossary: the glossary, or the order to ask a model, or a pause until it
    may ask again.
    """

    glossary: FieldGlossary | None = None
    ask: bool = False  # and tell what was answered, for the whole cluster
    wait_s: float = 0.0  # otherwise: another session asks


Answer = RateSlot | RobotsAnswer | GlossaryAnswer
"""The answer to a request (see `Report`)."""


@dataclass(frozen=True)
class Report:
    """A message of a worker about a session that it holds. There are two kinds. Exactly one field of one kind is set.

    * A durable report (`outcome`, `checkpoint` or `items`) is written into the store, guarded by the session's fence.
      It must not be lost: the worker keeps it until the store has it.
    * A request (`page`, `robots` or `glossary`) changes nothing of the session. The acknowledgement answers it,
      whatever the fence says. It may be answered twice: the session uses one answer.

    Both kinds share one channel for its grouping: one pull and one commit serve all of them.
    """

    session: int
    fence: int
    outcome: Outcome | None = None  # the attempt is over
    checkpoint: Checkpoint | None = None  # a task is done, or an unrepeatable action is about to begin
    items: LoopPiece | None = None  # of the loop that it will open
    page: RateSlotRequest | None = None  # a page's rate slot is asked for; the answer comes with the acknowledgement
    robots: RobotsWish | None = None  # of its page's origin; one that asks is answered in the same way
    glossary: GlossaryWish | None = None  # of the job's schema; one that asks is answered in the same way
    wants_ack: bool = False  # the session goes on only when the store has it
    serial: int = 0  # names this report in the acknowledgement
