"""Judgement of a finished run: a model judges by goal, actions, last page and the last screenshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from shoal.agent.models.model import Ask, Image, Model
from shoal.agent.models.reply import ReplyProblem, ask_for
from shoal.agent.policies.model.requests.history import call_text
from shoal.agent.policies.model.requests.messages import fitting, messages_for
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem, Record, Task, Usage

Complete = Literal["yes", "no", "unsure"]
_VERDICTS: tuple[Complete, ...] = ("yes", "no", "unsure")

_LAST_ACTIONS = 200
_SHOWN_RECORDS = 50
_REPLY_TOKENS = 2_048
_PAGE_CHARS = 16_000
_LEAST_PAGE_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Trial:
    """A finished run, as its judge sees it."""

    spec: JobSpec
    tasks: tuple[Task, ...] = ()
    answer: str = ""
    records: tuple[Record, ...] = ()
    url: str = ""  # of the last page
    text: str = ""  # of the last page, rendered
    screenshots: tuple[Image, ...] = ()  # in order, the last one is the end
    item: LoopItem | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The judgement."""

    complete: Complete
    sub_scores: Mapping[str, Complete]  # what must hold, and whether it does
    reason: str
    transcript: str = ""  # prompt and reply as JSON, kept as an artifact
    usage: Usage = field(default_factory=Usage)

    @property
    def verdict(self) -> Literal["SUCCESS", "NOT SUCCESS"]:
        """The judgement in WebVoyager's words, which know no doubt: unsure is no success."""
        return "SUCCESS" if self.complete == "yes" else "NOT SUCCESS"


def evaluation_schema() -> dict[str, Json]:
    """The JSON Schema of a judge's reply."""
    verdict = {"type": "string", "enum": list(_VERDICTS)}
    text = {"type": "string"}
    score = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "met"],
        "properties": {"name": text, "met": verdict},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["thought", "sub_scores", "reason", "complete"],
        "properties": {
            "thought": text,
            "sub_scores": {"type": "array", "items": score},
            "reason": text,
            "complete": verdict,
        },
    }


def _now() -> datetime:
    return datetime.now(UTC)


async def evaluate(
    model: Model, trial: Trial, *, last_screenshots: int = 3, clock: Callable[[], datetime] = _now
) -> Evaluation:
    """The judgement of `model` on `trial`, which sees its last `last_screenshots` pictures.

    Raises:
        ModelError: the model could not be asked, or gave no usable reply.
    """
    images = trial.screenshots[-last_screenshots:] if last_screenshots > 0 else ()
    spent: list[Usage] = []

    async def ask(chars: int) -> Evaluation:
        request = Ask(
            messages=messages_for("evaluate", images, _variables(trial, len(images), chars, clock())),
            schema_name="evaluation",
            json_schema=evaluation_schema(),
            max_tokens=_REPLY_TOKENS,
        )
        answer = await ask_for(model, request, _read, spent.append)
        complete, scores, reason = answer.value
        return Evaluation(complete, scores, reason, answer.transcript, sum(spent, Usage()))

    return await fitting(ask, _PAGE_CHARS, _LEAST_PAGE_CHARS)


def _variables(trial: Trial, pictures: int, chars: int, now: datetime) -> dict[str, Json]:
    spec = trial.spec
    return {
        "goal": spec.goal,
        "data": spec.data,
        "extract_goal": spec.extract.goal if spec.extract else None,
        "schema": spec.extract.record_schema if spec.extract else None,
        "complete_criterion": spec.complete_criterion,
        "error_codes": {},
        "item": trial.item,
        "actions": action_lines(trial.tasks)[-_LAST_ACTIONS:],
        "answer": trial.answer,
        "records": [record.value for record in trial.records[:_SHOWN_RECORDS]],
        "url": trial.url,
        # The end of a page says more often than its beginning whether something was done; both are kept.
        "text": _middle_cut(trial.text, chars),
        "pictures": pictures,
        "now": f"{now:%A, %Y-%m-%d %H:%M %Z}",
    }


def _middle_cut(text: str, chars: int) -> str:
    half = chars // 2
    return text if len(text) <= chars else f"{text[:half]}\n…\n{text[-half:]}"


def action_lines(tasks: Sequence[Task]) -> list[str]:
    """Every action of a run, in order, with where it was and whether it worked."""
    return [
        f"{call_text(result.action)} on {step.url}: {result.error.message if result.error else 'done'}"
        for task in tasks
        for step in task.steps
        for result in step.results
    ]


def _read(reply: Json) -> tuple[Complete, dict[str, Complete], str]:
    scores: dict[str, Complete] = {score["name"]: score["met"] for score in reply["sub_scores"]}
    if reply["complete"] == "yes" and "no" in scores.values():
        raise ReplyProblem("`complete` is yes, but one of the sub_scores is no")
    return reply["complete"], scores, reply["reason"]
