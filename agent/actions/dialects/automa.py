"""Automa-style workflows: blocks joined by edges, as its editor exports them.

`read` and `write` keep every block, those without a meaning here included, so that import and export lose nothing.
`parse` and `format` are for workflows that are one straight line of actions; loops and conditions need a workflow
engine, and `read` hands them to it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from shoal.agent.actions.dialects.ui_element import Describe, Resolve, UiElement
from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action

CONTROL_BLOCKS = frozenset(
    {"loop-data", "loop-elements", "loop-breakpoint", "repeat-task", "while-loop", "conditions", "element-exists"}
)
"""Blocks that steer the workflow."""
_SILENT = frozenset({"trigger", "note", "blocks-group"})
_STEP_X = 260
_DIGITS = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class Block:
    """One node of the editor."""

    id: str
    kind: str  # trigger, new-tab, event-click, forms, get-text, loop-data, conditions, delay, export-data, ...
    data: dict[str, Json] = field(default_factory=dict)  # the block's settings, as they are
    x: float = 0.0  # where it lies in the editor
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Edge:
    """From one block's output to another's input."""

    source: str
    target: str
    output: str = "output-1"  # "output-fallback" and condition ids for other ways out


@dataclass(frozen=True, slots=True)
class AutomaWorkflow:
    """A workflow as the editor knows it."""

    name: str
    blocks: tuple[Block, ...]
    edges: tuple[Edge, ...]
    description: str = ""

    def line(self) -> list[Block]:
        """The blocks in order, for a workflow that is one straight line from its trigger.

        Raises:
            ReplyUnparsable: it branches, loops, or holds blocks that steer.
        """
        steering = next((block for block in self.blocks if block.kind in CONTROL_BLOCKS), None)
        if steering is not None:
            raise ReplyUnparsable(
                f"block {steering.id} ({steering.kind}) steers the workflow: it is no list of actions",
                place=steering.id,
            )
        following: dict[str, str] = {}
        for edge in self.edges:
            if edge.source in following:
                raise ReplyUnparsable(f"the workflow branches after block {edge.source}", place=edge.source)
            following[edge.source] = edge.target
        by_id = {block.id: block for block in self.blocks}
        targets = set(following.values())
        starts = [block for block in self.blocks if block.id not in targets]
        ordered: list[Block] = []
        at = starts[0].id if starts else None
        while at is not None and at in by_id and len(ordered) <= len(self.blocks):
            ordered.append(by_id[at])
            at = following.get(at)
        if len(ordered) != len(self.blocks):
            raise ReplyUnparsable("the blocks do not make one straight line", place="edges")
        return ordered


def read(text: str) -> AutomaWorkflow:
    """A workflow file.

    Raises:
        ReplyUnparsable: it is no such file; the place of what is wrong.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f"line {getattr(error, 'lineno', 1)} column {getattr(error, 'colno', 1)}"
        raise ReplyUnparsable(f"{place}: no JSON: {getattr(error, 'msg', error)}", place=place) from error
    flow = document.get("drawflow") if isinstance(document, dict) else None
    if isinstance(flow, str):  # older exports hold the flow as text
        try:
            flow = json.loads(flow)
        except (ValueError, RecursionError) as error:
            raise ReplyUnparsable("drawflow: no JSON", place="drawflow") from error
    if not isinstance(document, dict) or not isinstance(flow, dict):
        raise ReplyUnparsable("drawflow: is missing", place="drawflow")
    blocks = tuple(_block(block, f"drawflow.nodes[{i}]") for i, block in enumerate(_list(flow, "nodes")))
    edges = tuple(_edge(edge, f"drawflow.edges[{i}]") for i, edge in enumerate(_list(flow, "edges")))
    return AutomaWorkflow(str(document.get("name") or ""), blocks, edges, str(document.get("description") or ""))


def _list(flow: dict[str, Json], name: str) -> list[Json]:
    listed = flow.get(name, [])
    if not isinstance(listed, list):
        raise ReplyUnparsable(f"drawflow.{name}: must be a list", place=f"drawflow.{name}")
    return listed


def _block(node: Json, place: str) -> Block:
    if not isinstance(node, dict) or not isinstance(node.get("label"), str) or not isinstance(node.get("id"), str):
        raise ReplyUnparsable(f"{place}: needs an id and a label", place=place)
    data, position = node.get("data") or {}, node.get("position") or {}
    if not isinstance(data, dict) or not isinstance(position, dict):
        raise ReplyUnparsable(f"{place}: data and position must be objects", place=place)
    x, y = position.get("x", 0), position.get("y", 0)
    if not isinstance(x, int | float) or not isinstance(y, int | float):
        raise ReplyUnparsable(f"{place}.position: must hold numbers", place=place)
    return Block(node["id"], node["label"], data, x, y)


def _edge(edge: Json, place: str) -> Edge:
    if not isinstance(edge, dict) or not isinstance(edge.get("source"), str) or not isinstance(edge.get("target"), str):
        raise ReplyUnparsable(f"{place}: needs a source and a target", place=place)
    handle = edge.get("sourceHandle") or "output-1"
    if not isinstance(handle, str):
        raise ReplyUnparsable(f"{place}.sourceHandle: must be text", place=place)
    return Edge(edge["source"], edge["target"], handle.removeprefix(f"{edge['source']}-"))


def write(workflow: AutomaWorkflow) -> str:
    """The workflow as a file that the editor reads."""
    nodes = [
        {
            "id": block.id,
            "type": _NODE_TYPES.get(block.kind, "BlockBasic"),
            "label": block.kind,
            "position": {"x": block.x, "y": block.y},
            "data": block.data,
        }
        for block in workflow.blocks
    ]
    edges = [
        {
            "id": f"{edge.source}-{edge.output}-{edge.target}",
            "source": edge.source,
            "target": edge.target,
            "sourceHandle": f"{edge.source}-{edge.output}",
            "targetHandle": f"{edge.target}-input-1",
        }
        for edge in workflow.edges
    ]
    document = {
        "name": workflow.name,
        "description": workflow.description,
        "drawflow": {"nodes": nodes, "edges": edges},
    }
    return json.dumps(document, ensure_ascii=False)


_NODE_TYPES = {
    "conditions": "BlockConditions",
    "delay": "BlockDelay",
    "repeat-task": "BlockRepeatTask",
    "loop-breakpoint": "BlockLoopBreakpoint",
    "element-exists": "BlockElementExists",
}


# --- a straight line of actions -----------------------------------------------------------------------------


def parse(text: str, resolve: Resolve) -> list[Action]:
    """The actions of a workflow that is one straight line; `resolve` finds its elements on the page.

    Raises:
        ReplyUnparsable: no such file, a block without a meaning here, or an element that is not found.
    """
    actions = []
    for block in read(text).line():
        if block.kind not in _SILENT:
            actions += block_actions(block, resolve)
    return actions


def block_actions(block: Block, resolve: Resolve) -> list[Action]:
    """Return what one block does.

    Raises:
        ReplyUnparsable: it has no meaning as an action, or its element is not found.
    """
    data = block.data
    match block.kind:
        case "new-tab":
            url = _text(block, "url")
            inside = data.get("updatePrevTab") is True
            opened = [] if inside else [Action("new_tab")]
            return [*opened, Action("goto", {"url": url})] if url else opened
        case "close-tab":
            return [Action("tab_close")]
        case "switch-tab":
            return [Action("tab_focus", {"index": _number(block, "tabIndex")})]
        case "go-back":
            return [Action("go_back")]
        case "forward-page":
            return [Action("go_forward")]
        case "reload-tab":
            return [Action("reload")]
        case "event-click":
            return [Action("click", {"bid": _bid(block, resolve)})]
        case "hover-element":
            return [Action("hover", {"bid": _bid(block, resolve)})]
        case "upload-file":
            files = data.get("filePaths") or []
            if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
                raise ReplyUnparsable(f"block {block.id}: filePaths must be a list of texts", place=block.id)
            return [Action("upload_file", {"bid": _bid(block, resolve), "file": files})]
        case "forms":
            return [_form_action(block, resolve)]
        case "press-key":
            return [Action("keyboard_press", {"key_comb": _text(block, "keys")})]
        case "delay":
            return [Action("noop", {"wait_ms": _number(block, "time")})]
        case "element-scroll":
            return [Action("scroll", {"dx": _number(block, "scrollX"), "dy": _number(block, "scrollY")})]
    raise ReplyUnparsable(f"block {block.id}: {block.kind} is no action", place=block.id)


def _form_action(block: Block, resolve: Resolve) -> Action:
    bid = _bid(block, resolve)
    match block.data.get("type", "text-field"):
        case "text-field":
            return Action("fill", {"bid": bid, "value": _text(block, "value")})
        case "select":
            return Action("select_option", {"bid": bid, "options": _text(block, "value")})
        case "checkbox" | "radio":
            return Action("check" if block.data.get("selected", True) else "uncheck", {"bid": bid})
    raise ReplyUnparsable(f"block {block.id}: {block.data.get('type')!r} is no kind of field", place=block.id)


def block_element(block: Block) -> UiElement:
    """The element that a block names."""
    selector = _text(block, "selector")
    label = block.data.get("description")
    by_path = block.data.get("findBy") == "xpath"
    return UiElement(
        xpath=selector if by_path else "",
        css_selector="" if by_path else selector,
        label=label if isinstance(label, str) else "",
    )


def _bid(block: Block, resolve: Resolve) -> str:
    bid = resolve(block_element(block))
    if bid is None:
        raise ReplyUnparsable(f"block {block.id}: its element is not on the page, or not the only one", place=block.id)
    return bid


def _text(block: Block, name: str) -> str:
    value = block.data.get(name, "")
    if not isinstance(value, str):
        raise ReplyUnparsable(f"block {block.id}: {name} must be text", place=block.id)
    return value


def _number(block: Block, name: str) -> Json:
    value = block.data.get(name, 0)
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ReplyUnparsable(f"block {block.id}: {name} must be a number", place=block.id)
    return value


def format(actions: Iterable[Action], describe: Describe, *, name: str = "") -> str:
    """The actions as a workflow file: a trigger, and a block for each.

    Raises:
        ActionInvalid: there is no block for an action, or nothing is known of its element.
    """
    blocks = [Block("trigger", "trigger", {"type": "manual"})]
    listed = list(actions)
    index = 0
    while index < len(listed):
        action, following = listed[index], listed[index + 1] if index + 1 < len(listed) else None
        joined = action.name == "new_tab" and following is not None and following.name == "goto"
        kind, data = ("new-tab", {"url": following.args["url"]}) if joined and following else _written(action, describe)
        blocks.append(Block(f"block-{len(blocks)}", kind, data, x=_STEP_X * len(blocks)))
        index += 2 if joined else 1
    edges = tuple(Edge(a.id, b.id) for a, b in itertools.pairwise(blocks))
    return write(AutomaWorkflow(name, tuple(blocks), edges))


def _written(action: Action, describe: Describe) -> tuple[str, dict[str, Json]]:
    args = dict(action.args)
    bid = args.pop("bid", None)
    where = _selector(bid, describe) if bid is not None else {}
    match action.name, args:
        case "goto", {"url": url}:
            return "new-tab", {"url": url, "updatePrevTab": True}
        case "new_tab", {}:
            return "new-tab", {"url": ""}
        case "tab_close", {}:
            return "close-tab", {"closeType": "tab"}
        case "tab_focus", {"index": index}:
            return "switch-tab", {"findTabBy": "tab-index", "tabIndex": index}
        case "go_back", {}:
            return "go-back", {}
        case "go_forward", {}:
            return "forward-page", {}
        case "reload", {}:
            return "reload-tab", {}
        case "click", {} if not args:
            return "event-click", where
        case "hover", {}:
            return "hover-element", where
        case "upload_file", {"file": file}:
            return "upload-file", {**where, "filePaths": [file] if isinstance(file, str) else list(file)}
        case "fill", {"value": value} if len(args) == 1:
            return "forms", {**where, "type": "text-field", "value": value, "clearValue": True}
        case "select_option", {"options": str(value)}:
            return "forms", {**where, "type": "select", "value": value}
        case (("check" | "uncheck"), {}):
            return "forms", {**where, "type": "checkbox", "selected": action.name == "check"}
        case "keyboard_press", {"key_comb": keys}:
            return "press-key", {"keys": keys, "action": "press-key"}
        case "noop", {"wait_ms": wait}:
            return "delay", {"time": wait}
        case "scroll", {"dx": dx, "dy": dy}:
            return "element-scroll", {"selector": "html", "scrollX": dx, "scrollY": dy, "incX": True, "incY": True}
    raise ActionInvalid(f"there is no Automa block for {action.name} with {dict(action.args)!r}")


def _selector(bid: str, describe: Describe) -> dict[str, Json]:
    element = describe(bid)
    if element is None:
        raise ActionInvalid(f"nothing is known of element {bid}")
    by_path = bool(element.xpath) and not element.css_selector
    return {
        "findBy": "xpath" if by_path else "cssSelector",
        "selector": element.xpath if by_path else element.css_selector,
        "waitForSelector": True,
        "description": element.label,
    }
