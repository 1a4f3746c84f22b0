"""One version of a workflow."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shoal.agent.support.json_value import Json
from shoal.agent.support.once_each import once_each
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.format.node import ActionNode, Node
from shoal.agent.workflows.format.param import Param
from shoal.agent.workflows.format.part import WorkflowPart

MOST_NODES = 1000
"""Of one version. The gateway reads them, and answers nothing else meanwhile."""

State = Literal["draft", "shadow", "canary", "active", "retired", "broken"]
Maker = Literal["compile", "repair", "person", "recording", "import"]

MOVES: dict[State, tuple[State, ...]] = {
    "draft": ("shadow", "canary", "active", "retired", "broken"),
    "shadow": ("canary", "retired", "broken"),
    "canary": ("active", "retired", "broken"),
    "active": ("retired", "broken"),
    "retired": ("canary", "active"),
    "broken": ("draft",),
}
"""To which states a version may go from each."""


_MOST_KEYS = 64


class Decision(WorkflowPart):
    """A decision that was left to the model, with its reason."""

    what: str = Field(description="the field, the step or the value")
    why: str = Field(description="why it was not learned, in words")


class Version(WorkflowPart):
    """The graph, its parameters and the branches of its extraction."""

    number: int = Field(1, ge=1, description="from 1, one more for each change")
    parent: int | None = Field(None, description="the version that it was made from")
    state: State = Field("draft", description="how far it is trusted")
    by: Maker = Field("compile", description="what made it")
    at: str = Field("", description="when it was made: ISO 8601, UTC")
    params: tuple[Param, ...] = Field((), description="what differs from run to run")
    url: str = Field("", description="where a run begins, of a job that does not say it")
    start: str | None = Field(None, description="the first node; default: the first of `nodes`")
    nodes: tuple[Node, ...] = Field(min_length=1, max_length=MOST_NODES, description="what is done")
    branches: tuple[Branch, ...] = Field((), description="the kinds of pages that `extract` nodes read")
    record_schema: dict[str, Json] | None = Field(None, alias="schema", description="JSON Schema of one record")
    open: tuple[Decision, ...] = Field((), description="what stayed a decision of the model")

    @property
    def first(self) -> str:
        """The id of the node where a run begins."""
        return self.start if self.start is not None else self.nodes[0].id

    @property
    def begins_at(self) -> str:
        """The address at which a run begins: its own, or the one that its first node opens; "" where it says none."""
        node = self.node(self.first)
        opened = node.args.get("url") if isinstance(node, ActionNode) and node.action == "goto" else None
        return self.url or (str(opened.const or "") if opened is not None else "")

    def node(self, name: str) -> Node:
        """The node with this id.

        Raises:
            KeyError: there is none.
        """
        named = next((node for node in self.nodes if node.id == name), None)
        if named is None:
            raise KeyError(name)
        return named

    def branch_key(self, name: str) -> str:
        """`Branch.key` of the branch with this id; "" where there is none."""
        return _branch_keys(self).get(name, "")

    @property
    def acts(self) -> bool:
        """Return whether it does more than read the page that is open:
        only one that does not can run on stored pages.
        """
        return any(isinstance(node, ActionNode) for node in self.nodes)


@once_each(_MOST_KEYS)
def _branch_keys(version: Version) -> dict[str, str]:
    """`Branch.key` of each branch, by its id."""
    return {branch.id: branch.key for branch in version.branches}
