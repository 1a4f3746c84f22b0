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

from shoal.agent.actions.registry import Primitive, parameters, primitive
from shoal.agent.actions.schema import arguments
from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action

_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL)
_MAX_CHARS = 100_000


def parse(text: str, *, multiaction: bool = True) -> list[Action]:
    """The actions of a reply, in order. A fenced block is taken alone where there is one.

    Raises:
        ReplyUnparsable: it holds anything but calls of known primitives with literal arguments.
    """
    if len(text) > _MAX_CHARS:
        raise ReplyUnparsable(f"the reply has {len(text)} characters; {_MAX_CHARS} are read", place="")
    fenced = _FENCE.search(text)
    source = (fenced.group(1) if fenced else text).strip()
    try:
        # Indentation that a model adds by habit means nothing between calls.
        tree = ast.parse(_dedented(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        place = f"line {line}" if line else "the reply"
        raise ReplyUnparsable(f"{place}: {getattr(error, 'msg', error)}", place=place) from error
    actions = [_action(statement) for statement in tree.body]
    if not actions:
        raise ReplyUnparsable("the reply holds no action", place="the reply")
    if len(actions) > 1 and not multiaction:
        raise ReplyUnparsable(f"the reply holds {len(actions)} actions; one is allowed", place="line 2")
    return actions


def _dedented(source: str) -> str:
    lines = source.splitlines()
    if any(quotes in source for quotes in ('"""', "'''")):
        return source  # a line may be part of a string
    return "\n".join(line.lstrip() if line.lstrip() and _starts_call(line) else line for line in lines)


def _starts_call(line: str) -> bool:
    return re.match(r"\s*[A-Za-z_]+\(", line) is not None


def _action(statement: ast.stmt) -> Action:
    place = f"line {statement.lineno}"
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        raise ReplyUnparsable(f"{place}: only calls of actions are allowed, such as click('a12')", place=place)
    call = statement.value
    if not isinstance(call.func, ast.Name):
        raise ReplyUnparsable(f"{place}: an action is called by its plain name", place=place)
    try:
        one = primitive(call.func.id)
    except ActionInvalid as error:
        raise ReplyUnparsable(f"{place}: {error.message}", place=place) from error
    return Action(one.name, _args(one, call, place))


def _args(one: Primitive, call: ast.Call, place: str) -> dict[str, Json]:
    names = [parameter.name for parameter in parameters(one.function)]
    if len(call.args) > len(names):
        raise ReplyUnparsable(f"{place}: {one.name} takes at most {len(names)} arguments: {one.signature}", place=place)
    args: dict[str, Json] = {}
    for name, node in zip(names, call.args, strict=False):
        args[name] = _literal(node, f"{place}: {one.name}: argument {name!r}", place)
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in names or keyword.arg in args:
            said = "unpacking is not allowed" if keyword.arg is None else f"argument {keyword.arg!r} is not expected"
            raise ReplyUnparsable(f"{place}: {one.name}: {said}; it is called as {one.signature}", place=place)
        args[keyword.arg] = _literal(keyword.value, f"{place}: {one.name}: argument {keyword.arg!r}", place)
    try:
        arguments(Action(one.name, args))
    except ActionInvalid as error:
        raise ReplyUnparsable(f"{place}: {error.message}", place=place) from error
    return args


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
