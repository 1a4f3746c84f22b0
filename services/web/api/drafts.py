"""Workflows that were drafted of what a person did in a session."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Query, Response

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.workflows.format.workflow import Workflow, read_workflow
from shoal.services.errors import BadInput, NotFound, ServiceError
from shoal.services.store import ids
from shoal.services.store.records import SessionDetail
from shoal.services.store.workflows.records import WorkflowRow
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.sessions import artifact_bytes
from shoal.services.web.api.views.workflows import ImportedView, imported_view
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.lazy_route import LazyRoute

KIND = "workflow"
"""Of the artifact that holds such a workflow."""
NAME = r"^[a-z0-9][a-z0-9._-]{0,99}$"


def draft_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The route that keeps a session's workflow."""
    router = APIRouter(prefix="/v1", tags=["sessions"], route_class=LazyRoute)

    @router.post(
        "/sessions/{session}/workflow",
        status_code=201,
        response_model=ImportedView,
        summary="Keep the workflow that a person showed",
    )
    async def keep(
        session: str,
        caller: Caller = Depends(guard(authenticator, "control")),
        name: str | None = Query(None, pattern=NAME, description="of the workflow; default: made of the job's id"),
    ) -> Response:
        """Stores the workflow that was drafted of what a person did in a session, the last time that they led it. It is
        a draft, by `recording`. One of this name that is there already gets it as a further version."""
        row = await keep_draft(deps, session, caller, name)
        return Response(imported_view(row, ()).json_bytes(), status_code=201, media_type=JSON)

    return router


async def keep_draft(deps: GatewayDeps, session: str, caller: Caller, name: str | None) -> WorkflowRow:
    """The workflow of a session, stored as a draft. Both are the caller's tenant's: a workflow crosses no tenant.

    Raises:
        NotFound: the tenant has no such session, or nothing was drafted in it.
        BadInput: what was drafted is no workflow.
    """
    detail = await deps.store.session(ids.parse_session(session), tenant=caller.tenant)
    given = await drafted(deps, detail)
    if given is None:
        raise NotFound(f"in {session} no workflow was drafted: that takes a person who acts on its page")
    return await deps.store.workflows.keep(caller.tenant, given.model_copy(update={"name": name or given.name}))


async def drafted(deps: GatewayDeps, detail: SessionDetail) -> Workflow | None:
    """The workflow that was drafted in a session, as a draft; None where there is none."""
    row = next((artifact for artifact in reversed(detail.artifacts) if artifact.kind == KIND), None)
    if row is None:
        return None
    try:
        given = read_workflow(await artifact_bytes(deps, row))
    except WorkflowInvalid as error:
        raise BadInput(f"what was drafted is no workflow: {error.message}") from None
    drafts = tuple(version.model_copy(update={"state": "draft", "by": "recording"}) for version in given.versions)
    return given.model_copy(update={"versions": drafts})


async def draft_shown(deps: GatewayDeps, detail: SessionDetail) -> tuple[Workflow | None, str]:
    """The same for a page, and why what was drafted cannot be shown ("" where it can, or nothing was)."""
    try:
        return await drafted(deps, detail), ""
    except ServiceError as error:
        return None, error.message
