"""A version's extraction as a job's own `extract`: its fields can be read, edited and pasted into a job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import Branch, Channel, FieldNode
from shoal.agent.workflows.format.version import Version


@dataclass(frozen=True, slots=True)
class JobFields:
    """The fields of a job that reads such pages itself."""

    fields: dict[str, Json] = field(default_factory=dict)  # as `extract.fields` of a job
    record_schema: dict[str, Json] | None = None  # as `extract.schema`
    lost: tuple[str, ...] = ()  # what the version says and a job's fields cannot


def job_fields(version: Version) -> JobFields:
    """The fields of the version's first kind of page; what else it says is named."""
    if not version.branches:
        return JobFields(lost=("the version reads no pages",))
    branch, *others = version.branches
    chosen = {node.name: _best(node) for node in branch.fields}
    lost = [
        *(f"pages like {other.signature.url or other.id}: a job has one set of fields" for other in others),
        *_of_branch(branch),
        *(loss for node in branch.fields for loss in _of_field(node, chosen[node.name])),
    ]
    if version.acts:
        lost.append("the actions before the page is read")
    places = {name: channel.place.model_dump(by_alias=True, exclude_defaults=True) for name, channel in chosen.items()}
    return JobFields(places, version.record_schema, tuple(lost))


def _best(node: FieldNode) -> Channel:
    """The channel that a job reads: the first that can be seen, and the position only where nothing else is known."""
    known = [channel for channel in node.channels if channel.family != "structure"] or list(node.channels)
    return next((channel for channel in known if channel.shown), known[0])


def _of_branch(branch: Branch) -> Iterator[str]:
    if branch.signature.item:
        yield f"that a page is the item's, by {' and '.join(branch.signature.item)}"
    if branch.signature.url:
        yield f"that the address is like {branch.signature.url}"
    if branch.signature.required or branch.signature.forbidden:
        yield "which parts a page has, and which it has not"
    if branch.request is not None:
        yield "what the page itself requests, which may be read in its stead"


def _of_field(node: FieldNode, chosen: Channel) -> Iterator[str]:
    others = [channel.family for channel in node.channels if channel is not chosen]
    if others:
        yield f"{node.name}: the agreement of {chosen.family} with {' and '.join(others)}"
    if chosen.shapes:
        yield f"{node.name}: the shapes of its text ({', '.join(chosen.shapes)})"
    if node.known:
        yield f"{node.name}: that only values are taken that were learned"
    if node.is_label:
        yield f"{node.name}: that it is what the list calls the item"
    if node.may_be_null:
        yield f"{node.name}: by what a page says that it lacks it"
