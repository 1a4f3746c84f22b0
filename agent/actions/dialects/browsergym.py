"""BrowserGym's notation: calls in Python syntax.

    click('a46')
    fill('a2164', 'Asset tag')

Expresses every primitive.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

from shoal.agent.actions.registry import Primitive, parameters, primitive, primitives_of
from shoal.agent.actions.schema import arguments
from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action

_FENCE = re.compile(r"```(\w*)[ \t]*\n(.*?)```", re.DOTALL)
_OURS = ("", "python", "py")
_MAX_CHARS = 100_000
_LONG_STRING = r"""'''(?:[^\\]|\\.)*?'''|"{3}(?:[^\\]|\\.)*?"{3}"""
_STRING = r"""'(?:[^'\\\n]|\\.)*'|["](?:[^"\\\n]|\\.)*["]"""
_TOKEN = re.compile(rf"{_LONG_STRING}|{_STRING}|\#[^\n]*|[()\[\]]", re.DOTALL)
"""The tokens that a scan for the ends of calls tells apart: strings, comments and brackets."""
_NEXT_CALL = re.compile(r"[ \t]*[A-Za-z_]\w*[ \t]*\(")


def parse(text: str, *, multiaction: bool = True, sets: Iterable[str] | None = None) -> list[Action]:
    """The actions of a reply, in order: one a line, or several. Where blocks are fenced, all of them and nothing else.

    Args:
        multiaction: whether a reply may hold more than one.
        sets: the action sets whose actions are allowed; None for all.

    Raises:
        ReplyUnparsable: it holds anything but calls of allowed primitives with literal arguments.
    """
    if len(text) > _MAX_CHARS:
        raise ReplyUnparsable(f"the reply has {len(text)} characters; {_MAX_CHARS} are read", place="")
    source = _source(text).strip()
    try:
        # Indentation that a model adds by habit means nothing between calls.
        tree = ast.parse(_a_line_each(_dedented(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        place = f"line {line}" if line else "the reply"
        raise ReplyUnparsable(f"{place}: {getattr(error, 'msg', error)}", place=place) from error
    allowed = None if sets is None else {entry.name for entry in primitives_of(sets)}
    actions = [_action(statement, allowed) for statement in tree.body]
    if not actions:
        raise ReplyUnparsable("the reply holds no action", place="the reply")
    if len(actions) > 1 and not multiaction:
        raise ReplyUnparsable(f"the reply holds {len(actions)} actions; one is allowed", place="line 2")
    return actions


def _source(text: str) -> str:
    """Return what is to be read as calls: all fenced blocks, or the whole text where there is none."""
    blocks = _FENCE.findall(text)
    for number, (language, _) in enumerate(blocks, 1):
        if language.lower() not in _OURS:
            place = f"block {number}"
            raise ReplyUnparsable(f"{place}: holds {language}; blocks hold calls of actions only", place=place)
    return "\n".join(block.rstrip() for _, block in blocks) if blocks else text


def _dedented(source: str) -> str:
    lines = source.splitlines()
    if any(quotes in source for quotes in ('"""', "'''")):
        return source  # a line may be part of a string
    return "\n".join(line.lstrip() if _NEXT_CALL.match(line) else line for line in lines)


def _a_line_each(source: str) -> str:
    """Calls that follow each other on one line, on lines of their own; what is between quotes stays as it is."""
    parts, depth, last = [], 0, 0
    for token in _TOKEN.finditer(source):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.group(), 0)
        if token.group() == ")" and depth == 0 and _NEXT_CALL.match(source, token.end()):
            parts.append(source[last : token.end()])
            last = token.end()
    parts.append(source[last:])
    return "\n".join(part.lstrip(" \t") if index else part for index, part in enumerate(parts))


def _action(statement: ast.stmt, allowed: set[str] | None) -> Action:
    place = f"line {statement.lineno}"
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        raise ReplyUnparsable(f"{place}: only calls of actions are allowed, such as click('a12')", place=place)
    call = statement.value
    if not isinstance(call.func, ast.Name):
        raise ReplyUnparsable(f"{place}: an action is called by its plain name", place=place)
    try:
        called = primitive(call.func.id)
    except ActionInvalid as error:
        raise ReplyUnparsable(f"{place}: {error.message}", place=place) from error
    if allowed is not None and called.name not in allowed:
        raise not_allowed(called.name, place)
    return Action(called.name, _args(called, call, place))


def _args(called: Primitive, call: ast.Call, place: str) -> dict[str, Json]:
    names = [parameter.name for parameter in parameters(called.function)]
    if len(call.args) > len(names):
        raise ReplyUnparsable(
            f"{place}: {called.name} takes at most {len(names)} arguments: {called.signature}", place=place
        )
    args: dict[str, Json] = {}
    for name, node in zip(names, call.args, strict=False):
        args[name] = _literal(node, f"{place}: {called.name}: argument {name!r}", place)
    for keyword in call.keywords:
        name = called.argument(keyword.arg) if keyword.arg is not None else ""
        if name not in names or name in args:
            complaint = (
                "unpacking is not allowed" if keyword.arg is None else f"argument {keyword.arg!r} is not expected"
            )
            raise ReplyUnparsable(
                f"{place}: {called.name}: {complaint}; it is called as {called.signature}", place=place
            )
        args[name] = _literal(keyword.value, f"{place}: {called.name}: argument {keyword.arg!r}", place)
    try:
        arguments(Action(called.name, args))
    except ActionInvalid as error:
        raise ReplyUnparsable(f"{place}: {error.message}", place=place) from error
    return args


def not_allowed(name: str, place: str) -> ReplyUnparsable:
    """The refusal of an action that is in none of the chosen sets."""
    return ReplyUnparsable(f"{place}: the action {name!r} is not among those that may be used here", place=place)


def _literal(node: ast.expr, where: str, place: str) -> Json:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise ReplyUnparsable(
            f"{where} must be written out as text, number, list, True, False or None", place=place
        ) from error
    return _json(value, where, place)


def _json(value: Any, where: str, place: str) -> Json:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_json(item, where, place) for item in value]
    raise ReplyUnparsable(f"{where} must not be a {type(value).__name__}", place=place)


def format(actions: Iterable[Action]) -> str:
    """The actions as calls, one a line."""
    return "\n".join(format_call(action) for action in actions)


def format_call(action: Action) -> str:
    """One action as a call: in the order of its signature, by position as long as nothing is left out."""
    try:
        names: Sequence[str] = [parameter.name for parameter in parameters(primitive(action.name).function)]
    except ActionInvalid:
        names = list(action.args)
    parts, positional = [], True
    for name in names:
        if name not in action.args:
            positional = False
            continue
        value = action.args[name]
        shown = repr(list(value) if isinstance(value, tuple) else value)
        parts.append(shown if positional else f"{name}={shown}")
    return f"{action.name}({', '.join(parts)})"
