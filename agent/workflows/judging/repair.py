"""Repairs: whether one may begin, and whether what it made counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import Branch, FieldNode, Signature
from shoal.agent.workflows.format.node import ActionNode, Node
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.judging.audit import differences

MOST_PER_DAY = 10
"""Repairs of one workflow: a site that changes more often is not learned any more that day."""
LEAST_MISSES = 3
"""Misses of one signature before it is repaired: one may be an accident."""
SAMPLES = 3


@dataclass(frozen=True, slots=True)
class RepairState:
    """What is known when a repair is thought of."""

    misses: int  # of this signature since the last repair
    samples: int  # pages of this signature whose records the model has given
    repaired_today: int  # repairs of the workflow
    leased: bool  # another one repairs this signature now


@dataclass(frozen=True, slots=True)
class RepairDecision:
    """Whether a repair begins."""

    begin: bool
    why: str


def may_repair(state: RepairState) -> RepairDecision:
    """Whether a repair of one signature begins now."""
    if state.leased:
        return RepairDecision(False, "another session repairs this kind of page")
    if state.repaired_today >= MOST_PER_DAY:
        return RepairDecision(False, f"the workflow was repaired {state.repaired_today} times today")
    if state.misses < LEAST_MISSES:
        return RepairDecision(False, f"{state.misses} of {LEAST_MISSES} misses")
    if state.samples < SAMPLES:
        return RepairDecision(False, f"the model has read {state.samples} of {SAMPLES} pages of this kind")
    return RepairDecision(True, f"{state.misses} misses, and {state.samples} pages to learn from")


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


@dataclass(frozen=True, slots=True)
class StoredRead:
    """What one version reads from a stored page; None: a miss."""

    page: str  # artifact id
    truth: Mapping[str, Json]  # the record that was confirmed for it
    old: Mapping[str, Json] | None  # by the version that is repaired
    new: Mapping[str, Json] | None  # by the repair


def repair_faults(old: Version, new: Version, reads: Sequence[StoredRead]) -> tuple[str, ...]:
    """Why a repair is refused; empty: it may go into shadow.

    It is refused when it loses a page that the old version read, reads one wrongly, changes what a node means, or
    weakens a guard.
    """
    found: list[str] = []
    for read in reads:
        if read.new is not None and (fields := differences(read.truth, read.new)):
            found.append(f"page {read.page}: it reads {', '.join(fields)} wrongly")
        elif read.new is None and read.old is not None and not differences(read.truth, read.old):
            found.append(f"page {read.page}: the old version reads it, and the repair does not")
    if reads and not any(read.new is not None and read.old is None for read in reads):
        found.append("it reads no page that the old version missed")
    return (*found, *weakened(old, new))


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
