"""Repairs: when a version is repaired, what is added to it, and what a repair must not change."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.workflows.format.branch import Branch, FieldNode, Signature
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.format.node import ActionNode, Node
from shoal.agent.workflows.format.version import Version

MOST_PER_DAY = 10
"""Repairs of one workflow: a site that changes more often is not learned any more that day."""
LEAST_MISSES = 3
"""Misses of one signature before it is repaired: one may be an accident."""


def with_branch(version: Version, branch: Branch, *, at: str = "") -> Version:
    """The next version, with one more branch. None is overwritten: the new one gets a name of its own."""
    taken = {known.id for known in version.branches}
    name, number = branch.id, 2
    while name in taken:
        name, number = f"{branch.id}-{number}", number + 1
    added = branch.model_copy(update={"id": name})
    return version.model_copy(
        update={
            "number": version.number + 1,
            "parent": version.number,
            "state": "draft",
            "by": "repair",
            "at": at,
            "branches": (*version.branches, added),
        }
    )


def weakened(old: Version, new: Version) -> tuple[str, ...]:
    """Each guard of `old` that `new` has no more, and each node that means something else."""
    weaker: list[str] = []
    branches = {branch.id: branch for branch in new.branches}
    for branch in old.branches:
        kept = branches.get(branch.id)
        if kept is None:
            weaker.append(f"branch {branch.id} is gone")
            continue
        weaker += [f"branch {branch.id}: {what}" for what in _weaker_signature(branch.signature, kept.signature)]
        if kept.request is not None and kept.request != branch.request:
            weaker.append(f"branch {branch.id}: it is read from another request")
        fields = {field.name: field for field in kept.fields}
        for field in branch.fields:
            weaker += [f"field {field.name}: {what}" for what in _weaker_field(field, fields.get(field.name))]
    nodes = {node.id: node for node in new.nodes}
    for node in old.nodes:
        weaker += [f"node {node.id}: {what}" for what in _changed(node, nodes.get(node.id))]
    return tuple(weaker)


def _weaker_signature(old: Signature, new: Signature) -> list[str]:
    weaker = []
    for name in ("required", "forbidden", "item"):
        gone = [entry for entry in getattr(old, name) if entry not in getattr(new, name)]
        weaker += [f"{name} {entry} is gone" for entry in gone]
    if set(new.status) - set(old.status):
        weaker.append("it takes other HTTP statuses")
    for name in ("url", "locale"):
        if getattr(old, name) and not getattr(new, name):
            weaker.append(f"{name} is gone")
    if old.currency and (not new.currency or set(new.currency) - set(old.currency)):
        weaker.append("it takes other currencies")
    return weaker


def _weaker_field(old: FieldNode, new: FieldNode | None) -> list[str]:
    if new is None:
        return ["it is gone"]
    weaker = []
    if new.weakest < old.weakest:
        weaker.append("fewer channels have to agree")
    if old.proof and not new.proof:
        weaker.append("the page need not state it any more")
    if new.may_be_null and not old.may_be_null:
        weaker.append("it may be null now")
    if old.known and not new.known:
        weaker.append("other values are taken")
    shaped = {(channel.family, channel.place) for channel in old.channels if channel.shapes}
    if any((channel.family, channel.place) in shaped and not channel.shapes for channel in new.channels):
        weaker.append("a shape is not looked at any more")
    return weaker


def _requirements(conditions: Sequence[Condition]) -> set[tuple[str, ...]]:
    """Return what conditions ask for. How their elements are found is what a repair may change."""
    return {
        (condition.kind, condition.value, *((element.role, element.name) if (element := condition.target) else ()))
        for condition in conditions
    }


def _changed(old: Node, new: Node | None) -> list[str]:
    if new is None:
        return ["it is gone"]
    if old.kind != new.kind:
        return [f"it was {old.kind}, and is {new.kind}"]
    changes = [
        f"a condition {name} is gone"
        for name in ("pre", "post")
        if _requirements(getattr(old, name)) - _requirements(getattr(new, name))
    ]
    if isinstance(old, ActionNode) and isinstance(new, ActionNode):
        if (old.action, old.args) != (new.action, new.args):
            changes.append("it does something else")
        if (old.once and not new.once) or (old.submits and not new.submits):
            changes.append("it may be repeated now")
        if old.target is not None and (
            new.target is None or (old.target.role, old.target.name) != (new.target.role, new.target.name)
        ):
            changes.append("it is done to another element")
    return changes
