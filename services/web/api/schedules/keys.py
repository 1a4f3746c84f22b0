"""Keys that read the newest results of one schedule, and nothing else: made, listed and revoked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shoal.services.errors import BadInput, NotFound, WrongState
from shoal.services.schedules.spec import results_scope
from shoal.services.store.records import ApiKey
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
from shoal.services.web.specs.specs import told_of

MOST_KEYS = 20
"""Of one schedule, that are not revoked."""
_DAY_S = 86_400.0


class ScheduleKeyBody(BaseModel):
    """What a key is made for."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=80, description="what it is for, so that it can be told from others")
    days: float | None = Field(None, gt=0, le=3_650, description="it expires after so many; default: never")


def schedule_key_body(fields: Mapping[str, str | None]) -> ScheduleKeyBody:
    """What a form asks for.

    Raises:
        BadInput: with the place of each fault.
    """
    try:
        return ScheduleKeyBody.model_validate(fields)
    except ValidationError as error:
        faults = told_of(error, ScheduleKeyBody)
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
        rows = await schedule_keys(deps.store, caller.tenant, name)
        return Response(ScheduleKeyPage(keys=[ScheduleKeyView.of(row) for row in rows]).json_bytes(), media_type=JSON)

    @router.delete("/schedules/{name}/keys/{key}", status_code=204, summary="Revoke a key of a schedule")
    async def revoke(
        request: Request,
        name: str,
        key: int = Path(ge=1, le=2**31 - 1),
        caller: Caller = Depends(may_control),
    ) -> Response:
        """Gateways that have just used it forget it within 5 s."""
        note_detail(request, (await revoke_schedule_key(deps.store, caller.tenant, name, key)).name)
        return Response(status_code=204)

    return router


async def make_schedule_key(store: Store, caller: Caller, name: str, body: ScheduleKeyBody) -> tuple[ApiKey, str]:
    """A new key for the schedule of this name, and the key itself.

    Raises:
        NotAllowed: the caller may not read the results.
        NotFound: there is no such schedule.
        WrongState: it has as many keys as it may.
    """
    require_scope(caller, "read")
    if len(await schedule_keys(store, caller.tenant, name)) >= MOST_KEYS:
        raise WrongState(f"the schedule {name!r} has {MOST_KEYS} keys: revoke one first")
    key, lasts_s = make_key(), None if body.days is None else body.days * _DAY_S
    scopes = [results_scope(name)]
    return await store.create_key(body.name, caller.tenant, scopes, hash_key(key), lasts_s), key


async def schedule_keys(store: Store, tenant: str, name: str) -> Sequence[ApiKey]:
    """The keys of a schedule that were not revoked.

    Raises:
        NotFound: there is no such schedule.
    """
    await store.schedules.get(tenant, name)
    scopes = (results_scope(name),)
    return [
        row for row in await store.keys() if row.tenant == tenant and row.scopes == scopes and row.revoked_at is None
    ]


async def revoke_schedule_key(store: Store, tenant: str, name: str, key: int) -> ApiKey:
    """Makes a key of the schedule useless.

    Raises:
        NotFound: there is no such schedule, or it has no such key.
    """
    if all(row.id != key for row in await schedule_keys(store, tenant, name)):
        raise NotFound(f"the schedule {name!r} has no key {key}")
    return await store.revoke_key(key)
