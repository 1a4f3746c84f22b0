"""Routes of tenants: what each has under way, what it may have waiting, and its share of the slots."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from shoal.agent.status import Status
from shoal.services.errors import BadInput, NotFound
from shoal.services.web.api.changes import body_as, body_of
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.views.base import View
from shoal.services.web.cluster_state.overview import every_snapshot
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller, tenant_fault
from shoal.services.web.http.audit import note_detail
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, require_type
from shoal.services.web.http.lazy_route import LazyRoute

_MOST_QUOTA = 10**9
_MOST_WEIGHT = 1e6


class TenantView(View):
    """One tenant."""

    name: str
    keys: int = Field(description="keys and logins that are valid now")
    running: int = Field(description="sessions")
    queued: int = Field(description="sessions")
    quota: int = Field(description="sessions that may wait; 0: no limit")
    weight: float | None = Field(description="its share of slots beside others'; null: no dispatcher runs")
    own_quota: int | None = Field(description="the quota that an operator has set; null: the settings hold")
    own_weight: float | None = Field(description="the weight that an operator has set; null: the settings hold")


class TenantPage(View):
    """Tenants by name."""

    tenants: list[TenantView]


class TenantPatch(BaseModel):
    """Changes to a tenant; a field that is left out stays."""

    model_config = ConfigDict(extra="forbid", strict=True)

    quota: int | None = Field(None, ge=0, le=_MOST_QUOTA, description="sessions that may wait; 0: no limit")
    weight: float | None = Field(
        None, gt=0, le=_MOST_WEIGHT, allow_inf_nan=False, description="its share of slots beside others'"
    )


def tenant_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes under /v1/tenants, for the scope `admin`."""
    router = APIRouter(prefix="/v1", tags=["cluster"], route_class=LazyRoute)

    @router.get("/tenants", response_model=TenantPage, summary="List tenants")
    async def listing(caller: Caller = Depends(guard(authenticator, "admin"))) -> Response:
        """Those with a valid key, a quota, a weight or open sessions."""
        return Response(TenantPage(tenants=await tenant_views(deps)).json_bytes(), media_type=JSON)

    @router.get("/tenants/{tenant}", response_model=TenantView, summary="Look at a tenant")
    async def show(tenant: str, caller: Caller = Depends(guard(authenticator, "admin"))) -> Response:
        """404 where nothing is known of it: no valid key, no quota, no weight and no session."""
        return Response((await tenant_view(deps, tenant)).json_bytes(), media_type=JSON)

    @router.patch(
        "/tenants/{tenant}",
        response_model=TenantView,
        summary="Change the quota and the weight of a tenant",
        openapi_extra=body_of(TenantPatch, "application/json"),
    )
    async def change(
        request: Request, tenant: str, caller: Caller = Depends(guard(authenticator, "admin"))
    ) -> Response:
        """Gateways take up a quota within about a second, dispatchers a weight within a few."""
        require_type(request, JSON_TYPES)
        patch = await body_as(request, TenantPatch, deps.options.body_limit)
        return Response((await change_tenant(request, deps, tenant, patch)).json_bytes(), media_type=JSON)

    return router


async def change_tenant(request: Request, deps: GatewayDeps, tenant: str, patch: TenantPatch) -> TenantView:
    """Changes what is set for a tenant, which need have no key yet, and tells the audit log.

    Raises:
        BadInput: no tenant may be called so, or nothing is to be changed.
    """
    await any_tenant_view(deps, tenant)  # refuses the name
    changes = patch.model_dump(exclude_unset=True)
    if not changes:
        raise BadInput("The body is empty.", errors=[{"field": "body", "reason": "is empty"}])
    await deps.store.tenants.change(tenant, changes)
    note_detail(request, " ".join(f"{name}={value}" for name, value in changes.items()))
    return _of_name(await tenant_views(deps, tenant), tenant)


async def tenant_view(deps: GatewayDeps, tenant: str) -> TenantView:
    """One tenant.

    Raises:
        NotFound: nothing is known of such a tenant.
    """
    views = await tenant_views(deps)
    if tenant not in {view.name for view in views}:
        raise NotFound(f"there is no tenant {tenant[:80]!r}: it has no valid key, no quota, no weight and no session")
    return _of_name(views, tenant)


async def any_tenant_view(deps: GatewayDeps, tenant: str) -> TenantView:
    """One tenant, of which nothing need be known yet.

    Raises:
        BadInput: no tenant may be called so.
    """
    reason = tenant_fault(tenant)
    views = await tenant_views(deps, *(() if reason else (tenant,)))
    if tenant not in {view.name for view in views}:
        raise BadInput(f"tenant: {reason}.", errors=[{"field": "tenant", "reason": reason}])
    return _of_name(views, tenant)


def _of_name(views: Sequence[TenantView], tenant: str) -> TenantView:
    return next(view for view in views if view.name == tenant)


async def tenant_views(deps: GatewayDeps, *others: str) -> list[TenantView]:
    """Tenants with a valid key, a quota, a weight or open sessions, and `others`, by name."""
    sessions = await deps.store.open_by_status()
    valid = [key.tenant for key in await deps.store.keys() if key.revoked_at is None and key.left_s > 0]
    fresh = [snapshot.data for snapshot in (await every_snapshot(deps.store)).values() if snapshot.fresh]
    own = await deps.store.tenants.limits()
    reported = {name: float(weight) for data in fresh for name, weight in data.get("weights", {}).items()}
    weights = {**reported, **own.weights}
    quotas = {**deps.options.tenant_quotas, **own.quotas}
    names = {tenant for tenant, _ in sessions} | set(valid) | weights.keys() | quotas.keys() | set(others)
    return [
        TenantView(
            name=name,
            keys=valid.count(name),
            running=sessions.get((name, Status.RUNNING), 0),
            queued=sessions.get((name, Status.QUEUED), 0),
            quota=quotas.get(name, deps.options.tenant_queued),
            weight=weights.get(name, 1.0) if fresh or name in own.weights else None,
            own_quota=own.quotas.get(name),
            own_weight=own.weights.get(name),
        )
        for name in sorted(names)
    ]
