"""Keys that read the newest results of one schedule, and nothing else: made, listed and revoked."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shoal.services.errors import BadInput
from shoal.services.store.records import ApiKey
from shoal.services.store.schedules.keys import NewScheduleKey
from shoal.services.store.store import Store
from shoal.services.web.api.changes import body_as, body_of
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.views.schedules import NewScheduleKeyView, ScheduleKeyPage, ScheduleKeyView
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller, hash_key, make_key
from shoal.services.web.http.audit import note_detail
from shoal.services.web.http.auth import Authenticator, guard, require_scope
from shoal.services.web.http.body import JSON_TYPES, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.specs.specs import validation_faults


class ScheduleKeyBody(BaseModel):
    """The name and the lifetime of a new key."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=80, description="what it is for, so that it can be told from others")
    days: float | None = Field(
        None, gt=0, le=3_650, description="it expires after so many; default: as the key that makes it"
    )


def schedule_key_body(fields: Mapping[str, str | None]) -> ScheduleKeyBody:
    """Return what a form asks for.

    Raises:
        BadInput: with the place of each fault.
    """
    try:
        return ScheduleKeyBody.model_validate(fields)
    except ValidationError as error:
        faults = validation_faults(error, ScheduleKeyBody)
        raise BadInput(f"{faults[0]['field']}: {faults[0]['reason']}.", errors=faults) from None


def schedule_key_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes under /v1/schedules/{name}/keys. Each caller sees the keys of its own tenant alone."""
    router = APIRouter(prefix="/v1", tags=["schedules"], route_class=LazyRoute)
    may_control = guard(authenticator, "control")

    @router.post(
        "/schedules/{name}/keys",
        status_code=201,
        response_model=NewScheduleKeyView,
        openapi_extra=body_of(ScheduleKeyBody, JSON),
        summary="Make a key that reads a schedule's newest results alone",
    )
    async def make(request: Request, name: str, caller: Caller = Depends(may_control)) -> Response:
        """The answer is the only one that has the key. The caller may `read` itself."""
        require_type(request, JSON_TYPES)
        body = await body_as(request, ScheduleKeyBody, deps.options.body_limit)
        row, key = await make_schedule_key(deps.store, caller, name, body)
        note_detail(request, f"key {row.id} ({row.name})")
        view = NewScheduleKeyView(key=key, **ScheduleKeyView.of(row).model_dump())
        return Response(view.json_bytes(), status_code=201, media_type=JSON)

    @router.get("/schedules/{name}/keys", response_model=ScheduleKeyPage, summary="List the keys of a schedule")
    async def listing(name: str, caller: Caller = Depends(may_control)) -> Response:
        """Those that were not revoked, without the keys themselves."""
        rows = await deps.store.schedules.keys(caller.tenant, name)
        return Response(ScheduleKeyPage(keys=[ScheduleKeyView.of(row) for row in rows]).json_bytes(), media_type=JSON)

    @router.delete("/schedules/{name}/keys/{key}", status_code=204, summary="Revoke a key of a schedule")
    async def revoke(
        request: Request,
        name: str,
        key: int = Path(ge=1, le=2**31 - 1),
        caller: Caller = Depends(may_control),
    ) -> Response:
        """Gateways that have just used it forget it within 5 s."""
        note_detail(request, (await deps.store.schedules.revoke_key(caller.tenant, name, key)).name)
        return Response(status_code=204)

    return router


async def make_schedule_key(store: Store, caller: Caller, name: str, body: ScheduleKeyBody) -> tuple[ApiKey, str]:
    """A new key for the schedule of this name, and the key itself.

    Raises:
        NotAllowed: the caller may not read the results.
        NotFound: there is no such schedule.
        WrongState: it has as many keys as it may.
        BadInput: the key would outlast that of the caller.
        Unauthenticated: the caller's key was revoked.
    """
    require_scope(caller, "read")
    key = make_key()
    asked = NewScheduleKey(body.name, hash_key(key), body.days, caller.key_hash)
    return await store.schedules.create_key(caller.tenant, name, asked), key
