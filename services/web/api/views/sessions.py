"""The API's views of a session."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import PageErrors
from shoal.services.store.records import SessionDetail, SessionRow
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.api.views.base import ErrorView, ItemView, JobId, SessionId, Time, UsageView, View
from shoal.services.web.api.views.jobs import IncompleteView
from shoal.services.web.api.views.results import BasisView, BoxView, RecordView
from shoal.services.web.cluster_state.waiting import Wait
from shoal.services.web.cluster_state.waiting_words import TEXTS


class WaitView(View):
    """The cause for which a session waits."""

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
    """The effect of an action."""

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
    box: BoxView | None = Field(description="of its element on the page; null: unknown, or not on the step's picture")


class PageErrorView(View):
    """An error that a page's console or the network told."""

    kind: Literal["console", "network"]
    text: str = Field(description="as the page told it, clipped, without secrets")
    where: str = Field(description='the address that was asked for, or the script and its line; "": unknown')
    times: int = Field(description="it came so often")


class PageErrorsView(View):
    """Errors of a page's console and network in some time."""

    told: list[PageErrorView] = Field(description="each once, the first first")
    left_out: int = Field(description="how many more came")


class StepView(View):
    """One observe, decide, act."""

    index: int
    url: str
    thought: str
    results: list[ActionResultView]
    screenshot: str | None
    prompt: str | None
    seconds: float
    at: str  # when its actions began, as ISO 8601 in UTC; "" unknown
    page_errors: PageErrorsView = Field(description="that came since the step before it ended")
    shows: BoxView | None = Field(description="the part of the page that the screenshot shows; null: unknown")


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
    name: str = Field("", description="of a download: how the site calls the file")


class EvidenceView(View):
    """The evidence of an unsure session: enough for a person to find out the outcome of its action."""

    action: str = Field(description="the action that must not be repeated, begun and not confirmed")
    url: str = Field(description="the page that it was on")
    done: list[TaskView] = Field(description="the tasks before it")


class SessionDetailView(SessionView):
    """One session with what it gave and what each attempt did."""

    evidence: EvidenceView | None = Field(description="of an unsure session, until it is settled")

    page_errors: PageErrorsView = Field(description="of its last attempt, after its last step")
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
                "page_errors": outcome.page_errors if outcome else PageErrors(),
                "record_list": list(outcome.records) if outcome else [],
                "attempts": [list(tasks) for tasks in detail.attempts],
                "artifacts": list(detail.artifacts),
                "evidence": known and {"action": known.pending_action, "url": known.url, "done": list(known.history)},
            }
        )
