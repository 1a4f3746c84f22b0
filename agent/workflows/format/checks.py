"""Checks between the parts of a version, which no single record can make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shoal.agent.actions.primitives.navigation import web_address
from shoal.agent.actions.registry import PRIMITIVES, parameters
from shoal.agent.errors import ActionError
from shoal.agent.support.json_paths import path_fault
from shoal.agent.support.web_addresses import is_web, scheme_of
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.format.node import (
    ActionNode,
    BranchNode,
    CallNode,
    ExtractNode,
    GuardNode,
    LoopNode,
    Node,
    WaitNode,
)
from shoal.agent.workflows.format.param import Arg
from shoal.agent.workflows.format.version import Version

Fault = tuple[str, str]
"""The place and the text of a fault."""
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w-]*)\}")
_INSTEAD = {
    "loop": "let the job's `loop` give each value to a run of its own",
    "call": "put the nodes of the other workflow here",
    "model": "end the workflow before it, or put the nodes here that do it; after a miss a model goes on",
    "person": "give the job `help`, with which a model asks a person after a miss",
}
"""Kinds of nodes that are not run, and what to do instead."""
_SHOWN = 80
_BY_NAME = {primitive.name: primitive for primitive in PRIMITIVES}


def faults_of(version: Version) -> Iterator[Fault]:
    """Each fault of `version` with its place in it."""
    yield from _doubles("params", [param.name for param in version.params])
    yield from _doubles("nodes", [node.id for node in version.nodes])
    yield from _doubles("branches", [branch.id for branch in version.branches])
    yield from _params(version)
    nodes = {node.id for node in version.nodes}
    if version.start is not None and version.start not in nodes:
        yield "start", f"there is no node {version.start!r}"
    known = {param.name for param in version.params}
    known |= {node.each for node in version.nodes if isinstance(node, LoopNode)}
    branches = {branch.id for branch in version.branches}
    for index, node in enumerate(version.nodes):
        for place, what in _node(node, nodes, known, branches):
            yield f"nodes[{index}]{place}", what
    yield from unrun(version)
    yield from _addresses(version)
    yield from _endless(version, nodes)
    yield from _branches(version)


def unrun(version: Version) -> Iterator[Fault]:
    """Each part of `version` that replay does not run, with what to do instead.

    The format can say them, and versions that were stored before they were refused hold them.
    """
    for index, node in enumerate(version.nodes):
        place = f"nodes[{index}]"
        if node.kind in _INSTEAD:
            yield place, f"{node.id!r} is a {node.kind} node, and replay runs none: {_INSTEAD[node.kind]}"
        if node.on_miss == "retry":
            yield (
                f"{place}.on_miss",
                f"`retry` of {node.id!r} is not run: elements and conditions are waited for anyway; say `model`, "
                "`branch` or `fail`",
            )
        if node.kind == "extract" and node.on_miss == "branch":
            yield f"{place}.on_miss", f"{node.id!r} reads the page, and no other node follows its miss; say `model`"
        if node.post and node.kind != "action":
            yield f"{place}.post", f"only an action has conditions after it: put a guard node behind {node.id!r}"


def _doubles(place: str, names: Sequence[str]) -> Iterator[Fault]:
    earlier: set[str] = set()
    for index, name in enumerate(names):
        if name in earlier:
            yield f"{place}[{index}]", f"{name!r} is there twice"
        earlier.add(name)


def _params(version: Version) -> Iterator[Fault]:
    for index, param in enumerate(version.params):
        if param.source in ("data", "loop") and param.path:
            fault = path_fault(param.path)
            if fault is not None:
                yield f"params[{index}].path", f"{param.path} {fault}"


def _node(node: Node, nodes: set[str], known: set[str], branches: set[str]) -> Iterator[Fault]:
    for name in node.following:
        if name not in nodes:
            yield "", f"there is no node {name!r}"
    for place, conditions in _conditions(node):
        for index, condition in enumerate(conditions):
            yield from _unknown(f"{place}[{index}].value", _PLACEHOLDER.findall(condition.value), known)
    match node:
        case ActionNode():
            yield from _action(node)
            yield from _args(node.args, known)
        case CallNode():
            yield from _args(node.args, known)
        case LoopNode() if node.over not in known:
            yield ".over", f"there is no parameter {node.over!r}"
        case ExtractNode() if not branches:
            yield "", "the version has no branches, and those say what is read"
        case ExtractNode():
            for index, name in enumerate(node.branches):
                if name not in branches:
                    yield f".branches[{index}]", f"there is no branch {name!r}"


def _conditions(node: Node) -> Iterator[tuple[str, tuple[Condition, ...]]]:
    yield ".pre", node.pre
    yield ".post", node.post
    match node:
        case WaitNode():
            yield ".until", node.until
        case GuardNode():
            yield ".holds", node.holds
        case BranchNode():
            for index, case in enumerate(node.cases):
                yield f".cases[{index}].when", case.when


def _args(args: dict[str, Arg], known: set[str]) -> Iterator[Fault]:
    for name, arg in args.items():
        yield from _unknown(f".args.{name}", arg.names, known)


def _unknown(place: str, names: Sequence[str], known: set[str]) -> Iterator[Fault]:
    for name in names:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            yield place, f"there is no parameter {name!r}; the version has: {listed}"


def _action(node: ActionNode) -> Iterator[Fault]:
    primitive = _BY_NAME.get(node.action)
    if primitive is None:
        yield ".action", f"there is no action {node.action!r}; `shoal actions` lists them"
        return
    takes = [parameter.name for parameter in parameters(primitive.function)]
    for name in node.args:
        if name not in takes or name == "bid":
            yield f".args.{name}", f"{primitive.signature} takes no such argument here"
    if "bid" in takes and node.target is None:
        yield ".target", f"{node.action} is done to an element, and none is named"
    if "bid" not in takes and node.target is not None:
        yield ".target", f"{node.action} is done to no element"
    if node.once and node.target is not None and node.target.families <= {"structure"}:
        yield ".target", "a node that may run once only is never found by its place in the document alone"


def _addresses(version: Version) -> Iterator[Fault]:
    """Yield what no browser would open: a workflow that somebody else wrote leads to the web only."""
    if version.url and (fault := address_fault(version.url)):
        yield "url", fault
    constants = {param.name: param.value for param in version.params if param.source == "constant"}
    for index, node in enumerate(version.nodes):
        for name, arg in node.args.items() if isinstance(node, ActionNode) else ():
            if name not in ("url", "file"):
                continue
            value = constants.get(arg.param) if arg.param is not None else arg.template or arg.const
            for text in value if isinstance(value, list | tuple) else (value,):
                if isinstance(text, str) and (fault := _of_file(text) if name == "file" else address_fault(text)):
                    yield f"nodes[{index}].args.{name}", fault


def address_fault(text: str) -> str:
    """Why no browser would open `text`, which may have parameters in braces; "" where one would."""
    if text.lstrip().startswith("{"):
        return ""
    try:
        web_address(_PLACEHOLDER.sub("0", text))
    except ActionError:
        return f"{text[:_SHOWN]!r} is not opened: only http and https addresses are"
    return ""


def _of_file(text: str) -> str:
    path = len(scheme_of(text)) <= 1  # a drive of Windows
    return "" if path or is_web(text) else f"{text[:_SHOWN]!r} is neither a file nor an http or https address"


def _endless(version: Version, nodes: set[str]) -> Iterator[Fault]:
    """A chain of nodes that leads back to itself."""
    ways = {node.id: [name for name in node.following if name in nodes] for node in version.nodes}
    done: set[str] = set()
    for index, node in enumerate(version.nodes):
        if node.id in done:
            continue
        stack: list[tuple[str, Iterator[str]]] = [(node.id, iter(ways[node.id]))]
        open_ = {node.id}
        while stack:
            at, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                open_.discard(at)
                done.add(at)
            elif following in open_:
                yield f"nodes[{index}]", f"leads back to node {following!r}: no node runs twice"
                return
            elif following not in done:
                open_.add(following)
                stack.append((following, iter(ways[following])))


def _branches(version: Version) -> Iterator[Fault]:
    known = (version.record_schema or {}).get("properties")
    for index, branch in enumerate(version.branches):
        yield from _doubles(f"branches[{index}].fields", [field.name for field in branch.fields])
        for number, field in enumerate(branch.fields):
            if isinstance(known, dict) and known and field.name not in known:
                listed = ", ".join(map(str, known))
                yield f"branches[{index}].fields[{number}]", f"{field.name!r} is no property of `schema`: {listed}"
