"""Frozen records of a gateway's answers. Fields that a newer gateway adds are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Audited, Sureness


class Reply(BaseModel):
    """Base of the records: frozen, and read from JSON by the API's field names."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, defer_build=True)


# --- parts -------------------------------------------------------------------------------------------


class Counts(Reply):
    """Counts of a job's items by state."""

    expected: int
    completed: int
    terminated: int
    failed: int
    unsure: int
    canceled: int
    running: int
    final: int = Field(description="items that have ended, whatever their status")

    @property
    def ends(self) -> dict[str, int]:
        """The items that have ended, by status."""
        return {name: getattr(self, name) for name in _ENDS}

    @model_validator(mode="before")
    @classmethod
    def _sum(cls, given: Json) -> Json:
        """Events tell the parts of `final` only."""
        if isinstance(given, Mapping) and "final" not in given:
            return {**given, "final": sum(given.get(name, 0) for name in _ENDS)}
        return given


class Usage(Reply):
    """The model calls, tokens and pages of a job or session."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    pages: int = 0
    carried_over: int = Field(0, description="items that were not read anew, since their page had not changed")


class Failure(Reply):
    """Why a job, a session or an action failed."""

    cls: str = Field(alias="class", description="class of the error")
    code: str = Field(description="stable code, such as `navigation_timeout`; docs/errors.md lists all")
    message: str
    retryable: bool


class Item(Reply):
    """One value of a loop."""

    index: int = Field(description="from 0, in the order of the loop")
    value: str
    is_link: bool
    label: str = Field(description="what the page calls the item, where it was collected from one")


class PageBox(Reply):
    """A rectangle in CSS pixels, from the page's top left corner."""

    x: float
    y: float
    width: float
    height: float


class Source(Reply):
    """The source of a field's value."""

    how: str = Field(description="json-ld, microdata, rdfa, meta, table, label, selector, request, model, …")
    where: str = Field(description="selector of the element, or the text that was found")
    confirmed: bool = Field(
        description="the page visibly shows the value, it is not weak, and no structured data says otherwise"
    )
    sureness: Sureness = Field("likely", description="certain, likely or weak")
    why: str = Field("", description="the reason for `sureness`, in words")
    box: PageBox | None = Field(None, description="of its element on the record's picture; None: unknown")
    called: str = Field(
        "", description="the word of the field glossary by which the place is known; empty: the field's"
    )


class CarriedOver(Reply):
    """The source of a record that was not read anew, since its page had not changed."""

    session: str = Field(description="that read it; `at` says when")
    by: Literal["not_modified", "same_content", "sitemap"] = Field(
        description="not_modified: the site said so; same_content: the page's document was the same; sitemap: its "
        "sitemap said so"
    )


class Candidate(Reply):
    """A value that a page may state for a field, and that was not given: it is weak, or others are as good."""

    value: Json
    how: str = Field(description="as of a source")
    where: str = Field(description="as of a source")
    sureness: Sureness
    why: str = Field(description="why it was not given, in words")


class Wait(Reply):
    """The cause for which a session waits."""

    cause: str
    for_s: float | None = Field(description="estimate in seconds; None: unknown")


class Incomplete(Reply):
    """A list of a session of which less was given than there is."""

    found: int = Field(description="records or items that were given")
    shown: int | None = Field(description="how many the page says that there are; None: it does not say")
    why: str = Field("", description="what kept the rest from being given")


class IncompleteLists(Reply):
    """The lists of a job of which less was given than there is."""

    lists: int = Field(description="how many such lists, each of a session of its own")
    found: int = Field(description="records or items that they gave")
    shown: int | None = Field(description="how many their pages say that there are; None: a page does not say")


# --- jobs --------------------------------------------------------------------------------------------


class SubmittedJob(Reply):
    """The answer to a submission."""

    id: str
    status: Status
    created: bool = Field(description="False: the idempotency key was known, and this is the earlier job")


class LineError(Reply):
    """Why one job of a batch was refused."""

    status: int
    code: str
    detail: str
    errors: tuple[Mapping[str, str], ...] = Field((), description="each fault as {field, reason}")


class BatchLine(Reply):
    """The result of one job of a batch: `job` or `error` is set."""

    line: int = Field(description="position in the batch, from 1")
    job: str | None = None
    created: bool | None = Field(None, description="False: the idempotency key was known, and `job` is the earlier one")
    error: LineError | None = None


class JobSummary(Reply):
    """A job as lists show it."""

    id: str
    tenant: str
    status: Status
    name: str | None = Field(None, description="what people call it; None: nothing")
    url: str
    goal: str | None
    labels: Mapping[str, str]
    priority: int
    counts: Counts
    usage: Usage
    error: Failure | None
    cancel_requested: bool
    submitted_by: str | None = Field(None, description="name of the key or person that handed it in; None: unknown")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    root_session: str
    incomplete: IncompleteLists | None = Field(
        None, description="of an ended job: what its lists are known to lack; None: nothing"
    )

    @property
    def final(self) -> bool:
        """Return whether the job has ended."""
        return self.status in FINAL

    @property
    def succeeded(self) -> bool:
        """Return whether the job completed, with at least one completed item where it has items."""
        return self.status is Status.COMPLETED and (self.counts.expected == 0 or self.counts.completed > 0)

    @property
    def partial(self) -> bool:
        """Return whether the job completed, and something is known to be missing: an item, or a part of a list."""
        counts = self.counts
        return self.status is Status.COMPLETED and (counts.final > counts.completed or self.incomplete is not None)


class Quotation(Reply):
    """Words of a page that an answer rests on."""

    text: str = Field(description="as the answer quotes them")
    url: str = Field(description="the page that shows them")
    where: str = Field(description="the page's text around them")


class Computation(Reply):
    """A value that an answer computes; code has made the arithmetic again."""

    operation: str = Field(description="sum, average, count, comparison, …")
    values: tuple[Json, ...] = Field(description="what it is computed from; each stands on a page or in a record")
    result: Json


class Basis(Reply):
    """The evidence that an answer rests on."""

    quotations: tuple[Quotation, ...] = ()
    records: tuple[int, ...] = Field((), description="positions among the session's records, from 0")
    computed: Computation | None = None


class Learning(Reply):
    """The learning of one loop of a job from its first items."""

    session: str
    phase: str = Field(
        description="items, shadow (a model works items out; the others wait), replay (a workflow does the items), or "
        "off (the model does all)"
    )
    holds_back: bool = Field(description="the loop's other items wait until this phase is over")
    why: str = Field(description="why it is in this phase, in words")
    workflow: str = Field(description='the workflow with its version, as `NAME@2`; "": there is none')
    figures: Mapping[str, int] = Field(description="items by what became of them")
    bound: str = Field(description="what the audits of replayed records prove, in words")


class Deviation(Reply):
    """One way in which a run differs from those before it by more than its band."""

    kind: str = Field(description="items, completed, given, range or constant")
    field: str = Field(description="path of the record's field; empty: the run as a whole")
    text: str = Field(description="what it was, and what was usual")


class Sink(Reply):
    """The progress of writing a job's records to one of its sinks."""

    sink: int = Field(description="its place among the job's `sinks`, from 0")
    kind: str = Field(description="s3, postgres, folder, sheets or http")
    place: str = Field(description="where it writes to")
    state: str = Field(description="waiting, done, failed, skipped, unjudged or held")
    written: int = Field(description="records that were taken")
    attempts: int = Field(description="begun so far")
    due_at: datetime = Field(description="when the next attempt begins, while it waits")
    ended_at: datetime | None
    error: str = Field(description="why the last attempt failed, or nothing is written")


class Job(JobSummary):
    """A job with its spec and its current limits."""

    spec: Mapping[str, Json] = Field(description="as it was submitted, without defaults")
    concurrency: int | None = Field(description="items of its outermost loop at once; None: no limit")
    deadline_at: datetime | None
    job_tokens: int | None = Field(description="model tokens of all its sessions; None: no limit")
    reason: str = Field("", description="of an ended job: why it ended so, and what its loop left out")
    answer: str = Field("", description='of an ended job: what its goal asked for, in words; "" for none')
    rests_on: Basis | None = Field(None, description="what the answer rests on; None without one")
    learning: tuple[Learning, ...] = Field((), description="its loops that learn, or did")
    sinks: tuple[Sink, ...] = Field((), description="of an ended job: how far its records are written to each")
    schedule: str | None = Field(None, description="the schedule whose run it is; None: none")
    degraded: tuple[Deviation, ...] = Field(
        (),
        description="of a schedule's run: how it differs from those before; empty: it does not, or is not judged yet",
    )


# --- sessions ----------------------------------------------------------------------------------------


class Session(Reply):
    """One session of a job: its root, or one item of a loop."""

    id: str
    job: str
    parent: str | None
    depth: int
    index: int
    status: Status
    attempt: int
    item: Item | None
    domain: str
    ready_at: datetime | None
    lease_until: datetime | None
    owner: str | None
    children: int
    pending_children: int
    waiting_for: str
    waiting: Wait | None = None
    records: int
    error: Failure | None
    reason: str
    error_codes: tuple[str, ...]
    url: str
    at: str
    seconds: float
    screenshot: str | None
    usage: Usage | None
    answer: str = Field(description='what the goal asked for, in words; "": it asked for nothing')
    rests_on: Basis | None = Field(None, description="what the answer rests on; None without one")
    incomplete: Incomplete | None = Field(None, description="what its list is known to lack; None: nothing")


class RecordPicture(Reply):
    """A picture of the page that a record was read from."""

    artifact: str = Field(description="id")
    shows: PageBox = Field(description="the part of the page that it shows")


class RecordWithSources(Reply):
    """One extracted record of a session."""

    value: Json
    sources: Mapping[str, Source]
    candidates: Mapping[str, tuple[Candidate, ...]] = Field(
        default_factory=dict, description="by field: the values that were not given, since none of them was sure enough"
    )
    url: str
    at: str
    picture: RecordPicture | None = Field(None, description="None: none was kept of the page as it was read")


class PageError(Reply):
    """An error that a page's console or the network told."""

    kind: Literal["console", "network"]
    text: str = Field(description="as the page told it, clipped, without secrets")
    where: str = Field(description='the address that was asked for, or the script and its line; "": unknown')
    times: int = Field(description="it came so often")


class PageErrors(Reply):
    """Errors of a page's console and network in some time."""

    told: tuple[PageError, ...] = Field((), description="each once, the first first")
    left_out: int = Field(0, description="how many more came")


class Artifact(Reply):
    """One stored file of a session; `artifact(id)` gives its bytes."""

    id: str
    kind: str = Field(description="screenshot, prompt, download, trace, har, recording, reply, page, document")
    content_type: str
    bytes: int
    created_at: datetime
    name: str = Field("", description="of a download: how the site calls the file")


class SessionDetail(Session):
    """A session with what it gave and what it did."""

    record_list: tuple[RecordWithSources, ...]
    attempts: tuple[tuple[Mapping[str, Json], ...], ...] = Field(description="tasks with their steps, by attempt")
    artifacts: tuple[Artifact, ...]
    page_errors: PageErrors = Field(PageErrors(), description="of its last attempt, after its last step")
    evidence: Mapping[str, Json] | None = Field(None, description="of an unsure session: what is known of its action")


# --- results, events, questions ----------------------------------------------------------------------


class Result(Reply):
    """One result line: a record, an answer, or an item that gave neither."""

    job: str
    session: str
    item: Item | None
    status: Status
    record: Json = Field(description="the extracted record; None where the item gave none")
    error: Failure | None
    url: str
    at: str
    attempts: int
    seconds: float
    sources: Mapping[str, Source] = Field(description="where each field's value came from")
    candidates: Mapping[str, tuple[Candidate, ...]] = Field(
        default_factory=dict, description="by field: the values that were not given, since none of them was sure enough"
    )
    screenshot: str | None = Field(description="id of the artifact")
    usage: Usage
    answer: str = Field("", description='of the session, on the first of its lines; "": it gave none')
    rests_on: Basis | None = Field(None, description="what the answer rests on; None without one")
    tier: str = Field(
        "", description="what the record was read by: `http`, `page` or `session`; empty without a record"
    )
    workflow: str = Field("", description="workflow and version that read the record, as `NAME@2`; empty for none")
    audit: Audited = Field(
        "",
        description="what its baseline's reading said of a record that a workflow read; empty: none was asked for",
    )
    provisional: bool = Field(
        False,
        description="a workflow read the record, and no audit has confirmed since what the same branches read",
    )
    carried_over: CarriedOver | None = Field(None, description="None: this run read the record")


class ChangedField(Reply):
    """A field that differs between two runs."""

    before: Json
    after: Json


class Seen(Reply):
    """The place and the time of reading a record in one of two runs."""

    session: str
    item: str | None = Field(description="value of the loop's item; None: the record is of no item")
    url: str
    at: str


class RecordChange(Reply):
    """The change of one record from one run to a later one."""

    change: Literal["appeared", "went", "changed", "unclear"]
    key: str | None = Field(description="what names the record in both runs; of several fields a JSON list")
    why: str = Field(description="of `unclear`: the reason; of `changed`: what else is unclear")
    fields: Mapping[str, ChangedField] = Field(description="of `changed`: those that differ")
    record: Json = Field(description="as the later run has it; of one that went, as the earlier one had it")
    before: Seen | None = Field(description="None: the earlier run has no such record")
    after: Seen | None = Field(description="None: the later run has no such record")


class Question(Reply):
    """A running session's question for a person."""

    id: str
    kind: Literal["code", "question", "captcha"]
    question: str
    page: str
    job: str
    session: str


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a job."""

    seq: int  # grows; `events(after=seq)` goes on behind it
    name: str  # such as "job.progress"
    data: Mapping[str, Json]  # all that the gateway says of it

    @property
    def job(self) -> str:
        """Id of the job."""
        return str(self.data["job"])

    @property
    def at(self) -> datetime:
        """When it happened."""
        return datetime.fromisoformat(self.data["at"])

    @property
    def counts(self) -> Counts | None:
        """Return how the job's items stood then; None where the event does not say."""
        counts = self.data.get("counts")
        return None if counts is None else Counts.model_validate(counts)


_ENDS = ("completed", "terminated", "failed", "unsure", "canceled")
"""The counts that add up to `final`."""
