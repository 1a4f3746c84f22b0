"""Frozen records that the store keeps and gives back. Ids are integers here; `shoal.services.store.ids` prints them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from shoal.agent.error_info import ErrorInfo
from shoal.agent.spec import JobSpec, PolitenessSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Basis, Checkpoint, LoopItem, Outcome, Record, Task, Usage
from shoal.agent.worker_messages import JobLimits, Work
from shoal.services.store.waiting_causes import WaitingCause

UnsureAnswer = Literal["done", "retry"]
"""Answers of an unsure session's owner: its action was done, or the session is to be tried again."""


DRAIN = "drain/"
"""Of snapshots that an operator leaves: the worker of this name is to be replaced."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A checked job that is to be stored."""

    tenant: str
    spec: JobSpec
    domain: str  # host name of its first page
    submitted_by: str | None = None  # name of the key or person; None: unknown


@dataclass(frozen=True, slots=True)
class Submitted:
    """The result of one submission."""

    job: int
    created: bool  # False: the idempotency key was known, `job` is the earlier one


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a job's items by state. An item that fans out stops counting; its children count instead."""

    expected: int = 0
    completed: int = 0
    terminated: int = 0
    failed: int = 0
    unsure: int = 0
    canceled: int = 0
    running: int = 0

    @property
    def final(self) -> int:
        """Items that are over, however they ended."""
        return self.completed + self.terminated + self.failed + self.unsure + self.canceled


@dataclass(frozen=True, slots=True)
class IncompleteLists:
    """The lists of a job of which less was given than there is."""

    lists: int  # sessions with such a list
    found: int  # records or items that they gave
    shown: int | None  # how many the pages say that there are; None: one of the pages does not say


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as it stands."""

    id: int
    tenant: str
    spec: JobSpec
    status: Status
    counts: Counts
    usage: Usage
    error: ErrorInfo | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    root_session: int
    cancel_requested: bool = False
    archive: str | None = None  # where its results lie, once its sessions are dropped
    # What holds now: the spec's, unless its owner changed it since.
    priority: int = 0
    concurrency: int | None = None  # of its outermost loops
    deadline_at: datetime | None = None
    token_limit: int | None = None  # model tokens of all its sessions
    incomplete: IncompleteLists | None = None  # of a job that is over: lists that are known to lack something
    submitted_by: str | None = None  # name of the key or person; None: unknown

    @property
    def is_partial(self) -> bool:
        """Return whether it completed, and something is known to be missing: an item, or a part of a list."""
        counts = self.counts
        return self.status is Status.COMPLETED and (counts.final > counts.completed or self.incomplete is not None)


@dataclass(frozen=True, slots=True)
class JobChanges:
    """An owner's changes of a job while it runs; only the fields that `given` names count."""

    given: frozenset[str]
    priority: int = 0
    concurrency: int | None = None  # None: no limit; so with the others
    deadline_s: float | None = None  # from now
    job_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as it stands."""

    id: int
    job: int
    parent: int | None
    depth: int
    index: int  # position among its siblings
    status: Status
    attempt: int
    item: LoopItem | None
    domain: str
    ready_at: datetime | None  # not claimed before
    lease_until: datetime | None
    owner: str | None  # worker that holds it
    children: int  # how many it fanned out into; 0 for an item
    pending_children: int
    outcome: Outcome | None  # of the last attempt; without tasks (see SessionDetail)
    waiting_for: WaitingCause | None = None  # as far as its row says; None: it runs or is final


@dataclass(frozen=True, slots=True)
class SessionDetail:
    """One session with what each attempt did."""

    row: SessionRow
    attempts: tuple[tuple[Task, ...], ...]
    artifacts: tuple[ArtifactRow, ...]
    checkpoint: Checkpoint | None = None  # of an unsure session: what is known of it


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """One stored artifact."""

    id: str
    tenant: str
    job: int
    session: int
    kind: str
    key: str
    content_type: str
    bytes: int
    created_at: datetime
    name: str = ""  # of a download: how the site calls the file


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One line of a job's results: a record, an answer, or an item that gave neither."""

    cursor: str  # pass it back to go on after this line
    job: int
    session: int
    item: LoopItem | None
    status: Status
    record: Record | None
    error: ErrorInfo | None
    url: str
    at: str  # ISO 8601, UTC
    attempts: int
    seconds: float
    screenshot: str | None
    usage: Usage
    answer: str = ""  # of the session, on the first of its lines
    rests_on: Basis | None = None  # of the answer
    provisional: bool = False  # a workflow read the record, and no audit of its loop has confirmed one since


@dataclass(frozen=True, slots=True)
class EventRow:
    """One thing that happened; the feed of server-sent events, webhooks and the dashboard."""

    seq: int
    tenant: str
    job: int
    name: str  # from shoal.services.events
    data: Mapping[str, Json]
    at: datetime


@dataclass(frozen=True, slots=True)
class Partition:
    """The ready sessions of one job on one domain: the unit of fairness and politeness."""

    job: int
    tenant: str
    domain: int  # id of the domain
    host: str
    priority: int
    cursor: int  # no ready session with an id at or below it, as far as the dispatcher knows
    politeness: PolitenessSpec = PolitenessSpec()  # what the job asks for


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """A request for sessions of one partition."""

    job: int
    domain: int
    after: int  # the partition's cursor
    n: int
    rules: PolitenessSpec = PolitenessSpec()  # what the job asks for
    owner: str = ""  # of a run of documents: the worker that reads them; "": no run
    width: int = 0  # how many of the run are under way at once: so many sessions it counts on its domain


@dataclass(frozen=True, slots=True)
class Claimed:
    """One leased session."""

    work: Work
    domain: int
    host: str
    owner: str  # the worker that runs it


@dataclass(frozen=True, slots=True)
class ClaimRefusal:
    """Why a partition gave less than was asked for: its domain has no place, or keeps a pause."""

    cause: WaitingCause  # DOMAIN_LIMIT, DOMAIN_PAUSE or DOMAIN_DELAY
    wait_s: float  # when to ask again
    limit: int  # sessions on the domain at once, now


@dataclass(frozen=True, slots=True)
class Unclaimable:
    """Queued sessions of jobs that are not paused, which no free slot could take now."""

    delayed: int  # until the time of their next try
    held: int  # behind the limit of their own loop, or until it has learned
    learning: int  # of those: until their loop has learned
    in_partitions: Mapping[tuple[int, int], int]  # ready ones of the partitions that were asked for, by (job, domain)


@dataclass(frozen=True, slots=True)
class Claims:
    """The result of a claim."""

    sessions: Sequence[Claimed]
    held: Mapping[tuple[int, int], ClaimRefusal]  # by (job, domain); a partition that is not here had no more to give
    woken: tuple[Partition, ...] = ()  # partitions that have ready sessions because a delay of theirs was over


@dataclass(frozen=True, slots=True)
class JobControl:
    """The present orders for the running sessions of a job."""

    wanted: bool  # False: they are to be stopped, since it is paused, canceled or over
    limits: JobLimits  # `spent`: by attempts that are over


@dataclass(frozen=True, slots=True)
class Renewal:
    """A lease that is still worked on."""

    session: int
    fence: int


@dataclass(frozen=True, slots=True)
class Finish:
    """One report to be written, with what the dispatcher decided about it."""

    session: int
    fence: int
    outcome: Outcome  # status QUEUED: try again at `ready_in_s`; WAITING: with outcome.fan_out
    ready_in_s: float = 0.0
    counts: bool = True  # False: the attempt that ends with it is not counted


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The result of a group commit."""

    accepted: frozenset[int]  # sessions whose report counted
    late: frozenset[int]  # sessions whose lease was another's by now: nothing was written
    ready: tuple[Partition, ...]  # partitions that have ready sessions now (children, resumed parents, retries)
    finished_jobs: tuple[int, ...]
    pending_children: bool = False  # a loop was so long that `materialize` has to store the rest of it
    stopped: bool = False  # a loop was stopped; `run_bulk_operations` ends the rest of it
    learned: bool = False  # something may be to be decided of a loop that learns


@dataclass(frozen=True, slots=True)
class MaterializedChildren:
    """The result of one piece of a long loop."""

    stored: int  # children that are rows now
    ready: tuple[Partition, ...]  # partitions that have ready sessions by them
    more: bool  # whether there may be further pieces, of this loop or another


@dataclass(frozen=True, slots=True)
class BulkProgress:
    """The result of one slice of a command to a long job or loop."""

    changed: int  # sessions that are over now, were held back, or may begin
    ready: tuple[Partition, ...]  # partitions that have ready sessions by it
    more: bool  # whether there may be further slices, of this job or another


@dataclass(frozen=True, slots=True)
class ExpiredLease:
    """A session whose lease ended without a report."""

    session: int
    job: int
    domain: int
    status: Status  # queued again, or failed / unsure when its attempts or its pending action say so


@dataclass(frozen=True, slots=True)
class ExpiredLeases:
    """The outcome of leases that ended without a report."""

    sessions: tuple[ExpiredLease, ...]
    ready: tuple[Partition, ...]  # partitions that have ready sessions by it


@dataclass(frozen=True, slots=True)
class ChangedPartitions:
    """Partitions whose sessions others have made ready."""

    seq: int  # the event up to which this goes
    ready: tuple[Partition, ...]
    more: bool  # whether there may be further events


@dataclass(frozen=True, slots=True)
class DropSlice:
    """The sessions and artifacts that the next slice of an archived job's end will remove."""

    sessions: tuple[int, ...]
    artifacts: tuple[ArtifactRow, ...]  # without another reference to their content: it is removed first
    tenant: str | None = None  # whose job it is; None: it was deleted by a version that did not keep that
    last: bool = False  # no sessions are left behind these


@dataclass(frozen=True, slots=True)
class Owners:
    """The rows that refer to what lies in the artifact store."""

    jobs_of: Mapping[str, frozenset[int]]  # jobs by key; a key that is missing is in no row
    jobs: frozenset[int]  # those of the jobs that were asked for that there are


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to list, newest first."""

    tenant: str | None = None
    statuses: tuple[Status, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    text: str = ""  # each of its words is in the job's goals, address or labels, or is the job's id
    site: str = ""  # host of its first page
    since: datetime | None = None  # created then or later
    until: datetime | None = None  # created before
    unsure: bool = False  # only jobs with unsure sessions
    before: int | None = None  # keyset: job ids below this one
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ActivitySpan:
    """The jobs and items that ended in a span of time. Items and costs count in the span in which their job ended."""

    since: datetime
    jobs: int
    jobs_completed: int
    items: int
    items_completed: int
    items_canceled: int
    prompt_tokens: int
    completion_tokens: int
    model_calls: int
    pages: int
    seconds: float  # from the first session of each job to its end, summed up

    @property
    def success(self) -> float | None:
        """The share of items that reached their goal, of those that were given the chance; None: there were none."""
        tried = self.items - self.items_canceled
        return self.items_completed / tried if tried else None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A caller's key, without the key."""

    id: int
    name: str
    tenant: str
    scopes: tuple[str, ...]  # read, submit, control, admin; or the results of one schedule
    created_at: datetime
    revoked_at: datetime | None
    expires_at: datetime | None = None  # None: never
    used_at: datetime | None = None  # last, to the minute; None: not yet
    left_s: float = math.inf  # until it expires, by the store's clock when it was read
    person: bool = False  # who logs in elsewhere, by OpenID Connect; no one holds a key then


@dataclass(frozen=True, slots=True)
class SiteRow:
    """The treatment of a site by all dispatchers together."""

    host: str
    running: int  # sessions there now, of all tenants
    most: float | None  # sessions at once, where it was slowed down
    paused_s: float  # seconds that are left of a pause that it asked for
    delay_s: float  # crawl-delay of its robots.txt
    domain: int = 0  # its number, by which dispatchers name it
    own_most: int | None = None  # sessions at once that an operator has set; None: nothing
    own_delay_s: float | None = None  # between session starts, the same
    own_paused_s: float = 0.0  # seconds that are left of an operator's pause
    robots: str = ""  # a RobotsState; "": it was not asked for lately


@dataclass(frozen=True, slots=True)
class SiteChanges:
    """An operator's changes to a site; only the `named` fields count."""

    named: frozenset[str]
    most: int | None = None  # sessions at once; None: as the setting says
    delay_s: float | None = None  # between session starts; None or 0: none
    pause_s: float | None = None  # 0: no pause; None: without an end


@dataclass(frozen=True, slots=True)
class NewAuditEntry:
    """A change that is to be kept in the audit log."""

    tenant: str  # of who made it
    actor: str  # name of the key
    action: str  # method and route: `POST /v1/jobs/{job}/{verb}`
    subject: str  # what the route's parts stand for: `j7 cancel`
    detail: str = ""  # what the address does not say; never a secret
    request: str = ""  # id of the request, as its answer carries it


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A change that was made."""

    id: int
    at: datetime
    tenant: str
    actor: str
    action: str
    subject: str
    detail: str
    request: str


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries of the audit log to read, newest first."""

    tenant: str | None = None
    before: int | None = None  # keyset: ids below this one
    limit: int = 100
    actor: str = ""  # in who made the change, whatever the case; "": all
    text: str = ""  # likewise in what was changed: action, subject or detail
    since: datetime | None = None  # changes made then or later
    until: datetime | None = None  # changes made before


class DeliveryState(StrEnum):
    """States of a webhook's delivery. Never reorder: the column holds the position."""

    WAITING = "waiting"
    """For its next attempt."""
    DELIVERED = "delivered"
    """The receiver said 2xx."""
    DEAD = "dead"
    """Given up; its owner may send it again."""


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """One webhook message in the outbox."""

    id: int
    tenant: str
    job: int
    event: str  # job.finished or session.finished
    url: str  # or, of people, as `NotifySpec.to` has it
    body: str  # JSON, sent as it stands; of people, what they are told of
    state: DeliveryState
    attempts: int  # begun, the one under way included
    due_at: datetime
    created_at: datetime
    ended_at: datetime | None
    status_code: int | None  # of the last answer
    error: str  # why the last attempt failed
    channel: str = ""  # "": a webhook; else how people are told, as `NotifySpec.by`


@dataclass(frozen=True, slots=True)
class Delivered:
    """The outcome of one attempt to deliver."""

    id: int
    attempts: int  # of the row that was claimed: guards against a report that comes after another attempt began
    state: DeliveryState  # WAITING: again in `again_in_s`
    again_in_s: float = 0.0
    status_code: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """Which deliveries to list, newest first."""

    tenant: str | None = None
    states: tuple[DeliveryState, ...] = ()
    job: int | None = None
    before: int | None = None  # keyset: ids below this one
    limit: int = 50
