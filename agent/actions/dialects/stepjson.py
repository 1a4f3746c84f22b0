"""The step reply of this project's own prompts: JSON with an `action_type` for each action.

    {"actions": [{"action_type": "CLICK", "id": "12", "reasoning": "opens the form"}]}

Expresses every primitive: those without a type of their own by CALL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from shoal.agent.actions.registry import primitive
from shoal.agent.actions.schema import arguments
from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.models.decisions.step import ACTION_TYPES, WAIT_MS, primitive_of
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "CLICK": ("id",),
    "INPUT_TEXT": ("id", "text"),
    "UPLOAD_FILE": ("id", "file_url"),
    "SELECT_OPTION": ("id", "option"),
    "CALL": ("call",),
}


def parse(text: str) -> list[Action]:
    """The actions of a reply: the whole reply object, its list of actions, or one action; fenced or not.

    Raises:
        ReplyUnparsable: no JSON, or a field that is missing or wrong; its place as in `actions[1].option`.
    """
    fenced = _FENCE.findall(text)
    if len(fenced) > 1:
        raise ReplyUnparsable(f"the reply holds {len(fenced)} blocks of JSON; one is read", place="block 2")
    try:
        parsed = json.loads(fenced[0] if fenced else text)
    except (ValueError, RecursionError) as error:
        place = f"line {getattr(error, 'lineno', 1)} column {getattr(error, 'colno', 1)}"
        raise ReplyUnparsable(f"{place}: no JSON: {getattr(error, 'msg', error)}", place=place) from error
    if isinstance(parsed, dict) and "actions" in parsed:
        parsed = parsed["actions"]
    if isinstance(parsed, dict):
        parsed = [parsed]
    if not isinstance(parsed, list):
        raise ReplyUnparsable("actions: must be a list", place="actions")
    return [_action(item, f"actions[{index}]") for index, item in enumerate(parsed)]


def _action(entry: Json, place: str) -> Action:
    if not isinstance(entry, dict):
        raise ReplyUnparsable(f"{place}: must be an object", place=place)
    kind = entry.get("action_type")
    if kind not in ACTION_TYPES:
        raise ReplyUnparsable(
            f"{place}.action_type: {kind!r} is none of {', '.join(ACTION_TYPES)}", place=f"{place}.action_type"
        )
    for name in _NEEDED.get(kind, ()):
        if entry.get(name) is None:
            raise ReplyUnparsable(f"{place}.{name}: is missing", place=f"{place}.{name}")
    _check_shape(entry, kind, place)
    action = primitive_of({**entry, "reasoning": str(entry.get("reasoning") or "")})
    try:
        checked = arguments(action)
    except ActionInvalid as error:
        raise ReplyUnparsable(f"{place}: {error.message}", place=place) from error
    # Ids and texts that came as numbers are text now; what was left out stays left out.
    args = {name: checked[name] if isinstance(value, int | float) else value for name, value in action.args.items()}
    return Action(action.name, args, action.reasoning)


def _check_shape(entry: dict[str, Json], kind: str, place: str) -> None:
    """Check that a function can be a primitive: its parameters and hints are those that `primitive_of` reads."""
    if kind == "SELECT_OPTION":
        option = entry["option"]
        if not isinstance(option, dict) or all(option.get(key) is None for key in ("label", "value", "index")):
            raise ReplyUnparsable(f"{place}.option: needs label, value or index", place=f"{place}.option")
        entry["option"] = {"label": None, "value": None, "index": None, **option}
    if kind == "CALL":
        call = entry["call"]
        if (
            not isinstance(call, dict)
            or not isinstance(call.get("name"), str)
            or not isinstance(call.get("args", {}), dict)
        ):
            raise ReplyUnparsable(f"{place}.call: needs a name and args", place=f"{place}.call")
        call["args"] = {_argument(call["name"], name): value for name, value in call.get("args", {}).items()}
    errors = entry.get("errors") or []
    well = isinstance(errors, list) and all(
        isinstance(e, dict) and isinstance(e.get("error_code"), str) for e in errors
    )
    if not well:
        raise ReplyUnparsable(f"{place}.errors: each needs an error_code", place=f"{place}.errors")
    entry["errors"] = errors


def _argument(action: str, name: str) -> str:
    try:
        return primitive(action).argument(name)
    except ActionInvalid:
        return name  # the check of the arguments says that there is no such action


def format(actions: Iterable[Action]) -> str:
    """The actions as a reply's `actions`."""
    return json.dumps({"actions": [_action_object(action) for action in actions]}, ensure_ascii=False)


def _action_object(action: Action) -> dict[str, Json]:
    own = _own_type(action.name, dict(action.args), action.reasoning)
    if own is None:
        own = {"action_type": "CALL", "call": {"name": action.name, "args": dict(action.args)}}
    return {"reasoning": action.reasoning, **own}


def _own_type(name: str, args: dict[str, Json], reasoning: str) -> dict[str, Json] | None:
    """The action under a type of its own, None where only a call says all of it."""
    match name, args:
        case "click", {"bid": bid} if len(args) == 1:
            return {"action_type": "CLICK", "id": bid, "download": False, "file_url": None}
        case "download", {"bid": bid} if len(args) == 1:
            return {"action_type": "CLICK", "id": bid, "download": True, "file_url": None}
        case "fill", {"bid": bid, "value": value} if len(args) == 2:
            return {"action_type": "INPUT_TEXT", "id": bid, "text": value}
        case "upload_file", {"bid": bid, "file": str(file)} if len(args) == 2:
            return {"action_type": "UPLOAD_FILE", "id": bid, "file_url": file}
        case "select_option", {"bid": bid, "options": str(label)} if len(args) == 2:
            return {"action_type": "SELECT_OPTION", "id": bid, "option": {"label": label, "value": None, "index": None}}
        case "select_option", {"bid": bid, "options": int(index)} if len(args) == 2:
            return {"action_type": "SELECT_OPTION", "id": bid, "option": {"label": None, "value": None, "index": index}}
        case "noop", {"wait_ms": wait} if wait == WAIT_MS:
            return {"action_type": "WAIT"}
        case "solve_captcha", {}:
            return {"action_type": "SOLVE_CAPTCHA"}
        case "complete", {} if not args:
            return {"action_type": "COMPLETE", "errors": []}
        case "complete", {"errors": [_, *_] as codes} if len(set(codes)) == len(codes):
            return {"action_type": "COMPLETE", "errors": _errors(codes, reasoning)}
        case "terminate", {"reason": reason, "errors": codes} if reason == reasoning and len(set(codes)) == len(codes):
            return {"action_type": "TERMINATE", "errors": _errors(codes, reasoning)}
    return None


def _errors(codes: Iterable[str], reasoning: str) -> list[Json]:
    return [{"error_code": code, "reasoning": reasoning, "confidence_float": 1.0} for code in codes]
