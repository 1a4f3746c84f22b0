"""WebVoyager's notation: a thought, and one action on a numbered element.

    Thought: The search field is number 4.
    Action: Type [4]; opening hours

Expresses click, fill followed by Enter, scrolling by a screen, waiting, going back, the search engine, an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.types import Action

WAIT_MS = 5000
"""Milliseconds that this notation's Wait leaves the page alone."""
SCROLL_PX = 600
"""CSS pixels that this notation's Scroll moves the window."""
SEARCH_HOME = "https://www.google.com/"
"""The address that this notation's Google opens."""

_ACTION = re.compile(r"^[ \t]*\**Action\**[ \t]*:[ \t]*\**[ \t]*", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^[ \t]*\**Thought\**[ \t]*:[ \t]*\**[ \t]*", re.IGNORECASE | re.MULTILINE)
_ID = r"\[?[ \t]*([A-Za-z]*\d+)[ \t]*\]?"
_FORMS: tuple[tuple[str, str], ...] = (
    ("click", rf"click[ \t]*{_ID}[ \t]*\.?"),
    ("type", rf"type[ \t]*{_ID}[ \t]*;[ \t]?(.*)"),
    ("scroll", r"scroll[ \t]*\[?[ \t]*([A-Za-z]*\d+|window)[ \t]*\]?[ \t]*;[ \t]*\[?[ \t]*(up|down)[ \t]*\]?[ \t]*\.?"),
    ("wait", r"wait[ \t]*\.?"),
    ("goback", r"go[ \t]?back[ \t]*\.?"),
    ("google", r"google[ \t]*\.?"),
    ("answer", r"answer[ \t]*;[ \t]?(.*)"),
)
_MATCHERS = tuple((name, re.compile(form, re.IGNORECASE | re.DOTALL)) for name, form in _FORMS)


def parse(text: str) -> list[Action]:
    """The actions of a reply, in order; the thought before each is its reasoning.

    Raises:
        ReplyUnparsable: an Action line is missing, or says something that the notation does not have.
    """
    starts = list(_ACTION.finditer(text))
    if not starts:
        raise ReplyUnparsable("the reply has no line that begins with 'Action:'", place="the reply")
    actions: list[Action] = []
    before = 0
    for index, start in enumerate(starts):
        end = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        thought = (
            _THOUGHT.split(text[before : start.start()])[-1].strip()
            if _THOUGHT.search(text, before, start.start())
            else ""
        )
        body = text[start.end() : end]
        following = _THOUGHT.search(body)
        if following is not None:
            end = start.end() + following.start()
            body = body[: following.start()]
        place = f"line {text.count(chr(10), 0, start.start()) + 1}"
        actions += _read(_one_end_of_line_less(body), thought, place)
        before = end
    return actions


def _one_end_of_line_less(body: str) -> str:
    return body.rstrip("\n") if body.strip() else ""


def _read(body: str, thought: str, place: str) -> list[Action]:
    for name, matcher in _MATCHERS:
        # Only what the page is told may end in white space; the rest of the line is not to be taken so exactly.
        match = matcher.fullmatch(body) or matcher.fullmatch(body.strip())
        if match is not None:
            return _actions(name, [group or "" for group in match.groups()], thought)
    first_line = body.strip().splitlines()[0][:80] if body.strip() else "nothing"
    raise ReplyUnparsable(f"{place}: {first_line!r} is no action of this notation", place=place)


def _actions(name: str, groups: list[str], thought: str) -> list[Action]:
    match name:
        case "click":
            return [Action("click", {"bid": groups[0]}, thought)]
        case "type":
            bid, text = groups
            return [
                Action("fill", {"bid": bid, "value": text}, thought),
                Action("press", {"bid": bid, "key_comb": "Enter"}),
            ]
        case "scroll" if groups[0].lower() == "window":
            way = 1 if groups[1].lower() == "down" else -1
            return [Action("scroll", {"dx": 0, "dy": way * SCROLL_PX}, thought)]
        case "scroll":
            return [Action("scroll_element", {"bid": groups[0], "direction": groups[1].lower()}, thought)]
        case "wait":
            return [Action("noop", {"wait_ms": WAIT_MS}, thought)]
        case "goback":
            return [Action("go_back", {}, thought)]
        case "google":
            return [Action("goto", {"url": SEARCH_HOME}, thought)]
        case _:
            return [Action("answer", {"text": groups[0]}, thought)]


def format(actions: Iterable[Action]) -> str:
    """The actions as replies, one after the other.

    Raises:
        ActionInvalid: the notation has no such action.
    """
    listed = list(actions)
    lines: list[str] = []
    index = 0
    while index < len(listed):
        action = listed[index]
        following = listed[index + 1] if index + 1 < len(listed) else None
        written = _write(action, following)
        index += 2 if action.name == "fill" else 1
        lines += [f"Thought: {' '.join(action.reasoning.split())}", f"Action: {written}"]
    return "\n".join(lines)


def _write(action: Action, following: Action | None) -> str:
    args = action.args
    match action.name:
        case "click" if set(args) == {"bid"}:
            return f"Click [{args['bid']}]"
        case "fill" if (
            following is not None and _is_enter(following, args["bid"]) and not args.get("enable_autocomplete_menu")
        ):
            return f"Type [{args['bid']}]; {_plain(args['value'])}"
        case "scroll" if args.get("dx") == 0 and abs(args.get("dy", 0)) == SCROLL_PX:
            return f"Scroll [WINDOW]; {'down' if args['dy'] > 0 else 'up'}"
        case "scroll_element" if args.get("direction") in ("up", "down"):
            return f"Scroll [{args['bid']}]; {args['direction']}"
        case "noop" if args.get("wait_ms") == WAIT_MS:
            return "Wait"
        case "go_back":
            return "GoBack"
        case "goto" if args.get("url") == SEARCH_HOME:
            return "Google"
        case "answer":
            return f"ANSWER; {_plain(args['text'])}"
    raise ActionInvalid(f"WebVoyager's notation cannot express {action.name} with {dict(args)!r}")


def _is_enter(action: Action, bid: str) -> bool:
    return action.name == "press" and dict(action.args) == {"bid": bid, "key_comb": "Enter"}


def _plain(text: str) -> str:
    """`text`, where it can stand at the end of a line and be read back."""
    if text != text.strip("\n") or _ACTION.search(text) or _THOUGHT.search(text) or "\r" in text:
        raise ActionInvalid(f"WebVoyager's notation cannot express the text {text!r}")
    return text
