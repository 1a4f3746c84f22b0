"""Repairs: when a version is repaired, what is added to it, and what a repair must not change."""

from __future__ import annotations

from shoal.agent.workflows.format.branch import Branch, FieldNode, Signature
from shoal.agent.workflows.format.node import ActionNode, Node
from shoal.agent.workflows.format.version import Version

MOST_PER_DAY = 10
"""Repairs of one workflow: a site that changes more often is not learned any more that day."""
LEAST_MISSES = 3
"""Misses of one signature before it is repaired: one may be an accident."""


def with_branch(version: Version, branch: Branch, *, at: str = "") -> Version:
    """The next version, with one more branch. None is overwritten: the new one gets a name of its own."""
    taken = {one.id for one in version.branches}
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
    found: list[str] = []
    branches = {branch.id: branch for branch in new.branches}
    for branch in old.branches:
        kept = branches.get(branch.id)
        if kept is None:
            found.append(f"branch {branch.id} is gone")
            continue
        found += [f"branch {branch.id}: {what}" for what in _weaker_signature(branch.signature, kept.signature)]
        fields = {field.name: field for field in kept.fields}
        for field in branch.fields:
            found += [f"field {field.name}: {what}" for what in _weaker_field(field, fields.get(field.name))]
    nodes = {node.id: node for node in new.nodes}
    for node in old.nodes:
        found += [f"node {node.id}: {what}" for what in _changed(node, nodes.get(node.id))]
    return tuple(found)


def _weaker_signature(old: Signature, new: Signature) -> list[str]:
    found = []
    for name in ("required", "forbidden", "item"):
        gone = [one for one in getattr(old, name) if one not in getattr(new, name)]
        found += [f"{name} {one} is gone" for one in gone]
    if set(new.status) - set(old.status):
        found.append("it takes other HTTP statuses")
    for name in ("url", "locale"):
        if getattr(old, name) and not getattr(new, name):
            found.append(f"{name} is gone")
    if old.currency and (not new.currency or set(new.currency) - set(old.currency)):
        found.append("it takes other currencies")
    return found


def _weaker_field(old: FieldNode, new: FieldNode | None) -> list[str]:
    if new is None:
        return ["it is gone"]
    found = []
    if new.weakest < old.weakest:
        found.append("fewer channels have to agree")
    if old.proof and not new.proof:
        found.append("the page need not state it any more")
    if new.may_be_null and not old.may_be_null:
        found.append("it may be null now")
    if old.known and not new.known:
        found.append("other values are taken")
    shaped = {(channel.family, channel.place) for channel in old.channels if channel.shapes}
    if any((channel.family, channel.place) in shaped and not channel.shapes for channel in new.channels):
        found.append("a shape is not looked at any more")
    return found


def _changed(old: Node, new: Node | None) -> list[str]:
    if new is None:
        return ["it is gone"]
    if old.kind != new.kind:
        return [f"it was {old.kind}, and is {new.kind}"]
    found = [
        f"a condition {name} is gone" for name in ("pre", "post") if set(getattr(old, name)) - set(getattr(new, name))
    ]
    if isinstance(old, ActionNode) and isinstance(new, ActionNode):
        if (old.action, old.args) != (new.action, new.args):
            found.append("it does something else")
        if (old.once and not new.once) or (old.submits and not new.submits):
            found.append("it may be repeated now")
        if old.target is not None and (
            new.target is None or (old.target.role, old.target.name) != (new.target.role, new.target.name)
        ):
            found.append("it is done to another element")
    return found
