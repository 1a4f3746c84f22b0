"""The route on which a version of a workflow is run on given pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput, NotFound
from shoal.services.store.workflows.records import VersionRow, WorkflowRow
from shoal.services.web.api.changes import body_of
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.tries import GONE, LONGEST_S
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_nothing
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, read_body, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.specs.specs import parse_json, validation_faults
from shoal.services.web.tries.version_trial import MOST_PAGES, VersionTry
from shoal.services.web.tries.version_trier import VersionTrier
from shoal.services.web.tries.version_views import VersionTryView

Address = Annotated[str, Field(pattern=r"^[hH][tT][tT][pP][sS]?://[^\s]+$", max_length=8_000)]


class VersionTryBody(BaseModel):
    """The pages and data that a version is tried on."""

    model_config = ConfigDict(extra="forbid")

    urls: tuple[Address, ...] = Field(min_length=1, max_length=MOST_PAGES, description="http(s) addresses of the pages")
    version: int | None = Field(None, ge=1, description="number of the version; default: the active one")
    start: str | None = Field(None, min_length=1, description="the node where it begins; default: the version's first")
    data: Json = Field(None, description="details for parameters from the job's data")
    item: Json = Field(
        None,
        description="the loop's item, such as a row with details for a form; it goes with one address. Default: each "
        "page's address is its item",
    )

    @model_validator(mode="after")
    def _one_page(self) -> VersionTryBody:
        if self.item is not None and len(self.urls) > 1:
            raise ValueError("`item` goes with one address in `urls`")
        return self


def workflow_try_routes(deps: GatewayDeps, authenticator: Authenticator, trier: VersionTrier) -> APIRouter:
    """POST /v1/workflows/{name}:try."""
    router = APIRouter(prefix="/v1", tags=["workflows"], route_class=LazyRoute)

    @router.post(
        "/workflows/{name}:try",
        response_model=VersionTryView,
        openapi_extra=body_of(VersionTryBody, JSON),
        summary="Try a version of a workflow on given pages",
    )
    async def attempt(
        name: str,
        request: Request,
        caller: Caller = Depends(guard(authenticator, "submit")),
        timeout_s: float = Query(90.0, ge=5, le=LONGEST_S, description="seconds until the answer comes in any case"),
    ) -> Response:
        """Runs any version, drafts included, and tells of each page its record with what each channel read, or why
        there is none. No model goes on after a miss.

        An action that may send something or may run once only is not done: it is named, and the page ends there. The
        same rules hold as for a job. Nothing is kept, and nothing is counted. It needs the scopes `submit` and `read`.
        """
        note_nothing(request)
        require_type(request, JSON_TYPES)
        asked = await read_body(request, deps.options.body_limit)
        body = await aside(len(asked), read_try, asked)
        row = await deps.store.workflows.get(caller.tenant, name)
        chosen = version_of(row, body.version)

        async def listens() -> bool:
            return not await request.is_disconnected()

        given = VersionTry(name, row.scope, chosen.version, body.urls, body.start, body.data, body.item)
        view = await trier.attempt(given, caller, timeout_s=timeout_s, listens=listens)
        return Response(status_code=GONE) if view is None else Response(view.json_bytes(), media_type=JSON)

    return router


def version_of(row: WorkflowRow, number: int | None) -> VersionRow:
    """The version with this number; None: the active one.

    Raises:
        NotFound: there is none.
    """
    if number is None:
        if row.active is None:
            raise NotFound(f"no version of the workflow {row.name!r} is active: say which is meant", workflow=row.name)
        return row.active
    kept = next((version for version in row.versions if version.version.number == number), None)
    if kept is None:
        raise NotFound(f"the workflow {row.name!r} has no version {number}", workflow=row.name, version=number)
    return kept


def read_try(body: bytes) -> VersionTryBody:
    """Return what a request asks for.

    Raises:
        BadInput: listing each fault as {field, reason}.
    """
    parse_json(body)  # says line and column where it is no JSON at all
    try:
        return VersionTryBody.model_validate_json(body, strict=True)
    except ValidationError as error:
        faults = validation_faults(error, VersionTryBody, body)
        raise BadInput(f"The try is not valid: {faults[0]['field']}: {faults[0]['reason']}.", errors=faults) from None
