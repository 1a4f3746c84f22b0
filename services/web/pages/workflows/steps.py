"""The nodes of a version as the page of a workflow shows them: in a line, and with what they were learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.format.node import (
    ActionNode,
    BranchNode,
    CallNode,
    ExtractNode,
    GuardNode,
    LoopNode,
    ModelNode,
    Node,
    PersonNode,
    WaitNode,
)
from shoal.agent.workflows.format.param import Arg
from shoal.services.errors import NotFound
from shoal.services.store.store import Store

_MISS = "miss_"
_MOST_PICTURES = 60
"""Nodes of one page whose pictures are looked for."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """One node of a version, as the page shows it."""

    id: str
    kind: str
    what: str  # the action with its arguments, or what the node asks for
    says: str
    element: str  # role, name and the ways to find it; "" where it needs none
    then: str  # the node that follows
    on_miss: str
    sends: bool = False
    once: bool = False
    screenshot: str = ""  # artifact id of the page that it was learned on; "" where there is none any more
    misses: tuple[tuple[str, int], ...] = ()  # reason and count, most frequent first

    @property
    def missed(self) -> int:
        """Return how many items missed here."""
        return sum(count for _, count in self.misses)


def step_line(node: Node, figures: Mapping[str, float], screenshot: str = "") -> StepLine:
    """The line of `node`.

    Args:
        figures: of the version, by name.
        screenshot: artifact id of the page that it was learned on.
    """
    target, element = (node.target, "") if isinstance(node, ActionNode) else (None, "")
    if target is not None:
        families = ", ".join(locator.family for locator in target.locators)
        element = f"{target.role} {target.name}: {families}".strip()
    missed = {
        reason: int(count)
        for name, count in figures.items()
        if name.startswith(_MISS)
        for reason, at, place in (name.removeprefix(_MISS).partition("@"),)
        if at and place == node.id
    }
    return StepLine(
        node.id,
        node.kind,
        _what(node),
        node.says,
        element,
        node.next or "end",
        f"go to {node.otherwise}" if node.otherwise else node.on_miss,
        sends=isinstance(node, ActionNode) and node.submits,
        once=isinstance(node, ActionNode) and node.once,
        screenshot=screenshot,
        misses=tuple(sorted(missed.items(), key=lambda each: (-each[1], each[0]))),
    )


async def pictures(store: Store, nodes: Sequence[Node], tenant: str | None) -> dict[str, str]:
    """By node the first screenshot that it was learned from and that is still kept.

    Args:
        tenant: whose artifacts may be shown; None: those of all.
    """
    known: dict[str, str] = {}
    for node in [node for node in nodes if any(step.screenshot for step in node.evidence)][:_MOST_PICTURES]:
        for artifact in [step.screenshot for step in node.evidence if step.screenshot]:
            try:
                await store.artifact(artifact, tenant=tenant)
            except NotFound:
                continue
            known[node.id] = artifact
            break
    return known


def _what(node: Node) -> str:
    match node:
        case ActionNode():
            return f"{node.action} {', '.join(_arg(name, arg) for name, arg in node.args.items())}".strip()
        case WaitNode():
            return f"until {_all(node.until)}, for {node.timeout_s:g} s"
        case GuardNode():
            return _all(node.holds)
        case BranchNode():
            return "; ".join(f"{_all(case.when)}: {case.to}" for case in node.cases)
        case ExtractNode():
            return f"by {', '.join(node.branches)}" if node.branches else "by the branch whose page it is"
        case LoopNode():
            return f"each {node.each} of {node.over}: {node.body}"
        case CallNode():
            return f"{node.workflow} {', '.join(_arg(name, arg) for name, arg in node.args.items())}".strip()
        case ModelNode():
            return node.goal
        case PersonNode():
            return node.question


def _arg(name: str, arg: Arg) -> str:
    return f"{name}={{{arg.param}}}" if arg.param else f"{name}={arg.template or arg.const}"


def _all(conditions: Sequence[Condition]) -> str:
    return " and ".join(_condition(condition) for condition in conditions)


def _condition(condition: Condition) -> str:
    element = (condition.target.name or condition.target.purpose or "the element") if condition.target else ""
    return " ".join(
        filter(None, (element, condition.kind.replace("_", " "), repr(condition.value) if condition.value else ""))
    )
