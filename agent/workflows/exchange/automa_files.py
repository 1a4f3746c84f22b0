"""Files of Automa's editor: blocks joined by edges. A straight line of actions is read and written."""

from __future__ import annotations

from shoal.agent.actions.dialects import automa
from shoal.agent.actions.dialects.ui_element import UiElement
from shoal.agent.errors import ActionInvalid, ReplyUnparsable, WorkflowInvalid
from shoal.agent.support.web_addresses import host_of
from shoal.agent.types import Action
from shoal.agent.workflows.exchange.exchanged import (
    Exported,
    Imported,
    best_selector,
    check_length,
    imported,
    part_at,
    straight,
    untold,
)
from shoal.agent.workflows.format.node import ActionNode, ExtractNode, Node
from shoal.agent.workflows.format.param import Arg
from shoal.agent.workflows.format.target import Locator, Target
from shoal.agent.workflows.format.version import Version

_SILENT = frozenset({"trigger", "note", "blocks-group"})


def read_automa(text: str, name: str) -> Imported:
    """The workflow of a file.

    Raises:
        WorkflowInvalid: it is no such file, it branches or loops, or a block does what no node does; the message names
            the place.
    """
    try:
        file = automa.read(text)
        line = file.line()
    except ReplyUnparsable as error:
        raise WorkflowInvalid(error.message, places=(str(error.details.get("place", "")),)) from None
    check_length("drawflow.nodes", len(line))
    nodes: list[Node] = []
    lost: list[str] = []
    site = ""
    for block in line:
        if block.kind in _SILENT:
            continue
        with part_at(f"block {block.id}"):
            made = _nodes(block, len(nodes), lost)
        nodes += made
        for node in made:
            if not site and isinstance(node, ActionNode) and node.action == "goto":
                site = host_of(str(node.args["url"].const))
    if not nodes:
        raise WorkflowInvalid("drawflow.nodes: no block is an action", places=("drawflow.nodes",))
    return imported(name, site or "unknown", nodes, lost, recording=False)


def _nodes(block: automa.Block, before: int, lost: list[str]) -> list[Node]:
    """The nodes of one block, behind so many others."""
    elements: dict[str, UiElement] = {}

    def resolve(element: UiElement) -> str:
        elements[str(len(elements) + 1)] = element
        return str(len(elements))

    try:
        actions = automa.block_actions(block, resolve)
    except ReplyUnparsable as error:
        place = f"block {block.id}"
        message = f"{place}: {error.message}. Without it the workflow would do something else: remove the block first"
        raise WorkflowInvalid(message, places=(place,)) from None
    nodes = [_node(action, elements, f"n{number}") for number, action in enumerate(actions, before + 1)]
    lost += [
        f"block {block.id}: one selector is known of its element, and replay needs two ways to find it"
        for node in nodes
        if node.target is not None and len(node.target.locators) < 2
    ]
    return list(nodes)


def _node(action: Action, elements: dict[str, UiElement], name: str) -> ActionNode:
    args = {key: Arg(const=value) for key, value in action.args.items() if key != "bid"}
    element = elements.get(str(action.args.get("bid")))
    target = None
    if element is not None:
        ways = (("css", element.css_selector), ("xpath", element.xpath), ("text", element.label))
        locators = tuple(Locator.model_validate({"family": family, "value": value}) for family, value in ways if value)
        if not locators:
            raise WorkflowInvalid(f"{name}: the block names no element", places=(name,))
        target = Target(name=element.label, locators=locators)
    return ActionNode(id=name, action=action.name, args=args, target=target)


def write_automa(version: Version, name: str) -> Exported:
    """A version as a file of the editor."""
    line, lost = straight(version)
    actions: list[Action] = []
    elements: dict[str, UiElement] = {}
    for node in line:
        lost += untold(node)
        lost += [f"{node.id}: the condition after it ({condition.kind})" for condition in node.post]
        if isinstance(node, ExtractNode):
            lost.append(f"{node.id}: what is read from the page")
        if not isinstance(node, ActionNode):
            continue
        action = _action(node, elements, lost)
        try:
            automa.format([action], elements.get)
        except ActionInvalid as error:
            lost.append(f"{node.id}: {error.message}")
            continue
        actions.append(action)
    return Exported(automa.format(actions, elements.get, name=name), tuple(dict.fromkeys(lost)))


def _action(node: ActionNode, elements: dict[str, UiElement], lost: list[str]) -> Action:
    args = {}
    for name, arg in node.args.items():
        if arg.param is not None:
            lost.append(f"{node.id}: the parameter {arg.param}; it stands as a variable of the editor")
            args[name] = f"{{{{variables.{arg.param}}}}}"
        else:
            args[name] = arg.template if arg.template is not None else arg.const
    if node.target is not None:
        css, xpath = best_selector(node.target)
        elements[node.id] = UiElement(xpath=xpath, css_selector=css, label=node.target.name)
        args["bid"] = node.id
        if len(node.target.locators) > 1:
            lost.append(f"{node.id}: {len(node.target.locators) - 1} more ways to find its element")
    return Action(node.action, args)
