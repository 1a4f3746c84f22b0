"""A step that some runs did, since its element was on the page in these runs only: a banner that was closed.

It becomes a step that is done where its element can be seen. Whether an element is there says nothing of a step that a
run's data or the model asked for, such as a box that is ticked. So the element has to go away by the step, and to be in
no run that did not do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.agent.workflows.elements.describing import offer_key
from shoal.agent.workflows.format.node import ActionNode, BranchNode
from shoal.agent.workflows.format.target import Target
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.learning.evidence import ActionEvidence, SessionEvidence

_LEAST = 2
"""Runs that did it, and runs that did not."""


@dataclass(frozen=True, slots=True)
class OptionalStep:
    """The one step by which runs differ."""

    at: int  # its index in the runs that did it
    having: tuple[SessionEvidence, ...]  # the runs that did it

    def rest(self, run: SessionEvidence) -> SessionEvidence:
        """The run without the step."""
        if run not in self.having:
            return run
        return run.model_copy(update={"actions": (*run.actions[: self.at], *run.actions[self.at + 1 :])})


def optional_step(runs: Sequence[SessionEvidence]) -> OptionalStep | None:
    """The step that only some runs did and whose element was in these only; None where they differ otherwise."""
    shortest = min(len(run.actions) for run in runs)
    having = tuple(run for run in runs if len(run.actions) == shortest + 1)
    others = [run for run in runs if len(run.actions) == shortest]
    if len(having) < _LEAST or len(others) < _LEAST or len(having) + len(others) < len(runs):
        return None
    steps = [
        step
        for at in range(shortest)  # one behind all others has nothing after it that says whether it is gone
        for step in [OptionalStep(at, having)]
        if _is_optional(step, others)
    ]
    return steps[0] if len(steps) == 1 else None


def _is_optional(step: OptionalStep, others: Sequence[SessionEvidence]) -> bool:
    at = step.at
    shapes = {tuple(action.action for action in step.rest(run).actions) for run in (*step.having, *others)}
    if len(shapes) > 1:
        return False
    done = [run.actions[at] for run in step.having]
    called = {_called(action) for action in done}
    if len(called) != 1 or None in called or not all(map(_may_be_optional, done)):
        return False
    following = [*(run.actions[at + 1] for run in step.having), *(run.actions[at] for run in others)]
    return all(action.offered is not None and not called & set(action.offered) for action in following)


def _may_be_optional(action: ActionEvidence) -> bool:
    # What else was offered is known of the page's own document only.
    in_page = action.target is not None and not action.target.frame and not action.target.shadow
    return action.action == "click" and in_page and not action.submits and not action.led_to


def _called(action: ActionEvidence) -> str | None:
    """Return what the action's element is called; None where its name does not find it alone."""
    return called(action.target) if action.target is not None else None


def called(target: Target) -> str | None:
    """`offer_key` of an element; None where its name does not find it alone."""
    way = next((way for way in target.locators if way.family == "role_name" and way.unique_on), None)
    return offer_key(way.role, way.value) if way is not None else None


def optional_nodes(version: Version) -> list[ActionNode]:
    """The actions of a version that are done only where their element can be seen."""
    ids = {case.to for node in version.nodes if isinstance(node, BranchNode) for case in node.cases}
    return [node for node in version.nodes if isinstance(node, ActionNode) and node.id in ids]


def without_optional(run: SessionEvidence, version: Version) -> SessionEvidence:
    """A run without the steps that are optional in `version`."""
    known = {(node.action, called(node.target)) for node in optional_nodes(version) if node.target is not None}
    kept = tuple(action for action in run.actions if (action.action, _called(action)) not in known)
    return run.model_copy(update={"actions": kept})
