"""Routes by which an owner changes what runs, and resolves what only the owner can know."""

from __future__ import annotations

from typing import Literal, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shoal.services.errors import BadInput
from shoal.services.store import ids
from shoal.services.store.records import JobChanges
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.views.jobs import JobView
from shoal.services.web.api.views.sessions import SessionDetailView
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, read_body, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.specs.specs import parse_json, validation_faults

B = TypeVar("B", bound=BaseModel)

PATCH_TYPES = (*JSON_TYPES, "application/merge-patch+json")


class JobPatch(BaseModel):
    """Changes to a running job; a field that is left out stays."""

    model_config = ConfigDict(extra="forbid", strict=True)

    concurrency: int | None = Field(None, ge=1, le=2**31 - 1, description="items of its outermost loop at once")
    deadline_s: float | None = Field(
        None, gt=0, le=1e9, allow_inf_nan=False, description="seconds from now to the end of the job"
    )
    job_tokens: int | None = Field(
        None, ge=1, le=2**53, description="model tokens of all its sessions, those that were spent included"
    )
    priority: int = Field(0, ge=-100, le=100, description="10 more is twice the share within a tenant")


class SettleBody(BaseModel):
    """The outcome of the action that an unsure session had begun."""

    model_config = ConfigDict(extra="forbid", strict=True)

    how: Literal["done", "retry"] = Field(
        description="done: it was done, the session counts as completed; retry: it was not, the session begins again"
    )


def change_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """PATCH of a job, the answer for an unsure session, and another try of one session."""
    router = APIRouter(prefix="/v1", route_class=LazyRoute)

    @router.patch(
        "/jobs/{job}",
        response_model=JobView,
        tags=["jobs"],
        summary="Change a running job",
        openapi_extra=body_of(JobPatch, "application/json"),
    )
    async def change(request: Request, job: str, caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
        """Concurrency, deadline, token limit and priority, all of them or nothing. 409 when the job is final."""
        require_type(request, PATCH_TYPES)
        changes = job_changes(await body_as(request, JobPatch, deps.options.body_limit))
        row = await deps.store.change(ids.parse_job(job), changes, tenant=caller.sees)
        return Response(JobView.of(row).json_bytes(), media_type=JSON)

    @router.post(
        "/sessions/{session}/settle",
        response_model=SessionDetailView,
        tags=["sessions"],
        summary="Settle an unsure session",
        openapi_extra=body_of(SettleBody, "application/json"),
    )
    async def settle(
        request: Request, session: str, caller: Caller = Depends(guard(authenticator, "control"))
    ) -> Response:
        """Says whether the action that must not be repeated was done. 409 when the session is not unsure."""
        require_type(request, JSON_TYPES)
        body = await body_as(request, SettleBody, deps.options.body_limit)
        detail = await deps.store.resolve_unsure(ids.parse_session(session), body.how, tenant=caller.sees)
        return Response(SessionDetailView.of_detail(detail).json_bytes(), media_type=JSON)

    @router.post(
        "/sessions/{session}/retry",
        response_model=SessionDetailView,
        tags=["sessions"],
        summary="Queue one failed, terminated or canceled session again",
    )
    async def retry_session(session: str, caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
        """It has fresh attempts; its siblings stay as they are. Its job goes on, where it had ended. 409 where it is
        none of these, or unsure, which is settled first.
        """
        detail = await deps.store.retry_session(ids.parse_session(session), tenant=caller.sees)
        return Response(SessionDetailView.of_detail(detail).json_bytes(), media_type=JSON)

    return router


def job_changes(patch: JobPatch) -> JobChanges:
    """Return what `patch` names.

    Raises:
        BadInput: nothing.
    """
    if not patch.model_fields_set:
        fields = ", ".join(JobPatch.model_fields)
        raise BadInput(
            f"Nothing is to be changed: name one of {fields}.", errors=[{"field": "body", "reason": "is empty"}]
        )
    return JobChanges(frozenset(patch.model_fields_set), **patch.model_dump())


async def body_as(request: Request, model: type[B], limit: int) -> B:
    """A request's body, of at most `limit` bytes, as `model`.

    Raises:
        TooLarge.
        BadInput: it is none; with the place of each fault.
    """
    body = await read_body(request, limit)
    return await aside(len(body), _parsed, model, body)


def _parsed(model: type[B], body: bytes) -> B:
    parse_json(body)  # says line and column where it is none
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        faults = validation_faults(error, model, body)
        first = f"{faults[0]['field']}: {faults[0]['reason']}"
        raise BadInput(f"The request is not valid: {first}.", errors=faults) from None


def body_of(model: type[BaseModel], media_type: str) -> dict[str, object]:
    """Return what openapi.json says of a route that reads such a body itself; `create_app` names its models."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}
