"""SeeAct's notation: the element by a letter from a list, the action, and its value.

    ELEMENT: C
    ACTION: TYPE
    VALUE: Berlin

Expresses click, fill, select_option, hover, Enter, the two ends, and doing nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.types import Action

_LINE = re.compile(r"^[ \t]*\**(ELEMENT|ACTION|VALUE)\**[ \t]*:(?:[ \t]*\*+)?[ \t]?(.*)$", re.IGNORECASE | re.MULTILINE)
_LETTER = re.compile(r"\W*([A-Z]{1,3})\b")
_ON_ELEMENTS = {"CLICK": "click", "TYPE": "fill", "SELECT": "select_option", "HOVER": "hover"}
_VALUES = {"fill": "value", "select_option": "options"}
_NO_VALUE = ("", "none", "null", "n/a")


def parse(text: str, choices: Mapping[str, str]) -> list[Action]:
    """The action of a reply; `choices` gives the element id of each letter. What stands before it is the reasoning.

    Raises:
        ReplyUnparsable: a line is missing, the letter is no choice, or there is no such action.
    """
    lines: dict[str, str] = {}
    first = len(text)
    for line in _LINE.finditer(text):  # the last of each kind counts: models repeat the format before they fill it in
        lines[line.group(1).upper()] = line.group(2)
        first = min(first, line.start())
    if "ACTION" not in lines:
        raise ReplyUnparsable("the reply has no line that begins with 'ACTION:'", place="ACTION")
    reasoning = text[:first].strip()
    kind = " ".join(lines["ACTION"].replace("_", " ").strip(" .*`").upper().split())
    value = lines.get("VALUE", "")
    if kind in _ON_ELEMENTS:
        return [_on_element(kind, lines.get("ELEMENT", ""), value, choices, reasoning)]
    if kind == "PRESS ENTER":
        letter = _letter(lines.get("ELEMENT", ""), choices)
        if letter is None:
            return [Action("keyboard_press", {"key_comb": "Enter"}, reasoning)]
        return [Action("press", {"bid": choices[letter], "key_comb": "Enter"}, reasoning)]
    if kind == "TERMINATE":
        given = value.strip().lower() not in _NO_VALUE
        return [Action("terminate", {"reason": value}, reasoning) if given else Action("complete", {}, reasoning)]
    if kind == "NONE":
        return [Action("noop", {}, reasoning)]
    raise ReplyUnparsable(f"ACTION: there is no action {kind[:40]!r}", place="ACTION")


def _on_element(kind: str, element: str, value: str, choices: Mapping[str, str], reasoning: str) -> Action:
    letter = _letter(element, choices)
    if letter is None:
        known = ", ".join(choices) or "none"
        raise ReplyUnparsable(f"ELEMENT: {element.strip()[:40]!r} is no choice; there are {known}", place="ELEMENT")
    name = _ON_ELEMENTS[kind]
    args = {"bid": choices[letter]}
    if name in _VALUES:
        if name == "select_option" and value.strip().lower() in _NO_VALUE:
            raise ReplyUnparsable(f"VALUE: {kind} needs a value", place="VALUE")
        args[_VALUES[name]] = value
    return Action(name, args, reasoning)


def _letter(answer: str, choices: Mapping[str, str]) -> str | None:
    letter = _LETTER.match(answer.upper())
    return letter.group(1) if letter is not None and letter.group(1) in choices else None


def format(actions: Iterable[Action], choices: Mapping[str, str]) -> str:
    """One action as a reply.

    Raises:
        ActionInvalid: the notation has no such action, its element is no choice, or there are several actions.
    """
    listed = list(actions)
    if len(listed) != 1:
        raise ActionInvalid(f"SeeAct's notation holds one action, not {len(listed)}")
    action = listed[0]
    element, kind, value = _written(action, {bid: letter for letter, bid in choices.items()})
    lead = f"{action.reasoning.strip()}\n\n" if action.reasoning.strip() else ""
    return f"{lead}ELEMENT: {element}\nACTION: {kind}\nVALUE: {value}"


def _written(action: Action, letters: Mapping[str, str]) -> tuple[str, str, str]:
    args = dict(action.args)
    bid = args.pop("bid", None)
    letter = letters.get(bid, "") if bid is not None else ""
    kinds = {name: kind for kind, name in _ON_ELEMENTS.items()}
    if action.name in kinds and letter:
        value = args.pop(_VALUES[action.name], None) if action.name in _VALUES else None
        if not args and (value is None or _on_one_line(value, action.name == "select_option")):
            return letter, kinds[action.name], "None" if value is None else value
    if action.name == "keyboard_press" and args == {"key_comb": "Enter"}:
        return "None", "PRESS ENTER", "None"
    if action.name == "press" and letter and args == {"key_comb": "Enter"}:
        return letter, "PRESS ENTER", "None"
    if action.name == "complete" and not args:
        return "None", "TERMINATE", "None"
    if action.name == "terminate" and not args.get("errors") and _on_one_line(args.get("reason"), True):
        return "None", "TERMINATE", args["reason"]
    if action.name == "noop" and not args:
        return "None", "NONE", "None"
    raise ActionInvalid(f"SeeAct's notation cannot express {action.name} with {dict(action.args)!r}")


def _on_one_line(value: object, required: bool) -> bool:
    if (
        not isinstance(value, str)
        or len(value.splitlines()) > 1
        or value != value.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
    ):
        return False
    return not (required and value.strip().lower() in _NO_VALUE)
