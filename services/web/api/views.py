"""What the API shows of each row: one model per kind of object, which is also its documentation in openapi.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.masking import shown_spec
from shoal.agent.types import Audited, Basis, Sureness
from shoal.agent.workflows.judging.audit import audit_bound
from shoal.services.store import ids
from shoal.services.store.learning.records import LearningRow
from shoal.services.store.records import DeliveryState, EventRow, JobRow, ResultRow, SessionDetail, SessionRow
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.cluster_state.waiting import Wait
from shoal.services.web.cluster_state.waiting_words import TEXTS

JobId = Annotated[str, BeforeValidator(lambda value: ids.job_id(value) if isinstance(value, int) else value)]
DeliveryId = Annotated[str, BeforeValidator(lambda value: ids.delivery_id(value) if isinstance(value, int) else value)]
SessionId = Annotated[str, BeforeValidator(lambda value: ids.session_id(value) if isinstance(value, int) else value)]
Time = Annotated[datetime, PlainSerializer(lambda at: time_text(at), return_type=str, when_used="json")]


def time_text(at: datetime) -> str:
    """`at` in ISO 8601, UTC, with milliseconds."""
    utc = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class View(BaseModel):
    """Base of all views: filled from records by attribute, written by field name or alias."""

    model_config = ConfigDict(from_attributes=True, frozen=True)

    def json_bytes(self) -> bytes:
        """The JSON text of this view."""
        return self.model_dump_json(by_alias=True).encode()


# --- parts -------------------------------------------------------------------------------------------


class ErrorView(View):
    """Why something failed."""

    cls: str = Field(serialization_alias="class", description="class of the error")
    code: str = Field(description="stable code, such as `navigation_timeout`")
    message: str
    retryable: bool


class CountsView(View):
    """How a job's items stand."""

    expected: int
    completed: int
    terminated: int
    failed: int
    unsure: int
    canceled: int
    running: int
    final: int = Field(description="items that are over, however they ended")


class UsageView(View):
    """What was spent."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    pages: int


class ItemView(View):
    """One value of a loop."""

    index: int
    value: str
    is_link: bool
    label: str


class SourceView(View):
    """Where a field's value came from."""

    how: str
    where: str
    confirmed: bool
    sureness: Sureness
    why: str


class CandidateView(View):
    """A value that was not given: it is weak, or others are as good."""

    value: Json
    how: str
    where: str
    sureness: Sureness
    why: str


class RecordView(View):
    """One extracted record."""

    value: Json
    sources: dict[str, SourceView]
    candidates: dict[str, tuple[CandidateView, ...]]
    url: str
    at: str


class IncompleteView(View):
    """A list of a session of which less was given than there is."""

    found: int = Field(description="records or items that were given")
    shown: int | None = Field(description="how many the page says that there are; null: it does not say")
    why: str = Field(description="what kept the rest from being given")


class IncompleteListsView(View):
    """The lists of a job of which less was given than there is."""

    lists: int = Field(description="how many such lists, each of a session of its own")
    found: int = Field(description="records or items that they gave")
    shown: int | None = Field(description="how many their pages say that there are; null: a page does not say")


# --- jobs --------------------------------------------------------------------------------------------


class JobSummary(View):
    """A job as lists show it: without its spec, which may be long."""

    id: JobId
    tenant: str
    status: Status
    url: str = Field(description="where it starts")
    goal: str | None
    labels: dict[str, str]
    priority: int
    counts: CountsView
    usage: UsageView
    error: ErrorView | None
    incomplete: IncompleteListsView | None = Field(
        None, description="of a job that has ended: what its lists are known to lack; null: nothing"
    )
    cancel_requested: bool
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    root_session: SessionId

    @classmethod
    def of(cls, row: JobRow) -> JobSummary:
        """The summary of `row`."""
        return cls.model_validate(_job_fields(row))


class LearningView(View):
    """How far one loop of a job has learned from its first items."""

    session: SessionId = Field(description="that opened the loop")
    phase: Literal["items", "shadow", "replay", "off"] = Field(
        description="`items`: a model works out items, to learn from; `shadow`: so it does, and is compared with the "
        "workflow; `replay`: the workflow does the items; `off`: the model does all, and `why` says why"
    )
    holds_back: bool = Field(description="the loop's other items wait until this phase is over")
    why: str = Field(description="why it is in this phase, in words")
    workflow: str = Field(description='the workflow with its version, as `NAME@2`; "": there is none')
    figures: dict[str, int] = Field(
        description="items by what became of them: `ended` in all, by the `model`, in `shadow`, `replays`, `misses`, "
        "`miss_REASON`, `audits` and `audits_wrong`; `provisional`: replayed since an audit last confirmed a record; "
        "`reopened`: done anew, since one was wrong"
    )
    bound: str = Field(description="what the audits of replayed records prove, in words")

    @classmethod
    def of(cls, row: LearningRow) -> LearningView:
        """The view of `row`."""
        figures = row.figures
        return cls(
            session=ids.session_id(row.loop),
            phase=row.phase.value,
            holds_back=row.holds_back,
            why=row.why,
            workflow=f"{row.workflow}@{row.version}" if row.workflow else "",
            figures=dict(figures),
            bound=str(audit_bound(figures.get("audits", 0), figures.get("audits_wrong", 0))),
        )


class JobView(JobSummary):
    """A job with its spec; fields that were left at their defaults are left out of the latter."""

    spec: dict[str, Json] = Field(description="as it was submitted")
    concurrency: int | None = Field(description="items of its outermost loop at once, as it holds now; null: no limit")
    deadline_at: Time | None = Field(description="when it must have ended, as it holds now")
    job_tokens: int | None = Field(description="model tokens of all its sessions, as it holds now; null: no limit")
    reason: str = Field("", description="of a job that has ended: why so, in words, and what its loop left out")
    answer: str = Field("", description='of a job that has ended: what its goal asked for, in words; "" for none')
    learning: list[LearningView] = Field([], description="its loops that learn, or did")

    @classmethod
    def of(cls, row: JobRow, reason: str = "", answer: str = "", learning: Sequence[LearningRow] = ()) -> JobView:
        """The view of `row`, which ended for this reason and with this answer."""
        now = {"concurrency": row.concurrency, "deadline_at": row.deadline_at, "job_tokens": row.token_limit}
        return cls.model_validate(
            {
                **_job_fields(row),
                **now,
                "reason": reason,
                "answer": answer,
                "spec": shown_spec(row.spec),
                "learning": [LearningView.of(one) for one in learning],
            }
        )


def _job_fields(row: JobRow) -> dict[str, Json]:
    own = ("id", "tenant", "status", "counts", "usage", "error", "incomplete", "cancel_requested", "root_session")
    times = ("created_at", "started_at", "finished_at")
    asked = {"url": row.spec.url, "goal": row.spec.goal, "labels": row.spec.labels, "priority": row.priority}
    return {**{name: getattr(row, name) for name in own + times}, **asked}


class SubmittedJob(View):
    """The answer to a submission; the job itself is at its Location."""

    id: JobId
    status: Status
    created: bool = Field(description="false: the idempotency key was known, this is the earlier job")


class JobPage(View):
    """One page of jobs, newest first."""

    jobs: list[JobSummary]
    next: str | None = Field(description="the `cursor` of the next page; null: this was the last")


class FaultView(View):
    """One fault of the input."""

    field: str
    reason: str


class ProblemView(View):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    code: str = Field(description="stable, such as `bad_input`")
    detail: str = Field(description="for people")
    errors: tuple[FaultView, ...] = ()
    request_id: str = ""


class LineErrorView(View):
    """Why one line of a batch was refused."""

    status: int
    code: str
    detail: str
    errors: tuple[FaultView, ...] = ()


class SubmittedView(View):
    """What became of one line of a batch."""

    line: int = Field(description="of the body, from 1")
    job: str | None = None
    created: bool | None = Field(None, description="false: the idempotency key was known, `job` is the earlier one")
    error: LineErrorView | None = None


# --- answers -----------------------------------------------------------------------------------------


class QuotationView(View):
    """Words of a page that an answer rests on."""

    text: str = Field(description="as the answer quotes them")
    url: str = Field(description="the page that shows them")
    where: str = Field(description="the page's text around them")


class ComputationView(View):
    """A value that an answer computes; code has made the arithmetic again."""

    operation: str = Field(description="sum, average, count, comparison, …")
    values: tuple[Json, ...] = Field(description="what it is computed from; each stands on a page or in a record")
    result: Json = Field(description="a number, rounded to the digits that it has; of a comparison a word")


class BasisView(View):
    """What an answer rests on."""

    quotations: tuple[QuotationView, ...]
    records: tuple[int, ...] = Field(description="positions among the session's records, from 0")
    computed: ComputationView | None = Field(description="null: nothing was computed")


# --- sessions ----------------------------------------------------------------------------------------


class WaitView(View):
    """What a session waits for."""

    cause: WaitingCause
    for_s: float | None = Field(description="about how long, in seconds; null: unknown")


class SessionView(View):
    """A session as lists show it."""

    id: SessionId
    job: JobId
    parent: SessionId | None
    depth: int
    index: int
    status: Status
    attempt: int
    item: ItemView | None
    domain: str
    ready_at: Time | None
    lease_until: Time | None
    owner: str | None
    children: int
    pending_children: int
    waiting_for: str = Field(description='in words; "" when it does not wait')
    waiting: WaitView | None = Field(None, description="the same for programs, with an estimate")
    records: int = Field(description="how many records it gave")
    error: ErrorView | None
    reason: str
    error_codes: list[str]
    url: str = Field(description="where its last attempt ended")
    at: str = Field(description='when it ended, ISO 8601, UTC; "" before')
    seconds: float
    screenshot: str | None
    usage: UsageView | None
    answer: str = Field(description='what the goal asked for, in words; "": it asked for nothing')
    rests_on: BasisView | None = Field(None, description="what the answer rests on; null without one")
    incomplete: IncompleteView | None = Field(None, description="what its list is known to lack; null: nothing")

    @classmethod
    def of(cls, row: SessionRow, wait: Wait | None = None) -> SessionView:
        """The view of `row`, which waits for `wait`."""
        return cls.model_validate(_session_fields(row, wait))


def _session_fields(row: SessionRow, wait: Wait | None) -> dict[str, Json]:
    outcome = row.outcome
    own = SessionView.model_fields.keys() & set(SessionRow.__slots__)
    ended = (
        *(
            "error",
            "reason",
            "error_codes",
            "url",
            "at",
            "seconds",
            "screenshot",
            "usage",
            "answer",
            "rests_on",
            "incomplete",
        ),
    )
    empty: dict[str, Json] = {"reason": "", "error_codes": [], "url": "", "at": "", "seconds": 0.0, "answer": ""}
    return {
        **{name: getattr(row, name) for name in own},
        **{name: getattr(outcome, name) if outcome else empty.get(name) for name in ended},
        "error_codes": list(outcome.error_codes) if outcome else [],
        "records": len(outcome.records) if outcome else 0,
        "waiting": wait,
        "waiting_for": wait.words if wait else TEXTS[row.waiting_for].words if row.waiting_for else "",
    }


class SessionPage(View):
    """One page of sessions, in item order."""

    sessions: list[SessionView]
    next: str | None = Field(description="the `cursor` of the next page; null: this was the last")


class ActionView(View):
    """One call of a primitive."""

    name: str
    args: dict[str, Json]
    reasoning: str
    submits: bool


class EffectView(View):
    """What an action changed."""

    url: str | None
    new_tab: bool
    dialog: bool
    download: bool
    dom_changed: bool
    focus: str | None
    value: str | None


class ActionResultView(View):
    """One performed action."""

    action: ActionView
    error: ErrorView | None
    effect: EffectView
    value: Json
    seconds: float


class StepView(View):
    """One observe, decide, act."""

    index: int
    url: str
    thought: str
    results: list[ActionResultView]
    screenshot: str | None
    prompt: str | None
    seconds: float


class TaskView(View):
    """One finished navigate, extract or loop."""

    type: Literal["navigate", "extract", "loop", "answer"]
    plan: str
    status: Status
    result: Json
    reason: str
    steps: list[StepView]
    seconds: float


class ArtifactView(View):
    """One stored artifact; its bytes are at /v1/artifacts/{id}."""

    id: str
    kind: str
    content_type: str
    bytes: int
    created_at: Time


class EvidenceView(View):
    """What is known of an unsure session: enough for a person to find out what became of it."""

    action: str = Field(description="the action that must not be repeated, begun and not confirmed")
    url: str = Field(description="the page that it was on")
    done: list[TaskView] = Field(description="the tasks before it")


class SessionDetailView(SessionView):
    """One session with what it gave and what each attempt did."""

    evidence: EvidenceView | None = Field(description="of an unsure session, until it is settled")

    record_list: list[RecordView]
    attempts: list[list[TaskView]] = Field(description="tasks with their steps, by attempt, the oldest first")
    artifacts: list[ArtifactView]

    @classmethod
    def of_detail(cls, detail: SessionDetail, wait: Wait | None = None) -> SessionDetailView:
        """The view of `detail`, whose session waits for `wait`."""
        outcome, known = detail.row.outcome, detail.checkpoint
        return cls.model_validate(
            {
                **_session_fields(detail.row, wait),
                "record_list": list(outcome.records) if outcome else [],
                "attempts": [list(tasks) for tasks in detail.attempts],
                "artifacts": list(detail.artifacts),
                "evidence": known and {"action": known.pending_action, "url": known.url, "done": list(known.history)},
            }
        )


# --- results -----------------------------------------------------------------------------------------


class SpentView(View):
    """What one line of the results cost in model calls."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int


class ResultView(View):
    """One line of the results: a record, an answer, or an item that gave neither."""

    job: JobId
    session: SessionId
    item: ItemView | None
    status: Status
    record: Json
    error: ErrorView | None
    url: str
    at: str
    attempts: int
    seconds: float
    sources: dict[str, SourceView]
    candidates: dict[str, tuple[CandidateView, ...]]
    screenshot: str | None
    answer: str = Field(description='of the session, on the first of its lines; "": it gave none')
    rests_on: BasisView | None = Field(description="of the answer")
    tier: str = Field(
        "", description="what the record was read by: `http`, `page` or `session`; empty without a record"
    )
    workflow: str = Field("", description="workflow and version that read the record, as `NAME@2`; empty for none")
    audit: Audited = Field(
        "", description="what a model's own reading said of a record that a workflow read; empty: none was asked for"
    )
    usage: SpentView


def result_line(row: ResultRow) -> dict[str, Json]:
    """`row` as the object that all outputs share. A plain dict: results go out by the million."""
    record, error, item = row.record, row.error, row.item
    return {
        "job": ids.job_id(row.job),
        "session": ids.session_id(row.session),
        "item": item and {"index": item.index, "value": item.value, "is_link": item.is_link, "label": item.label},
        "status": str(row.status),
        "record": record.value if record else None,
        "error": error
        and {"class": error.cls, "code": error.code, "message": error.message, "retryable": error.retryable},
        "url": row.url,
        "at": row.at,
        "attempts": row.attempts,
        "seconds": row.seconds,
        "sources": {
            field: {
                **{"how": source.how, "where": source.where, "confirmed": source.confirmed},
                **{"sureness": source.sureness, "why": source.why},
            }
            for field, source in (record.sources.items() if record else ())
        },
        "candidates": {
            field: [
                {"value": one.value, "how": one.how, "where": one.where, "sureness": one.sureness, "why": one.why}
                for one in candidates
            ]
            for field, candidates in (record.candidates.items() if record else ())
        },
        "screenshot": row.screenshot,
        "answer": row.answer,
        "rests_on": _basis(row.rests_on),
        "tier": record.tier if record else "",
        "workflow": record.workflow if record else "",
        "audit": record.audit if record else "",
        "usage": {
            "model_calls": row.usage.model_calls,
            "prompt_tokens": row.usage.prompt_tokens,
            "completion_tokens": row.usage.completion_tokens,
        },
    }


def _basis(basis: Basis | None) -> dict[str, Json] | None:
    return None if basis is None else asdict(basis)


# --- events ------------------------------------------------------------------------------------------


def event_data(row: EventRow) -> dict[str, Json]:
    """`row` as the data of a server-sent event."""
    return {"seq": row.seq, "job": ids.job_id(row.job), "name": row.name, "at": time_text(row.at), **row.data}


# --- webhooks ----------------------------------------------------------------------------------------


class DeliveryView(View):
    """One webhook message on its way."""

    id: DeliveryId
    tenant: str
    job: JobId
    event: str
    url: str
    state: DeliveryState
    attempts: int = Field(description="begun so far")
    due_at: Time = Field(description="when the next attempt begins, while it waits")
    created_at: Time
    ended_at: Time | None
    status_code: int | None = Field(description="of the receiver's last answer")
    error: str = Field(description="why the last attempt failed")


class DeliveryDetailView(DeliveryView):
    """One webhook message with what is sent."""

    body: str


class DeliveryPage(View):
    """One page of deliveries, newest first."""

    deliveries: list[DeliveryView]
    next: str | None = Field(description="the `cursor` of the next page; null: this was the last")
