"""Routes of workflows: look, compare, activate, retire, delete, import, export."""

from __future__ import annotations

from typing import Literal

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.exchange.file_formats import ExportFormat, ImportFormat
from shoal.agent.workflows.exchange.files import read_file, write_file
from shoal.agent.workflows.exchange.job_fields import job_fields
from shoal.agent.workflows.format.version import State
from shoal.agent.workflows.format.workflow import Workflow, read_workflow, workflow_schema, write_workflow
from shoal.services.errors import BadInput
from shoal.services.store.workflows.records import WorkflowRow
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.views.workflows import (
    DifferenceView,
    ExportedView,
    FieldsView,
    ImportedView,
    VersionDetail,
    WorkflowPage,
    WorkflowView,
    imported_view,
    version_detail,
    workflow_view,
)
from shoal.services.web.api.workflow_difference import changes
from shoal.services.web.api.workflow_tries import version_of
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, read_body, require_type
from shoal.services.web.http.lazy_route import LazyRoute

_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {
                "schema": {"type": "object", "description": "a file of `format`; Shoal's own: docs/workflows/format.md"}
            }
        },
    }
}


def workflow_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes under /v1/workflows. Each caller sees the workflows of its own tenant alone."""
    router = APIRouter(prefix="/v1", tags=["workflows"], route_class=LazyRoute)
    _add_looking(router, deps, authenticator)
    _add_changing(router, deps, authenticator)
    return router


def _add_looking(router: APIRouter, deps: GatewayDeps, authenticator: Authenticator) -> None:
    store = deps.store.workflows
    may_read = guard(authenticator, "read")

    @router.get("/workflows", response_model=WorkflowPage, summary="List workflows by name")
    async def listing(
        caller: Caller = Depends(may_read),
        site: str | None = Query(None, description="only those for this host"),
        cursor: str | None = Query(None, description="`next` of the page before"),
        limit: int = Query(50, ge=1, le=200),
    ) -> Response:
        """Workflows of the caller's tenant."""
        rows = await store.some(caller.tenant, site=site, after=cursor, limit=limit + 1)
        shown = [workflow_view(row) for row in rows[:limit]]
        page = WorkflowPage(workflows=shown, next=shown[-1].name if len(rows) > limit else None)
        return Response(page.json_bytes(), media_type=JSON)

    @router.get("/workflows:schema", summary="The JSON Schema of the format")
    async def schema(_: Caller = Depends(may_read)) -> Response:
        """Return what a file has to be that is imported."""
        return Response(orjson.dumps(workflow_schema()), media_type="application/json")

    @router.get("/workflows/{name}", response_model=WorkflowView, summary="Look at a workflow")
    async def show(name: str, caller: Caller = Depends(may_read)) -> Response:
        """The workflow with its versions and their figures."""
        return _answer(workflow_view(await store.get(caller.tenant, name)))

    @router.get("/workflows/{name}/export", summary="Export a workflow as a file")
    async def export(
        name: str,
        caller: Caller = Depends(may_read),
        version: int | None = Query(None, ge=1, description="this version alone; default: all"),
    ) -> Response:
        """The workflow in its own format. It holds no secrets, only their names."""
        row = await store.get(caller.tenant, name)
        headers = {"Content-Disposition": f'attachment; filename="{row.name}.json"'}
        return Response(whole_file(row, version), media_type=JSON, headers=headers)

    @router.get("/workflows/{name}/diff", response_model=DifferenceView, summary="What differs between two versions")
    async def difference(
        name: str,
        caller: Caller = Depends(may_read),
        before: int = Query(ge=1, description="number of the earlier version"),
        after: int = Query(ge=1, description="number of the later version"),
    ) -> Response:
        """Each part that was added, removed or changed, with its place."""
        row = await store.get(caller.tenant, name)
        old, new = version_of(row, before).version, version_of(row, after).version
        return _answer(DifferenceView(before=before, after=after, changes=changes(old.as_json(), new.as_json())))

    @router.get("/workflows/{name}/versions/{number}", response_model=VersionDetail, summary="Look at a version")
    async def version(name: str, number: int, caller: Caller = Depends(may_read)) -> Response:
        """The version with its graph."""
        return _answer(version_detail(version_of(await store.get(caller.tenant, name), number)))

    @router.get(
        "/workflows/{name}/versions/{number}/fields",
        response_model=FieldsView,
        summary="A version's fields as `extract.fields` of a job",
    )
    async def fields(name: str, number: int, caller: Caller = Depends(may_read)) -> Response:
        """One place for each field of the version's first kind of page. What a job cannot say is in `lost`."""
        written = job_fields(version_of(await store.get(caller.tenant, name), number).version)
        return _answer(FieldsView(fields=written.fields, record_schema=written.record_schema, lost=written.lost))

    @router.get(
        "/workflows/{name}/versions/{number}/export",
        response_model=ExportedView,
        summary="Export a version as another program's file",
    )
    async def write(
        name: str,
        number: int,
        caller: Caller = Depends(may_read),
        kind: Literal["recorder", "automa", "playwright"] = Query(
            alias="format", description="Chrome's DevTools Recorder, Automa, or a Python script for Playwright"
        ),
    ) -> Response:
        """The version as text of that file, and what the file cannot say."""
        row = version_of(await store.get(caller.tenant, name), number)
        written = write_file(ExportFormat(kind), row.version, name)
        return _answer(ExportedView(format=kind, text=written.text, lost=written.lost))


def _add_changing(router: APIRouter, deps: GatewayDeps, authenticator: Authenticator) -> None:
    store = deps.store.workflows
    may_control = guard(authenticator, "control")

    @router.post(
        "/workflows", status_code=201, response_model=ImportedView, openapi_extra=_BODY, summary="Import a workflow"
    )
    async def take(
        request: Request,
        kind: ImportFormat = Query(
            ImportFormat.SHOAL, alias="format", description="Shoal's own, Chrome's DevTools Recorder, or Automa"
        ),
        name: str | None = Query(None, description="of the workflow: needed where the format has none in it"),
    ) -> Response:
        """Stores a workflow of the caller's tenant, its versions as drafts; those of a workflow that is there already
        come behind its own, with new numbers."""
        caller = await may_control(request)
        require_type(request, JSON_TYPES)
        body = await read_body(request, deps.options.body_limit)
        given, lost = await aside(len(body), imported, body, kind, name)
        row = await store.keep(caller.tenant, given)
        return _answer(imported_view(row, lost), 201)

    @router.put("/workflows/{name}/versions", status_code=201, response_model=VersionDetail, openapi_extra=_BODY)
    async def edit(name: str, request: Request) -> Response:
        """Adds a version that a person has edited: a workflow with one version, whose `parent` is the one that was
        changed. It is a draft; nothing uses it before it is activated."""
        caller = await may_control(request)
        require_type(request, JSON_TYPES)
        body = await read_body(request, deps.options.body_limit)
        given = await aside(len(body), read_given, body)
        if given.name != name or len(given.versions) != 1:
            raise BadInput(f"give one version of the workflow {name!r}")
        mine = given.versions[0].model_copy(update={"state": "draft", "by": "person"})
        return _answer(version_detail(await store.add_version(caller.tenant, name, mine)), 201)

    @router.post(
        "/workflows/{name}/versions/{number}/activate", response_model=WorkflowView, summary="Activate a version"
    )
    async def activate(name: str, number: int, caller: Caller = Depends(may_control)) -> Response:
        """From now on jobs get this version; the one that was active is retired."""
        return await moved(caller, name, number, "active")

    @router.post("/workflows/{name}/versions/{number}/retire", response_model=WorkflowView, summary="Retire a version")
    async def retire(name: str, number: int, caller: Caller = Depends(may_control)) -> Response:
        """No job gets this version any more. It stays and can be activated again."""
        return await moved(caller, name, number, "retired")

    async def moved(caller: Caller, name: str, number: int, state: State) -> Response:
        return _answer(workflow_view(await store.move(caller.tenant, name, number, state)))

    @router.delete("/workflows/{name}", status_code=204, summary="Delete a workflow")
    async def drop(name: str, caller: Caller = Depends(may_control)) -> Response:
        """Removes the workflow with all its versions and their figures."""
        await store.drop(caller.tenant, name)
        return Response(status_code=204)


def _answer(
    view: WorkflowView | VersionDetail | DifferenceView | ExportedView | FieldsView, status: int = 200
) -> Response:
    return Response(view.json_bytes(), status_code=status, media_type=JSON)


def whole_file(row: WorkflowRow, version: int | None) -> bytes:
    """A workflow in its own format: all of its versions, or one."""
    versions = row.versions if version is None else (version_of(row, version),)
    made = Workflow(name=row.name, scope=row.scope, versions=tuple(kept.version for kept in versions))
    return orjson.dumps(write_workflow(made), option=orjson.OPT_INDENT_2)


def imported(body: bytes, kind: ImportFormat, name: str | None) -> tuple[Workflow, tuple[str, ...]]:
    """The workflow of a file with drafts alone, and what of the file it does not say.

    Raises:
        BadInput: it is no such file, or says its name where one is given, or none where none is.
    """
    if kind is ImportFormat.SHOAL:
        if name is not None:
            raise BadInput("`name`: a workflow's own file says its name")
        given = read_given(body)
        drafts = tuple(version.model_copy(update={"state": "draft", "by": "import"}) for version in given.versions)
        return given.model_copy(update={"versions": drafts}), ()
    if name is None:
        raise BadInput(f"`name`: a file of the format {kind} does not say how the workflow is called")
    try:
        read = read_file(kind, body, name)
    except WorkflowInvalid as error:
        raise BadInput(f"this is no file of the format {kind}: {error.message}") from None
    return read.workflow, read.lost


def read_given(body: Json) -> Workflow:
    """The workflow that a request gives, as bytes or as parsed JSON.

    Raises:
        BadInput: it is none; each fault with its place.
    """
    try:
        return read_workflow(body)
    except WorkflowInvalid as error:
        places = [str(place) for place in error.details.get("places", ()) or ()]  # type: ignore[attr-defined]
        faults = [{"field": place, "reason": _reason(error.message, place)} for place in places]
        raise BadInput(f"this is no workflow: {error.message}", errors=faults) from None


def _reason(message: str, place: str) -> str:
    """Return what the message says of one place."""
    after = message.partition(f"{place}: ")[2]
    return after.partition("; ")[0] or message
