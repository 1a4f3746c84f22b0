"""A version of a workflow that is run on given pages: the job that does it, and what its sessions tell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from shoal.agent.errors import SampleSendsNothing, WorkflowMiss
from shoal.agent.replay_detail import ReplayDetail
from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Outcome
from shoal.agent.workflows.format.node import ExtractNode
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import Scope, Workflow, write_workflow
from shoal.services.errors import BadInput
from shoal.services.store.records import SessionDetail
from shoal.services.web.api.views.base import ErrorView, UsageView
from shoal.services.web.tries.report import Sampled
from shoal.services.web.tries.version_views import PageEnd, TriedPage, VersionTryView

MOST_PAGES = 10
"""Of one try."""


@dataclass(frozen=True, slots=True)
class VersionTry:
    """The version that is tried, and the pages that it is tried on."""

    name: str
    scope: Scope
    version: Version
    urls: Sequence[str]
    start: str | None = None  # the node where it begins; None: the version's first
    data: Json = None  # for parameters from the job's data
    item: Json = None  # for parameters from the loop's item; None: the item is the page's address


@dataclass(frozen=True, slots=True)
class Prepared:
    """A version as it can be run on pages that no list led to."""

    version: Version
    unchecked: tuple[str, ...]  # guards that were left out, in words


def prepared(given: VersionTry) -> Prepared:
    """The version without the guards that only the item of a loop could bear out.

    Raises:
        BadInput: it has no node to begin with.
    """
    version, unchecked = given.version, []
    if given.start is not None:
        if given.start not in {node.id for node in version.nodes}:
            fault = {"field": "start", "reason": f"there is no node {given.start!r}"}
            raise BadInput(f"start: there is no node {given.start!r}", errors=[fault])
        version = version.model_copy(update={"start": given.start})
    lacking = {"label"} | ({"value"} if given.item is None else set())
    branches = []
    for branch in version.branches:
        left = tuple(sign for sign in branch.signature.item if sign not in lacking)
        labels = [field.name for field in branch.fields if field.is_label]
        dropped = [f"{branch.id}: the item's {sign}" for sign in branch.signature.item if sign in lacking]
        unchecked += [*dropped, *(f"{branch.id}: {name} is the item's label" for name in labels)]
        signature = branch.signature.model_copy(update={"item": left})
        fields = tuple(field.model_copy(update={"is_label": False}) for field in branch.fields)
        branches.append(branch.model_copy(update={"signature": signature, "fields": fields}))
    return Prepared(version.model_copy(update={"branches": tuple(branches)}), tuple(unchecked))


def spec_of(given: VersionTry, version: Version) -> bytes:
    """The job that runs `version` on the pages: no model goes on after a miss, and nothing may be sent."""
    reads = any(isinstance(node, ExtractNode) for node in version.nodes)
    schema = version.record_schema
    extract: dict[str, Json] = {"goal": "the fields of the workflow"} if schema is None else {"schema": schema}
    values = list(given.urls) if given.item is None else [json.dumps(given.item)]
    spec: dict[str, Json] = {
        "url": given.urls[0],
        "loop": {"values": values, "is_link": given.item is None},
        "policy": f"workflow:{given.name}@{version.number}",
        "workflow": write_workflow(Workflow(name=given.name, scope=given.scope, versions=(version,))),
        "on_miss": "fail",
        "learn": "off",
        "repeatable": False,
        **({"extract": extract} if reads else {}),
        **({"data": given.data} if given.data is not None else {}),
    }
    return json.dumps(spec, ensure_ascii=False).encode()


def trial_view(given: VersionTry, unchecked: Sequence[str], sampled: Sampled) -> VersionTryView:
    """The answer to a try."""
    by_index = {session.row.item.index: session for session in sampled.sessions if session.row.item is not None}
    root = sampled.root.row.outcome
    error = sampled.job.error or (root.error if root else None)
    pages = [_page(url, by_index.get(index)) for index, url in enumerate(given.urls)]
    return VersionTryView(
        workflow=given.name,
        version=given.version.number,
        unchecked=list(unchecked),
        finished=all(page.end != "unfinished" for page in pages),
        pages=pages,
        error=error and ErrorView.model_validate(error) if not by_index else None,
        spent=UsageView.model_validate(sampled.job.usage),
        seconds=round(sampled.seconds, 2),
    )


def _page(url: str, session: SessionDetail | None) -> TriedPage:
    outcome = session.row.outcome if session is not None and session.row.status in FINAL else None
    replay = outcome.replay if outcome is not None else None
    detail = (replay.detail if replay is not None else None) or ReplayDetail()
    end = _end(outcome, detail)
    (record, *_) = (*(outcome.records if outcome is not None else ()), None)
    error = outcome.error if outcome is not None and end == "failed" else None
    detail_fields: Mapping[str, Json] = asdict(detail)
    return TriedPage(
        url=url,
        end=end,
        opened=outcome.url if outcome is not None else "",
        record=record.value if record is not None else None,
        error=error and ErrorView.model_validate(error),
        seconds=outcome.seconds if outcome is not None else 0.0,
        **{**detail_fields, "intended": detail_fields["intended"] if end == "stopped" else None},
    )


def _end(outcome: Outcome | None, detail: ReplayDetail) -> PageEnd:
    if outcome is None or outcome.status is Status.CANCELED:
        return "unfinished"
    if outcome.records:
        return "read"
    if outcome.status is Status.COMPLETED:
        return "done"
    code = outcome.error.code if outcome.error is not None else ""
    if code == WorkflowMiss.code:
        return "miss"
    return "stopped" if code == SampleSendsNothing.code and detail.intended is not None else "failed"
