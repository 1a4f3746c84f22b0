"""The steps done so far as prompts tell them: the newest part, since a context has an end and a session may be long.

It stands behind the page, so that leaving out its beginning costs nothing of the prefix cache.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from shoal.agent.actions.effect_words import effect_words
from shoal.agent.models.decisions.step import typed_by
from shoal.agent.policies.model.requests.canvas import Canvas
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ActionResult, Step, Task

Line = dict[str, Json]

_ARGUMENT_CHARS = 120
_ERROR_CHARS = 300
_THOUGHT_CHARS = 600
"""A model's own words about a step; some write pages of them, which each later step would read again."""
_PLAN_CHARS = 600
_RESULT_CHARS = 1_000
_SAMPLES = "first_records"
_STEPS_TOLD = 12
_STEP_CHARS = 300
"""Of each of the last steps of a finished task, which a planner reads in a line."""


def step_lines(steps: Sequence[Step], canvas: Canvas | None = None, *, chars: int) -> list[Line]:
    """The last steps of a mini goal, each with its number from 1: as many as `chars` characters hold, one at least.

    Args:
        canvas: in whose units a model reads where it pointed; None: in CSS pixels.
    """
    field_values: dict[str, str] = {}
    lines = [
        {
            "number": number,
            "url": step.url,
            "thought": _short(step.thought, _THOUGHT_CHARS),
            "results": [
                {
                    "call": call_text(_in_model_units(r.action, canvas)),
                    "outcome": _outcome(_without_repeats(r, field_values)),
                }
                for r in step.results
            ],
            "expected": step.expected,
        }
        for number, step in enumerate(steps, 1)
    ]
    kept = _newest(lines, chars)
    # An address is told where it changes.
    return [
        {**line, "url": "" if at and line["url"] == kept[at - 1]["url"] else line["url"]}
        for at, line in enumerate(kept)
    ]


def task_lines(tasks: Sequence[Task], chars: int) -> list[Line]:
    """The last finished tasks, each with its number from 1: as many as `chars` characters hold, one at least."""
    return _newest([{"number": number, **_task_line(task)} for number, task in enumerate(tasks, 1)], chars)


def _newest(lines: list[Line], chars: int) -> list[Line]:
    kept = len(lines)
    while kept and (kept == len(lines) or _size(lines[kept - 1]) <= chars):
        chars -= _size(lines[kept - 1])
        kept -= 1
    return lines[kept:]


def _size(value: Json) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str))


def call_text(action: Action) -> str:
    """An action as a call, long arguments cut."""
    args = ", ".join(f"{name}={_short(repr(value), _ARGUMENT_CHARS)}" for name, value in action.args.items())
    return f"{action.name}({args})"


def _in_model_units(action: Action, canvas: Canvas | None) -> Action:
    return action if canvas is None else replace(action, args=canvas.to_model_units(action))


def _without_repeats(result: ActionResult, field_values: dict[str, str]) -> ActionResult:
    """`result` without what fields hold that its call says, or that an earlier effect told of the same fields.

    Args:
        field_values: by field, what was told last that it holds; changed.
    """
    effect, own = result.effect, str(result.action.args.get("bid", ""))
    value = effect.value
    if value is not None:
        repeated = _squeezed(value) in (_squeezed(typed_by(result.action)), _squeezed(field_values.get(own, "")))
        field_values[own] = value
        value = None if repeated and value else value
    fields = tuple((name, holds) for name, holds in effect.fields if field_values.get(f"name {name}") != holds)
    field_values.update({f"name {name}": holds for name, holds in fields})
    count = effect.fields_count - (len(effect.fields) - len(fields))
    return replace(result, effect=replace(effect, value=value, fields=fields, fields_count=count))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _outcome(result: ActionResult) -> str:
    if result.error is not None:
        return f"failed: {_short(result.error.message, _ERROR_CHARS)}"
    gave = [f"it gave {_short(str(result.value), _ERROR_CHARS)}"] if result.value is not None else []
    return ", ".join(["done", *effect_words(result.effect), *gave])


def _task_line(task: Task) -> Line:
    return {
        "type": task.type,
        "status": task.status.value,
        "plan": _short(task.plan, _PLAN_CHARS),
        "result": _bounded(task.result),
        "reason": _short(task.reason, _ERROR_CHARS),
        "steps": _in_lines(task.steps[-_STEPS_TOLD:]),
    }


def _in_lines(steps: Sequence[Step]) -> list[str]:
    """A finished task's steps, a line each: what was done and what came of it; on which page, where that changes."""
    lines, page, field_values = list[str](), "", dict[str, str]()
    for step in steps:
        outcomes = [_outcome(_without_repeats(result, field_values)) for result in step.results]
        calls = [_named_call(result.action) for result in step.results]
        done = "; ".join(map(" -> ".join, zip(calls, outcomes, strict=True))) or "looked"
        lines.append(_short(done if step.url == page else f"on {step.url}: {done}", _STEP_CHARS))
        page = step.url
    return lines


def _named_call(action: Action) -> str:
    """A call with the name of its element: the id that it had means nothing on another page."""
    args = {name: value for name, value in action.args.items() if not (action.target and name == "bid")}
    named = call_text(replace(action, args=args))
    return f"{named} on {action.target}" if action.target else named


def _bounded(result: Json) -> Json:
    """A task's result; of a loop's first records as many as there is room for."""
    if isinstance(result, dict) and isinstance(samples := result.get(_SAMPLES), list):
        while samples and _size(samples) > _RESULT_CHARS:
            samples = samples[:-1]
        return {**result, _SAMPLES: samples}
    return _short(result, _RESULT_CHARS) if isinstance(result, str) else result


def _short(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[:chars] + " …"
