"""The results of an import and of an export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import ValidationError

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.workflows.format.node import ActionNode, ExtractNode, Node
from shoal.agent.workflows.format.target import Target
from shoal.agent.workflows.format.version import MOST_NODES, Decision, Version
from shoal.agent.workflows.format.workflow import Scope, Workflow, check_workflow, invalid


@dataclass(frozen=True, slots=True)
class Imported:
    """A workflow that was read from another program's file."""

    workflow: Workflow
    lost: tuple[str, ...] = ()  # what this format cannot say, or a person has to decide, by its place in the file


@dataclass(frozen=True, slots=True)
class Exported:
    """A workflow as another program's file."""

    text: str
    lost: tuple[str, ...] = ()  # what that format cannot say, by node


@contextmanager
def part_at(place: str) -> Iterator[None]:
    """Tell a fault of the file at this place for what makes no part of a workflow."""
    try:
        yield
    except ValidationError as error:
        raise invalid(error, None, place) from None


def check_length(place: str, n: int) -> None:
    """Refuses a file before its many steps are looked at.

    Raises:
        WorkflowInvalid: it has more than a version has nodes.
    """
    if n > MOST_NODES:
        raise WorkflowInvalid(f"{place}: {n} are there, and {MOST_NODES} at most make a version", places=(place,))


def linked(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes one after the other."""
    following: list[str | None] = [*(node.id for node in nodes[1:]), None]
    return tuple(node.model_copy(update={"next": to}) for node, to in zip(nodes, following, strict=True))


def imported(name: str, site: str, nodes: Sequence[Node], lost: Sequence[str], *, recording: bool) -> Imported:
    """The workflow of one draft version.

    Raises:
        WorkflowInvalid: its parts do not fit together.
    """
    with part_at("the file"):
        version = Version(
            by="recording" if recording else "import",
            nodes=linked(nodes),
            open=tuple(Decision(what="the file", why=loss) for loss in lost),
        )
    with part_at("name"):
        workflow = Workflow(name=name, scope=Scope(site=site), versions=(version,))
    check_workflow(workflow)
    return Imported(workflow, tuple(lost))


def straight(version: Version) -> tuple[list[Node], list[str]]:
    """The nodes in order from the first on, and what else the version holds that a straight line cannot say."""
    line: list[Node] = []
    lost: list[str] = []
    nodes = {node.id: node for node in version.nodes}
    at: str | None = version.first
    while at is not None:
        node = nodes.pop(at)
        line.append(node)
        if node.otherwise is not None:
            lost.append(f"{node.id}: the way after a miss ({node.otherwise})")
        at = node.next
    lost += [f"{name}: it is not on the straight way" for name in nodes]
    return line, lost


def untold(node: Node, *, nested: bool = False) -> list[str]:
    """Return what other programs have no words for,
    of one node.

    Args:
        nested: the program has words for elements in frames and shadow roots.
    """
    lost = [f"{node.id}: the condition before it ({condition.kind})" for condition in node.pre]
    if isinstance(node, ActionNode):
        if node.once:
            lost.append(f"{node.id}: it may run once only")
        if not nested and node.target is not None and (node.target.frame or node.target.shadow):
            lost.append(f"{node.id}: its element is in a frame or a shadow root")
    elif not isinstance(node, ExtractNode):
        lost.append(f"{node.id}: a {node.kind} node")
    return lost


def best_selector(target: Target) -> tuple[str, str]:
    """A CSS selector and an XPath of an element, each "" where there is none."""
    css = next(
        (locator.value for locator in target.locators if locator.family in ("css", "attribute", "structure")), ""
    )
    test_id = next((locator.value for locator in target.locators if locator.family == "test_id"), "")
    xpath = next((locator.value for locator in target.locators if locator.family == "xpath"), "")
    return css or (f'[data-testid="{test_id}"]' if test_id else ""), xpath
