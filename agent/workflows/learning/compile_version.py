"""Compiling a version: what a few runs of one loop, or of one job, did and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.format.checks import faults_of
from shoal.agent.workflows.format.node import ActionNode, ExtractNode, Node
from shoal.agent.workflows.format.param import Param
from shoal.agent.workflows.format.version import Decision, Version
from shoal.agent.workflows.learning.compile_actions import compile_actions
from shoal.agent.workflows.learning.compile_fields import compile_pages
from shoal.agent.workflows.learning.evidence import SessionEvidence
from shoal.agent.workflows.learning.one_run import of_all_runs


@dataclass(frozen=True, slots=True)
class Compiled:
    """The version, or what stayed a decision of the model. A version gives whole records, so it has no open field."""

    version: Version | None
    open: tuple[Decision, ...] = ()


def compile_version(
    runs: Sequence[SessionEvidence],
    schema: Mapping[str, Json] | None,
    *,
    at: str = "",
    number: int = 1,
    by_hand: bool = False,
    by_origin: bool = False,
) -> Compiled:
    """A version that does what all `runs` did; none where something stayed a decision of the model.

    Args:
        schema: of one record, where the job has one.
        at: when it is made, ISO 8601.
        by_hand: a person did it once, and all that they typed is a parameter.
        by_origin: there is one run, of a job without a loop (see `one_run`).
    """
    if by_origin:
        runs = [of_all_runs(run) for run in runs]
    nodes: list[Node] = []
    open_: list[Decision] = []
    params: dict[str, Param] = {}
    if any(run.actions for run in runs):
        actions = compile_actions(runs, least=1 if by_hand else 2, by_origin=by_origin)
        nodes += actions.nodes
        params = actions.params
        open_ += actions.open
    samples = [sample for run in runs for sample in run.pages]
    branches: tuple[Branch, ...] = ()
    others: tuple[Decision, ...] = ()
    if samples:
        pages = compile_pages(samples, schema)
        branches = pages.branches
        if branches:
            others = pages.open
        else:
            open_ += pages.open
        nodes.append(ExtractNode(id="read"))
    if not nodes and not open_:
        open_.append(Decision(what="the runs", why="they did nothing and read nothing"))
    if open_:
        return Compiled(None, tuple(open_))
    for index, node in enumerate(nodes[:-1]):
        if isinstance(node, ActionNode):
            nodes[index] = node.model_copy(update={"next": nodes[index + 1].id})
    version = Version(
        number=number,
        at=at,
        params=tuple(params.values()),
        nodes=tuple(nodes),
        branches=branches,
        record_schema=dict(schema) if schema is not None else None,
        open=others,
    )
    faults = list(faults_of(version))
    if faults:
        raise WorkflowInvalid("; ".join(f"{place}: {what}" for place, what in faults))
    return Compiled(version)
