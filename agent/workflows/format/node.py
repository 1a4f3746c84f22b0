"""The nodes of a workflow's graph."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from shoal.agent.types import Box
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.format.param import NAME, Arg
from shoal.agent.workflows.format.part import WorkflowPart
from shoal.agent.workflows.format.target import Target

OnMiss = Literal["retry", "branch", "model", "fail"]


class NodeEvidence(WorkflowPart):
    """The evidence that a node was learned from."""

    session: int | None = Field(None, description="id of the session")
    step: int | None = Field(None, description="index of the step in its task")
    screenshot: str | None = Field(None, description="artifact id of the page at that step")
    box: Box | None = Field(None, description="where the element was, in CSS pixels")


class _Node(WorkflowPart):
    id: str = Field(pattern=NAME, description="by which other nodes refer to it")
    next: str | None = Field(None, description="the node that follows; none: the workflow is done")
    says: str = Field("", description="what it does, in words")
    pre: tuple[Condition, ...] = Field((), description="what has to hold before it")
    post: tuple[Condition, ...] = Field((), description="of an action: what has to hold after it")
    on_miss: OnMiss = Field(
        "model",
        description="what a miss leads to: the node `otherwise`, the policy behind, or the item's end; `retry` is "
        "refused",
    )
    otherwise: str | None = Field(None, description="with `on_miss: branch`: the node that follows a miss")
    evidence: tuple[NodeEvidence, ...] = Field((), description="the steps that it was learned from")

    @model_validator(mode="after")
    def _way_on(self) -> _Node:
        if (self.on_miss == "branch") != (self.otherwise is not None):
            raise ValueError("`on_miss: branch` and `otherwise` go together")
        return self

    @property
    def following(self) -> tuple[str, ...]:
        """The nodes that it names."""
        return tuple(name for name in (self.next, self.otherwise) if name is not None)


class ActionNode(_Node):
    """One action of the browser."""

    kind: Literal["action"] = "action"
    action: str = Field(min_length=1, description="the primitive, such as `click` or `fill` (see `shoal actions`)")
    args: dict[str, Arg] = Field(default_factory=dict, description="its arguments by name, without the element's id")
    target: Target | None = Field(None, description="the element, of an action that takes one")
    submits: bool = Field(False, description="it may send, pay or book: it is never rehearsed")
    once: bool = Field(False, description="it may run once only: its element is never found by order alone")


class WaitNode(_Node):
    """Waits until all of `until` holds."""

    kind: Literal["wait"] = "wait"
    until: tuple[Condition, ...] = Field(min_length=1, description="what is waited for")
    timeout_s: float = Field(10.0, gt=0, le=300, description="after so many seconds it is a miss")


class GuardNode(_Node):
    """A miss where `holds` does not hold."""

    kind: Literal["guard"] = "guard"
    holds: tuple[Condition, ...] = Field(min_length=1, description="what has to hold")


class ExtractNode(_Node):
    """Reads the version's fields from the page, by the branch whose signature the page has."""

    kind: Literal["extract"] = "extract"
    branches: tuple[str, ...] = Field((), description="ids of the branches that may serve; empty: all")


class Case(WorkflowPart):
    """One way out of a branch."""

    when: tuple[Condition, ...] = Field(min_length=1, description="what has to hold")
    to: str = Field(description="the node that follows then")


class BranchNode(_Node):
    """Goes to the first case that holds, else to `next`."""

    kind: Literal["branch"] = "branch"
    cases: tuple[Case, ...] = Field(min_length=1, description="in the order in which they are tried")

    @property
    def following(self) -> tuple[str, ...]:
        """The nodes that it names."""
        return (*super().following, *(case.to for case in self.cases))


class LoopNode(_Node):
    """Not run, and refused. Runs the nodes from `body` on for each value of a list."""

    kind: Literal["loop"] = "loop"
    over: str = Field(description="the parameter with the list")
    each: str = Field(pattern=NAME, description="the parameter that holds the value of one round")
    body: str = Field(description="the first node of a round; a round ends where a node has no `next`")

    @property
    def following(self) -> tuple[str, ...]:
        """The nodes that it names."""
        return (*super().following, self.body)


class CallNode(_Node):
    """Not run, and refused. Runs another workflow of the same tenant."""

    kind: Literal["call"] = "call"
    workflow: str = Field(min_length=1, description="its name, with `@version` where it is not the active one")
    args: dict[str, Arg] = Field(default_factory=dict, description="values of its parameters")


class ModelNode(_Node):
    """Not run, and refused. Hands a mini goal to the policy behind the workflow."""

    kind: Literal["model"] = "model"
    goal: str = Field(min_length=1, description="the mini goal, in words")


class PersonNode(_Node):
    """Not run, and refused. Asks a person."""

    kind: Literal["person"] = "person"
    question: str = Field(min_length=1, description="what is asked")


Node = Annotated[
    ActionNode | WaitNode | GuardNode | ExtractNode | BranchNode | LoopNode | CallNode | ModelNode | PersonNode,
    Field(discriminator="kind"),
]
