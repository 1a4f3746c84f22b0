"""One step decision: which actions to take on this page, and the shape of the reply that a model gives it in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from shoal.agent.models.decisions.expectation import Expectation, expectation_schema
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Basis, BeforeSending, Button, Modifier

WAIT_MS = 1500
"""Milliseconds that WAIT leaves the page alone."""

ON_ELEMENTS = ("CLICK", "INPUT_TEXT", "UPLOAD_FILE", "SELECT_OPTION")
TYPED: Mapping[str, str] = {"fill": "value", "keyboard_type": "text", "keyboard_insert_text": "text"}
"""The primitives that type, and the argument that says what."""
ACTION_TYPES = (*ON_ELEMENTS, "WAIT", "SOLVE_CAPTCHA", "COMPLETE", "TERMINATE", "CALL")


@dataclass(frozen=True, slots=True)
class StepDecision:
    """The actions that a policy wants on the page that it has just seen.

    `actions` may end with the control primitives `complete` (the mini goal is reached) or `terminate` (it cannot be
    reached; its `errors` are the caller's codes). With no action at all the page is looked at again.
    """

    thought: str
    actions: tuple[Action, ...]
    prompt: str | None = None  # prompt and reply as text, kept as an artifact when a model was asked
    before: BeforeSending | None = None  # the page now, when the actions send a form
    then_done: Expectation | None = None  # where the page shows this after the actions, the mini goal is reached
    rests_on: Basis | None = None  # what an answer among the actions rests on


@dataclass(frozen=True, slots=True)
class CallOffer:
    """One primitive that a CALL may name."""

    name: str
    signature: str  # as the model reads it: click(bid, button='left')
    text: str  # what it does, one line
    schema: Json  # JSON Schema of its arguments, an object

    @property
    def on_element(self) -> bool:
        """Return whether it takes the id of an element."""
        return any(map(names_element, self.schema.get("properties", ())))


@dataclass(frozen=True, slots=True)
class StepShape:
    """The choices of a step reply, for one page of one job."""

    ids: tuple[str, ...]  # of the elements that may be acted on
    action_types: tuple[str, ...] = ACTION_TYPES
    error_codes: tuple[str, ...] = ()  # the caller's; empty: replies have no `errors`
    verification_check: bool = False
    calls: tuple[CallOffer, ...] = ()

    def offered(self) -> tuple[str, ...]:
        """The action types that make sense here: none that needs an element on a page without any, no empty CALL."""
        without = {*(ON_ELEMENTS if not self.ids else ()), *(() if self.possible_calls() else ("CALL",))}
        return tuple(kind for kind in self.action_types if kind not in without)

    def possible_calls(self) -> tuple[CallOffer, ...]:
        """The calls that can be made here: none with an argument for an element where there is no id for one."""
        if self.ids:
            return self.calls
        return tuple(call for call in self.calls if not call.on_element)


def step_schema(shape: StepShape) -> dict[str, Json]:
    """The JSON Schema of a step reply, with this page's ids and this job's error codes as enums."""
    checks: dict[str, Json] = {}
    if shape.verification_check:
        checks = {"verification_code_reasoning": _TEXT, "place_to_enter_verification_code": {"type": "boolean"}}
    schema = _object(
        {
            "thoughts": _TEXT,
            "user_goal_achieved": {"type": "boolean"},
            **checks,
        }
    )
    parts, definitions = step_parts(shape)
    schema["properties"] |= parts
    schema["required"].append("actions")
    return {**schema, **definitions}


def step_parts(shape: StepShape) -> tuple[dict[str, Json], dict[str, Json]]:
    """The properties that say what to do and what then holds, and the definitions that they refer to."""
    parts: dict[str, Json] = {
        "actions": {"type": "array", "items": {"anyOf": [_action(kind, shape) for kind in shape.offered()]}},
        "then_done": expectation_schema(bool(shape.ids)),
    }
    if not shape.ids:
        return parts, {}
    # One definition for all action types: on a page of a thousand ids it is most of the schema.
    return parts, {"$defs": {"id": {"type": "string", "enum": list(shape.ids)}}}


_TEXT: Json = {"type": "string"}
_TEXT_OR_NULL: Json = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_INDEX_OR_NULL: Json = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}
_CONFIDENCE: Json = {"type": "number", "minimum": 0, "maximum": 1}
_ID: Json = {"$ref": "#/$defs/id"}

_OWN_FIELDS: dict[str, dict[str, Json]] = {
    "CLICK": {
        "id": _ID,
        "button": {"type": "string", "enum": list(get_args(Button))},
        "modifiers": {"type": "array", "items": {"type": "string", "enum": list(get_args(Modifier))}},
        "download": {"type": "boolean"},
        "file_url": _TEXT_OR_NULL,
    },
    "INPUT_TEXT": {"id": _ID, "text": _TEXT},
    "UPLOAD_FILE": {"id": _ID, "file_url": _TEXT},
    "SELECT_OPTION": {"id": _ID},
}

_OPTIONAL = frozenset(("CLICK", name) for name in ("button", "modifiers", "download", "file_url"))


def _object(properties: dict[str, Json]) -> dict[str, Json]:
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def _action(kind: str, shape: StepShape) -> dict[str, Json]:
    """One action: what it is and what it needs; the other fields of the specification may be left out."""
    fields: dict[str, Json] = {"action_type": {"type": "string", "enum": [kind]}, **_OWN_FIELDS.get(kind, {})}
    needed = [name for name in fields if (kind, name) not in _OPTIONAL]
    if kind == "SELECT_OPTION":
        named = {"label": _TEXT_OR_NULL, "index": _INDEX_OR_NULL, "value": _TEXT_OR_NULL}
        fields["option"] = {**_object(named), "required": []}
    if kind in ("COMPLETE", "TERMINATE") and shape.error_codes:
        code = {"type": "string", "enum": list(shape.error_codes)}
        error = {
            **_object({"error_code": code, "reasoning": _TEXT, "confidence_float": _CONFIDENCE}),
            "required": ["error_code"],
        }
        fields["errors"] = {"type": "array", "items": error}
    if kind == "CALL":
        calls = [
            _object({"name": {"type": "string", "enum": [c.name]}, "args": _arguments_schema(c)})
            for c in shape.possible_calls()
        ]
        fields["call"] = {"anyOf": calls}
    needed += [name for name in ("option", "call") if name in fields]
    if kind == "TERMINATE":
        needed.append("reasoning")
    fields |= {"reasoning": _TEXT, "confidence_float": _CONFIDENCE}
    if kind in ON_ELEMENTS:
        fields |= {"user_detail_query": _TEXT_OR_NULL, "user_detail_answer": _TEXT_OR_NULL}
    return {**_object(fields), "required": needed}


def _arguments_schema(call: CallOffer) -> dict[str, Json]:
    """The schema of a call's arguments, with this page's ids for those that name an element."""
    properties = call.schema.get("properties", {})
    held = {name: _ID if names_element(name) else part for name, part in properties.items()}
    return {**call.schema, "properties": held} if held else call.schema


def names_element(argument: str) -> bool:
    """Return whether an argument of a primitive is the id of an element."""
    return argument == "bid" or argument.endswith("_bid")


def typed_by(action: Action) -> str:
    """The text that an action types; "" where it types none."""
    return str(action.args.get(TYPED.get(action.name, ""), ""))


def primitive_of(entry: Json) -> Action:
    """The primitive that one action of a reply stands for; its id is taken as the element's bid.

    A CLICK that uploads is an upload to the element that was to be clicked: the file chooser opens by itself there.
    """
    detail = entry.get("user_detail_answer")
    return replace(_primitive(entry), detail=detail) if isinstance(detail, str) else _primitive(entry)


def _primitive(entry: Json) -> Action:
    kind, reasoning = entry["action_type"], entry.get("reasoning") or ""
    errors = tuple(dict.fromkeys(error["error_code"] for error in entry.get("errors") or ()))
    match kind:
        case "CLICK" if entry.get("file_url"):
            return Action("upload_file", {"bid": entry["id"], "file": entry["file_url"]}, reasoning)
        case "CLICK" if entry.get("download"):
            return Action("download", {"bid": entry["id"]}, reasoning)
        case "CLICK":
            how = {name: entry[name] for name in ("button", "modifiers") if entry.get(name) and entry[name] != "left"}
            return Action("click", {"bid": entry["id"], **how}, reasoning)
        case "INPUT_TEXT":
            return Action("fill", {"bid": entry["id"], "value": entry["text"]}, reasoning)
        case "UPLOAD_FILE":
            return Action("upload_file", {"bid": entry["id"], "file": entry["file_url"]}, reasoning)
        case "SELECT_OPTION":
            option = entry["option"]
            named = (option.get(key) for key in ("label", "value"))
            chosen = next((name for name in named if name is not None), option.get("index"))
            return Action("select_option", {"bid": entry["id"], "options": chosen}, reasoning)
        case "WAIT":
            return Action("noop", {"wait_ms": WAIT_MS}, reasoning)
        case "SOLVE_CAPTCHA":
            return Action("solve_captcha", {}, reasoning)
        case "COMPLETE":
            return Action("complete", {"errors": list(errors)} if errors else {}, reasoning)
        case "TERMINATE":
            return Action("terminate", {"reason": reasoning, "errors": list(errors)}, reasoning)
        case "CALL":
            return Action(entry["call"]["name"], dict(entry["call"]["args"]), reasoning)
    raise ValueError(f"no such action type: {kind}")
