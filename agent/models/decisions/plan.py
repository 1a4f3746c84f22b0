"""One planning decision: what to do next, as one mini goal, and the shape of the reply that a model gives it in."""

from __future__ import annotations

from dataclasses import dataclass, field

from shoal.agent.models.decisions.answer import answer_schema
from shoal.agent.models.decisions.step import StepDecision, StepShape, step_parts
from shoal.agent.support.json_value import Json
from shoal.agent.types import Basis, TaskType


@dataclass(frozen=True, slots=True)
class Plan:
    """The next mini goal, or the end. Field names are those of the specification of the plan reply."""

    thoughts: str = ""  # what the page is, what was done, and what is lacking
    require_extraction: bool = False  # data must still be read off a page for the goal
    user_goal_achieved: bool = False
    should_terminate: bool = False
    termination_reason: str | None = None
    error_codes: tuple[str, ...] = field(default_factory=tuple)  # the caller's own, on termination
    plan: str | None = None  # the mini goal; None when done
    task_type: TaskType | None = None
    loop_values: tuple[str, ...] | None = None  # None: the policy collects them from pages
    is_loop_value_link: bool = False
    ends_goal: bool = False  # once this mini goal is reached, nothing of the goal is left
    wants_answer: bool = False  # the goal asks for something to be told in words
    items_only_read: bool = False  # of a loop: of each value nothing is wanted but that its own page is read
    first: StepDecision | None = None  # of a navigate: the actions to begin with, on the page as it is
    answer: str = ""  # of an answer: its words
    rests_on: Basis | None = None  # of an answer
    prompt: str | None = None  # prompt and reply as text, kept as an artifact when a model was asked


@dataclass(frozen=True, slots=True)
class PlanShape:
    """The choices of a plan reply, for one session."""

    task_types: tuple[TaskType, ...] = ("navigate", "extract", "loop")
    allow_terminate: bool = True
    error_codes: tuple[str, ...] = ()  # the caller's; empty: replies have no `error_codes`
    first: StepShape | None = None  # what the actions of a plan may be; None: a plan has none


def plan_schema(shape: PlanShape) -> dict[str, Json]:
    """The JSON Schema of a plan reply."""
    text: Json = {"type": "string"}
    flag: Json = {"type": "boolean"}
    properties: dict[str, Json] = {
        "thoughts": text,
        "user_goal_achieved": flag,
        "require_extraction": flag,
    }
    if shape.allow_terminate:
        properties |= {"should_terminate": flag, "termination_reason": _or_null(text)}
        if shape.error_codes:
            codes = {"type": "string", "enum": list(shape.error_codes)}
            properties["error_codes"] = {"type": "array", "items": codes}
    properties |= {
        "plan": _or_null(text),
        "task_type": _or_null({"type": "string", "enum": list(shape.task_types)}),
        "loop_values": _or_null({"type": "array", "items": text}),
        "is_loop_value_link": flag,
    }
    required = list(properties)
    # What a reply may leave out: the fields above are those of the specification.
    properties |= {"ends_goal": flag, "wants_answer": flag}
    if "loop" in shape.task_types:
        properties["items_only_read"] = flag
    if "answer" in shape.task_types:
        properties["answer"] = _or_null(answer_schema())
    schema: dict[str, Json] = {"type": "object", "additionalProperties": False, "required": required}
    if shape.first is not None:
        parts, definitions = step_parts(shape.first)
        properties |= parts
        schema |= definitions
    return {**schema, "properties": properties}


def criterion_schema() -> dict[str, Json]:
    """The JSON Schema of a reply that says whether the job's criterion holds on a page."""
    text: Json = {"type": "string"}
    properties = {"thought": text, "evidence": _or_null(text), "holds": {"type": "boolean"}}
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def _or_null(schema: Json) -> Json:
    return {"anyOf": [schema, {"type": "null"}]}


def plan_from(reply: Json) -> Plan:
    """A plan reply, already held to its schema, as a record."""
    values = reply["loop_values"]
    return Plan(
        thoughts=reply["thoughts"],
        require_extraction=reply["require_extraction"],
        user_goal_achieved=reply["user_goal_achieved"],
        should_terminate=reply.get("should_terminate", False),
        termination_reason=reply.get("termination_reason"),
        error_codes=tuple(dict.fromkeys(reply.get("error_codes", ()))),
        plan=reply["plan"],
        task_type=reply["task_type"],
        loop_values=tuple(dict.fromkeys(values)) if values else None,
        is_loop_value_link=reply["is_loop_value_link"],
        ends_goal=reply.get("ends_goal", False),
        wants_answer=reply.get("wants_answer", False),
        items_only_read=reply.get("items_only_read", False),
    )
