"""webAction: the JSON objects of visual workflows, which name elements by selector and label.

    [{"action": "Input", "description": "Berlin", "ui_element": {"label": "City", "type": "textbox", …}}]

Expresses click, fill, scroll by a screen, wait, back, the search engine and an answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from shoal.agent.actions.dialects.ui_element import Describe, Resolve, UiElement
from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action

WAIT_MS = 3000
SCROLL_PX = 600
_SEARCH = "Jump to Search Engine"
ACTIONS = ("Click", "Input", "Scroll", "Wait", "Back", _SEARCH, "Answer")


def parse(text: str, resolve: Resolve) -> list[Action]:
    """The actions of a list of webActions, or of one; `resolve` finds their elements on the page.

    Raises:
        ReplyUnparsable: no such JSON, no such action, or an element that is not found.
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f"line {getattr(error, 'lineno', 1)} column {getattr(error, 'colno', 1)}"
        raise ReplyUnparsable(f"{place}: no JSON: {getattr(error, 'msg', error)}", place=place) from error
    if isinstance(parsed, dict):
        parsed = [parsed]
    if not isinstance(parsed, list):
        raise ReplyUnparsable("the reply must be a list of webActions", place="the reply")
    return [_action(item, f"[{index}]", resolve) for index, item in enumerate(parsed)]


def _action(entry: Json, place: str, resolve: Resolve) -> Action:
    if not isinstance(entry, dict) or not isinstance(entry.get("description", ""), str):
        raise ReplyUnparsable(f"{place}: must be an object with an action and a description", place=place)
    description = entry.get("description", "")
    match entry.get("action"):
        case "Click":
            return Action("click", {"bid": _bid(entry, place, resolve)}, description)
        case "Input":
            return Action("fill", {"bid": _bid(entry, place, resolve), "value": description})
        case "Scroll":
            up = description.strip().lower().startswith("up")
            return Action("scroll", {"dx": 0, "dy": -SCROLL_PX if up else SCROLL_PX})
        case "Wait":
            return Action("noop", {"wait_ms": WAIT_MS}, description)
        case "Back":
            return Action("go_back", {}, description)
        case "Jump to Search Engine":
            return Action("search", {"query": description})
        case "Answer":
            return Action("answer", {"text": description})
    known = ", ".join(ACTIONS)
    raise ReplyUnparsable(f"{place}.action: {entry.get('action')!r} is none of {known}", place=f"{place}.action")


def _bid(entry: dict[str, Json], place: str, resolve: Resolve) -> str:
    place = f"{place}.ui_element"
    element = read_ui_element(entry.get("ui_element"), place)
    bid = resolve(element)
    if bid is None:
        raise ReplyUnparsable(
            f"{place}: no element of the page, or more than one, is {element.label or element.type!r}", place=place
        )
    return bid


def read_ui_element(entry: Json, place: str) -> UiElement:
    """The element that a webAction names.

    Raises:
        ReplyUnparsable: it is no such object.
    """
    if not isinstance(entry, dict):
        raise ReplyUnparsable(f"{place}: must be an object", place=place)
    field = entry.get("input_field") or {}
    if not isinstance(field, dict):
        raise ReplyUnparsable(f"{place}.input_field: must be an object", place=place)
    values = [entry.get(name) or "" for name in ("xpath", "cssSelector", "type", "label")] + [
        field.get("placeholder") or ""
    ]
    if not all(isinstance(value, str) for value in values):
        raise ReplyUnparsable(f"{place}: holds something else than text", place=place)
    return UiElement(*values)


def write_ui_element(element: UiElement) -> dict[str, Json]:
    """The object that names `element`."""
    return {
        "xpath": element.xpath,
        "cssSelector": element.css_selector,
        "type": element.type,
        "label": element.label,
        "input_field": {"placeholder": element.placeholder},
    }


def format(actions: Iterable[Action], describe: Describe) -> str:
    """The actions as a list of webActions; `describe` tells what their elements are.

    Raises:
        ActionInvalid: the notation has no such action, or nothing is known of its element.
    """
    return json.dumps([_action_object(action, describe) for action in actions], ensure_ascii=False)


def _action_object(action: Action, describe: Describe) -> dict[str, Json]:
    args = dict(action.args)
    match action.name, args:
        case "click", {"bid": bid} if len(args) == 1:
            return _object("Click", action.reasoning, _described(bid, describe))
        case "fill", {"bid": bid, "value": value} if len(args) == 2:
            return _object("Input", value, _described(bid, describe))
        case "scroll", {"dx": 0, "dy": dy} if abs(dy) == SCROLL_PX:
            return _object("Scroll", "down" if dy > 0 else "up")
        case "noop", {"wait_ms": wait} if wait == WAIT_MS:
            return _object("Wait", action.reasoning)
        case "go_back", _:
            return _object("Back", action.reasoning)
        case "search", {"query": query}:
            return _object(_SEARCH, query)
        case "answer", {"text": text}:
            return _object("Answer", text)
    raise ActionInvalid(f"webAction cannot express {action.name} with {args!r}")


def _object(action: str, description: str, element: UiElement | None = None) -> dict[str, Json]:
    entry: dict[str, Json] = {"action": action, "description": description}
    return entry if element is None else {**entry, "ui_element": write_ui_element(element)}


def _described(bid: str, describe: Describe) -> UiElement:
    element = describe(bid)
    if element is None:
        raise ActionInvalid(f"nothing is known of element {bid}")
    return element
