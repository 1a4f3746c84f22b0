"""The API's views of a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from shoal.agent.redaction.masking import masked_spec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Basis
from shoal.agent.workflows.judging.sampling import bound_of
from shoal.services.store import ids
from shoal.services.store.jobs.sink_records import SinkRow
from shoal.services.store.learning.records import LearningRow
from shoal.services.store.records import EventRow, JobRow
from shoal.services.store.schedules.records import RunOfJob
from shoal.services.web.api.views.base import CountsView, ErrorView, JobId, SessionId, Time, UsageView, View, time_text
from shoal.services.web.api.views.problems import FaultView
from shoal.services.web.api.views.results import BasisView, basis_told
from shoal.services.web.api.views.schedules import DeviationView
from shoal.services.web.api.views.sinks import SinkView


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


class JobSummary(View):
    """A job as lists show it: without its spec, which may be long."""

    id: JobId
    tenant: str
    status: Status
    name: str | None = Field(None, description="what people call it; null: nothing")
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
    submitted_by: str | None = Field(
        None, description="name of the key or person that handed it in, as it was then; null: unknown"
    )
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    root_session: SessionId

    @classmethod
    def of(cls, row: JobRow) -> JobSummary:
        """The summary of `row`."""
        return cls.model_validate(_job_fields(row))


class LearningView(View):
    """The learning of one loop of a job from its first items."""

    session: SessionId = Field(description="that opened the loop")
    phase: Literal["items", "shadow", "replay", "off"] = Field(
        description="`items`: the baseline, a model or the rules, works out items, to learn from; `shadow`: so it does "
        "and is compared with the workflow; `replay`: the workflow does the items; `off`: the baseline does all, and "
        "`why` says why"
    )
    holds_back: bool = Field(description="the loop's other items wait until this phase is over")
    why: str = Field(description="why it is in this phase, in words")
    workflow: str = Field(description='the workflow with its version, as `NAME@2`; "": there is none')
    figures: dict[str, int] = Field(
        description="items by what became of them: `ended` in all, by the baseline alone (`model`), in `shadow`, "
        "`replays`, `misses`, "
        "`miss_REASON`, `audits` and `audits_wrong`; `same_right` and `same_wrong`: read again by the baseline, since "
        "another item had the same record; `more_right` and `more_wrong`: audited beyond the uniform share, since "
        "fields were weak; `provisional`: replayed since an audit last confirmed what the "
        "same branches read; `reopened`: done anew, since one was wrong; `repairs` that are over and proved, and "
        "`repair_calls`: model calls of the items in all that are over"
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
            bound=str(bound_of(figures)),
        )


@dataclass(frozen=True, slots=True)
class JobEnd:
    """The end of a job, by its root session."""

    reason: str = ""  # in words
    answer: str = ""
    rests_on: Basis | None = None  # of the answer


class JobView(JobSummary):
    """A job with its spec; fields that were left at their defaults are left out of the latter."""

    spec: dict[str, Json] = Field(description="as it was submitted")
    concurrency: int | None = Field(description="items of its outermost loop at once, as it holds now; null: no limit")
    deadline_at: Time | None = Field(description="when it must have ended, as it holds now")
    job_tokens: int | None = Field(description="model tokens of all its sessions, as it holds now; null: no limit")
    reason: str = Field("", description="of a job that has ended: why so, in words, and what its loop left out")
    answer: str = Field("", description='of a job that has ended: what its goal asked for, in words; "" for none')
    rests_on: BasisView | None = Field(None, description="what the answer rests on; null without one")
    learning: list[LearningView] = Field([], description="its loops that learn, or did")
    sinks: list[SinkView] = Field([], description="of a job that has ended: how far its records are written to each")
    schedule: str | None = Field(None, description="the schedule whose run it is; null: none")
    degraded: list[DeviationView] = Field(
        [],
        description="of a schedule's run: how it differs from those before; empty: it does not, or is not judged yet",
    )

    @classmethod
    def of(
        cls,
        row: JobRow,
        end: JobEnd = JobEnd(),
        learning: Sequence[LearningRow] = (),
        sinks: Sequence[SinkRow] = (),
        run: RunOfJob | None = None,
    ) -> JobView:
        """The view of `row`, which ended so."""
        now = {"concurrency": row.concurrency, "deadline_at": row.deadline_at, "job_tokens": row.token_limit}
        return cls.model_validate(
            {
                **_job_fields(row),
                **now,
                "reason": end.reason,
                "answer": end.answer,
                "rests_on": basis_told(end.rests_on),
                "spec": masked_spec(row.spec),
                "learning": [LearningView.of(learned) for learned in learning],
                "sinks": [SinkView.of(sink) for sink in sinks],
                "schedule": run.name if run is not None else None,
                "degraded": run.run.verdict.reasons if run is not None and run.run.verdict is not None else (),
            }
        )


def _job_fields(row: JobRow) -> dict[str, Json]:
    own = (
        "id",
        "tenant",
        "status",
        "counts",
        "usage",
        "error",
        "incomplete",
        "submitted_by",
        "cancel_requested",
        "root_session",
    )
    times = ("created_at", "started_at", "finished_at")
    spec = row.spec
    asked = {"name": spec.name, "url": spec.url, "goal": spec.goal, "labels": spec.labels, "priority": row.priority}
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


class LineErrorView(View):
    """Why one line of a batch was refused."""

    status: int
    code: str
    detail: str
    errors: tuple[FaultView, ...] = ()


class SubmittedView(View):
    """The result of one line of a batch."""

    line: int = Field(description="of the body, from 1")
    job: str | None = None
    created: bool | None = Field(None, description="false: the idempotency key was known, `job` is the earlier one")
    error: LineErrorView | None = None


def event_data(row: EventRow) -> dict[str, Json]:
    """`row` as the data of a server-sent event."""
    return {"seq": row.seq, "job": ids.job_id(row.job), "name": row.name, "at": time_text(row.at), **row.data}
