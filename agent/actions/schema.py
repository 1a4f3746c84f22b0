"""JSON Schemas of actions and the check of arguments, both made from the primitives' signatures."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from shoal.agent.actions.registry import ACTION_SETS, Primitive, parameters, primitive, primitives_of
from shoal.agent.errors import ActionInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action

_MAX_INT = 2**53
"""Whole numbers up to here mean the same to JavaScript; Python cannot even write very much larger ones."""


@cache
def _model(entry: Primitive) -> type[BaseModel]:
    hints = get_type_hints(entry.function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in parameters(entry.function):
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False, title=entry.name)
    return create_model(entry.name, __config__=config, **fields)


def arguments(action: Action) -> dict[str, Json]:
    """The action's arguments, checked and with defaults filled in.

    Raises:
        ActionInvalid: naming the action that does not exist, or the argument that is wrong.
    """
    called = primitive(action.name)
    for name, value in action.args.items():
        if any(abs(number) > _MAX_INT for number in _whole_numbers(value)):
            raise ActionInvalid(f"{called.name}: argument {name!r} is too large a number", argument=name)
    try:
        checked = _model(called)(**dict(action.args))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise ActionInvalid(_complaint(called, wrong), action=called.name, argument=_place(wrong)) from error
    except TypeError as error:
        raise ActionInvalid(f"{called.name}: arguments are given by name: {error}") from error
    return {name: getattr(checked, name) for name in type(checked).model_fields}


def _whole_numbers(value: Json) -> Iterator[int]:
    """Those anywhere in `value`, which may be nested as deep as a reply's text allows."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list | tuple):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, int):
            yield part


def _place(wrong: Mapping[str, Any]) -> str:
    return str(wrong["loc"][0]) if wrong["loc"] else ""


def _complaint(entry: Primitive, wrong: Mapping[str, Any]) -> str:
    name = _place(wrong)
    if wrong["type"] == "missing":
        complaint = "is missing"
    elif wrong["type"] == "extra_forbidden":
        complaint = "is no argument of this action"
    else:
        complaint = f"{wrong['msg'][0].lower()}{wrong['msg'][1:]}, not {wrong['input']!r}"[:200]
    return f"{entry.name}: argument {name!r} {complaint}; it is called as {entry.signature}"


def action_schema(entry: Primitive, bids: Sequence[str] | None = None) -> dict[str, Json]:
    """The JSON Schema of the primitive's arguments; with `bids` element ids are held to these."""
    schema: dict[str, Json] = copy.deepcopy(_model(entry).model_json_schema())
    schema["additionalProperties"] = False
    schema.pop("title", None)
    for name, part in schema.get("properties", {}).items():
        part.pop("title", None)
        if bids is not None and name in _bid_parameters(entry):
            _hold_to(part, bids)
    schema.setdefault("properties", {})
    return schema


@cache
def _bid_parameters(entry: Primitive) -> frozenset[str]:
    return frozenset(p.name for p in parameters(entry.function) if p.name == "bid" or p.name.endswith("_bid"))


def _hold_to(part: dict[str, Json], bids: Sequence[str]) -> None:
    for option in part.get("anyOf", [part]):
        if option.get("type") == "string":
            option.pop("pattern", None)
            option["enum"] = list(bids)


def actions_schema(sets: Iterable[str] = (), bids: Sequence[str] | None = None) -> dict[str, Json]:
    """The JSON Schema of one call, `{"name": …, "args": {…}}`, of any primitive in `sets`, for structured output.

    With `bids`, the ids of this very page, actions on elements are left out when there is none.
    """
    calls = []
    for entry in primitives_of(sets):
        if bids is not None and not bids and _requires_bid(entry):
            continue
        calls.append(
            {
                "type": "object",
                "description": entry.text,
                "properties": {"name": {"const": entry.name}, "args": action_schema(entry, bids)},
                "required": ["name", "args"],
                "additionalProperties": False,
            }
        )
    return {"anyOf": calls}


def _requires_bid(entry: Primitive) -> bool:
    empty = inspect.Parameter.empty
    return any(p.name in _bid_parameters(entry) and p.default is empty for p in parameters(entry.function))


def catalogue(sets: Iterable[str] = ("all", "python")) -> list[dict[str, Json]]:
    """Return what is said about each primitive: name, group, sets, signature, text, examples, schema."""
    return [
        {
            "name": entry.name,
            "group": entry.group,
            "sets": [name for name, members in ACTION_SETS.items() if entry.name in members and name != "all"],
            "signature": entry.signature,
            "text": entry.text,
            "examples": list(entry.examples),
            "unsafe": entry.unsafe,
            "schema": action_schema(entry),
        }
        for entry in primitives_of(sets)
    ]


def describe(sets: Iterable[str] = (), *, examples: bool = True) -> str:
    """The chosen primitives as a model reads them in a prompt: signature, text, examples."""
    parts = []
    for entry in primitives_of(sets):
        lines = [entry.signature, *(f"    {line}" for line in entry.text.splitlines())]
        if examples:
            lines += [f"    e.g. {call}" for call in entry.examples]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
