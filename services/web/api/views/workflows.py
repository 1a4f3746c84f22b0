"""The API's views of workflows."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.version import Maker, State
from shoal.services.store.workflows.records import VersionRow, WorkflowRow
from shoal.services.web.api.views.base import Time, View


class WorkflowScopeView(View):
    """The pages and jobs that a workflow applies to."""

    site: str
    goal: str = Field(description="hash of the job's goal; empty: of none")
    record_schema: str = Field(serialization_alias="schema", description="hash of the record's schema")


class DecisionView(View):
    """A decision that was left to the model, with its reason."""

    what: str = Field(description="the pages, the step or the value")
    why: str


class VersionSummary(View):
    """One version of a workflow, without its graph."""

    number: int
    parent: int | None = Field(description="the version that it was made from")
    state: State
    state_at: Time = Field(description="since when it is in this state")
    why: str = Field(description="why it is in this state; empty where a person put it there")
    by: Maker = Field(description="what made it")
    at: str = Field(description="when it was made")
    fields: list[str] = Field(description="the fields that it reads")
    open: list[DecisionView] = Field(description="what stayed with the model: such pages are misses")
    figures: dict[str, float] = Field(
        description="counts: `replays`, `misses`, by reason (`miss_shape`) and by reason and node (`miss_shape@read`); "
        "`audits` of replayed records, `audits_right`, `audits_wrong` and `audits_unclear`; `shadow`: compared with "
        "the baseline, whose record was taken, of these `shadow_misses` and `shadow_wrong`"
    )


class VersionDetail(VersionSummary):
    """One version of a workflow, with its graph."""

    version: dict[str, Json] = Field(description="as in an exported file")


class WorkflowView(View):
    """One workflow of the caller's tenant."""

    name: str
    tenant: str
    scope: WorkflowScopeView
    active: int | None = Field(description="number of the version that jobs get; null: none is active")
    created_at: Time
    changed_at: Time
    versions: list[VersionSummary] = Field(description="oldest first")


class ImportedView(WorkflowView):
    """A workflow that was imported."""

    lost: tuple[str, ...] = Field(description="what the file says and a workflow cannot, by its place in the file")


class ExportedView(View):
    """A version as another program's file."""

    format: str
    text: str = Field(description="the file")
    lost: tuple[str, ...] = Field(description="what the version says and the file cannot, by node")


class FieldsView(View):
    """The fields that a version reads, as a job's own `extract`."""

    fields: dict[str, Json] = Field(description="as `extract.fields` of a job")
    record_schema: dict[str, Json] | None = Field(
        serialization_alias="schema", description="as `extract.schema` of a job; null: the version has none"
    )
    lost: tuple[str, ...] = Field(description="what the version says and a job's fields cannot")


class WorkflowPage(View):
    """Some workflows, in the order of their names."""

    workflows: list[WorkflowView]
    next: str | None = Field(description="pass it as `cursor` for the next page; null at the end")


class ChangeView(View):
    """One difference between two versions."""

    path: str = Field(description="where, such as `branches[product].fields[price].channels[0].place.select`")
    before: Json = Field(description="null: it was not there")
    after: Json = Field(description="null: it is not there any more")


class DifferenceView(View):
    """The differences between two versions of a workflow."""

    before: int
    after: int
    changes: list[ChangeView]


def version_summary(row: VersionRow) -> VersionSummary:
    """A version without its graph."""
    return VersionSummary(**_summary_fields(row))


def version_detail(row: VersionRow) -> VersionDetail:
    """A version with its graph."""
    return VersionDetail(**_summary_fields(row), version=row.version.as_json())


def workflow_view(row: WorkflowRow) -> WorkflowView:
    """A workflow with its versions."""
    return WorkflowView(
        name=row.name,
        tenant=row.tenant,
        scope=WorkflowScopeView.model_validate(row.scope),
        active=row.active.version.number if row.active is not None else None,
        created_at=row.created_at,
        changed_at=row.changed_at,
        versions=[version_summary(version) for version in row.versions],
    )


def imported_view(row: WorkflowRow, lost: tuple[str, ...]) -> ImportedView:
    """A workflow with its versions, and what of its file it does not say."""
    return ImportedView(**dict(workflow_view(row)), lost=lost)


def _summary_fields(row: VersionRow) -> Mapping[str, Json]:
    version = row.version
    names = dict.fromkeys(field.name for branch in version.branches for field in branch.fields)
    return {
        "number": version.number,
        "parent": version.parent,
        "state": version.state,
        "state_at": row.state_at,
        "why": row.why,
        "by": version.by,
        "at": version.at,
        "fields": list(names),
        "open": [DecisionView(what=decision.what, why=decision.why) for decision in version.open],
        "figures": dict(row.figures),
    }
