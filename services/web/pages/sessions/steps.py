"""The steps of a session one by one: what was seen, what the model was asked and said, what was done and came of it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import HTMLResponse

from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ActionResult, Box, Step, Task
from shoal.services.errors import ArtifactMissing, ArtifactWaiting, NotFound
from shoal.services.store import ids
from shoal.services.store.records import SessionDetail
from shoal.services.web.api.sessions import artifact_bytes
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in

PROMPT_BYTES = 2 << 20
"""A longer transcript is offered as a file alone."""
_DOWNLOADS = frozenset({"download", "download_text"})
"""Kinds of artifacts: the files that a site gave, and the texts of those that are PDF."""


@dataclass(frozen=True, slots=True)
class ActedMark:
    """The place of an action on a picture, in CSS pixels from its top left corner."""

    number: int  # of the action within its step, from 1
    action: Action
    box: Box  # of its element; of a click on coordinates the point, without width and height


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step with its place among all steps of its session."""

    attempt: int  # from 1
    number: int  # within its attempt, from 1
    task: Task
    step: Step
    before: str | None  # artifact id of the picture on which it was decided
    after: str | None  # of the picture that was taken next

    @property
    def marks(self) -> Sequence[ActedMark]:
        """Return where its actions took place on the picture before it."""
        shows = self.step.shows
        if self.before is None or shows is None:
            return []
        boxes = [(n, result.action, _box_in(shows, result)) for n, result in enumerate(self.step.results, 1)]
        return [ActedMark(n, action, box) for n, action, box in boxes if box is not None]

    @property
    def failed(self) -> bool:
        """Return whether one of its actions did not work."""
        return any(result.error is not None for result in self.step.results)


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message to a model."""

    role: str
    text: str
    images: int


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply of a model."""

    text: str
    seconds: float
    prompt_tokens: int | None  # None: the transcript does not say
    completion_tokens: int | None
    note: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """The messages to a model, and its replies."""

    messages: Sequence[PromptMessage]
    replies: Sequence[ModelReply]


def add_steps(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the pages of steps."""

    @router.get("/sessions/{session}/steps/{attempt}/{number}", response_class=HTMLResponse)
    async def step_page(
        request: Request,
        session: str,
        attempt: int = Path(ge=1, le=1000),
        number: int = Path(ge=1, le=100_000),
        caller: Caller = Depends(let_in(login_check, "read")),
    ) -> Response:
        detail = await deps.store.session(ids.parse_session(session), tenant=caller.sees)
        steps = list(placed_steps(detail))
        here = next((n for n, step in enumerate(steps) if (step.attempt, step.number) == (attempt, number)), None)
        if here is None:
            raise NotFound(f"{session} has no step {number} in its attempt {attempt}")
        exchanges, not_shown = await _exchanges(deps, detail, steps[here].step.prompt)
        return pages.page(
            request,
            "session/step.html",
            caller=caller,
            session=detail.row,
            steps=steps,
            one=steps[here],
            earlier=steps[here - 1] if here else None,
            later=steps[here + 1] if here + 1 < len(steps) else None,
            exchanges=exchanges,
            told=not_shown,
            known={artifact.id for artifact in detail.artifacts},
            downloads=[artifact for artifact in detail.artifacts if artifact.kind in _DOWNLOADS],
        )


def _box_in(shows: Box, result: ActionResult) -> Box | None:
    """Return where an action took place in the window; None where that is not known."""
    if result.box is not None:
        return replace(result.box, x=result.box.x - shows.x, y=result.box.y - shows.y)
    x, y = (result.action.args.get(name) for name in ("x", "y"))
    return Box(x, y, 0.0, 0.0) if isinstance(x, (int, float)) and isinstance(y, (int, float)) else None


def placed_steps(detail: SessionDetail) -> Iterator[PlacedStep]:
    """All steps of a session, attempt by attempt."""
    known = {artifact.id for artifact in detail.artifacts}
    last = detail.row.outcome.screenshot if detail.row.outcome is not None else None
    for attempt, tasks in enumerate(detail.attempts, 1):
        steps = [(task, step) for task in tasks for step in task.steps]
        pictures = [step.screenshot if step.screenshot in known else None for _, step in steps]
        ends = last if attempt == len(detail.attempts) and last in known else None
        for n, (task, step) in enumerate(steps):
            after = pictures[n + 1] if n + 1 < len(steps) else ends
            yield PlacedStep(attempt, n + 1, task, step, pictures[n], after if after != pictures[n] else None)


async def _exchanges(deps: GatewayDeps, detail: SessionDetail, prompt: str | None) -> tuple[list[Exchange], str]:
    """Return what a step asked the model, and why that is not shown where it is not."""
    row = next((artifact for artifact in detail.artifacts if artifact.id == prompt), None)
    if row is None:
        return [], "" if prompt is None else "The prompt is not kept any more."
    if row.bytes > PROMPT_BYTES:
        return [], "The prompt is too long to be shown here; open it as a file."
    try:
        stored = json.loads(await artifact_bytes(deps, row))
    except ArtifactWaiting:
        return [], "The prompt waits at its worker for the artifact store; look again later."
    except ArtifactMissing:
        return [], "The prompt is not kept any more."
    except ValueError:
        return [], "The prompt cannot be read; open it as a file."
    return list(exchanges_of(stored)), ""


def exchanges_of(stored: Json) -> Iterator[Exchange]:
    """The exchanges of a transcript: one, or a list of them."""
    if isinstance(stored, list):
        for part in stored:
            yield from exchanges_of(part)
    elif isinstance(stored, Mapping):
        messages = [
            PromptMessage(str(message.get("role", "")), str(message.get("text", "")), len(message.get("images") or ()))
            for message in stored.get("messages") or ()
        ]
        yield Exchange(messages, [_reply(reply) for reply in stored.get("replies") or ()])


def _reply(reply: Mapping[str, Json]) -> ModelReply:
    text = str(reply.get("text", ""))
    with contextlib.suppress(ValueError):  # a reply that is no JSON is shown as it came
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    return ModelReply(
        text,
        float(reply.get("seconds") or 0.0),
        reply.get("prompt_tokens"),
        reply.get("completion_tokens"),
        str(reply.get("tokens", "")),
    )
