"""Tenants: what each has under way, what it may have waiting, and its share of the slots. For the scope `admin`."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request, Response

from shoal.agent.status import Status
from shoal.services.web.cluster_state.overview import every_snapshot
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in


@dataclass(frozen=True, slots=True)
class TenantLine:
    """One tenant."""

    name: str
    keys: int  # that are valid now
    running: int  # sessions
    queued: int  # sessions
    quota: int  # sessions that may be queued; 0: no limit
    weight: float | None  # its share of slots beside others'; None: no dispatcher runs that could say so


def add_tenants(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of tenants."""

    @router.get("/admin/tenants")
    async def listing(request: Request, caller: Caller = Depends(let_in(login_check, "admin"))) -> Response:
        return pages.page(request, "admin/tenants.html", caller=caller, tenants=await _tenants(deps))


async def _tenants(deps: GatewayDeps) -> list[TenantLine]:
    """Those with a key, a quota, a weight or open sessions, by name."""
    sessions = await deps.store.open_by_status()
    valid = [key.tenant for key in await deps.store.keys() if key.revoked_at is None and key.left_s > 0]
    fresh = [snapshot.data for snapshot in (await every_snapshot(deps.store)).values() if snapshot.fresh]
    weights = {name: float(weight) for data in fresh for name, weight in data.get("weights", {}).items()}
    own = deps.options.tenant_quotas
    names = {tenant for tenant, _ in sessions} | set(valid) | weights.keys() | own.keys()
    return [
        TenantLine(
            name,
            valid.count(name),
            sessions.get((name, Status.RUNNING), 0),
            sessions.get((name, Status.QUEUED), 0),
            own.get(name, deps.options.tenant_queued),
            weights.get(name, 1.0) if fresh else None,
        )
        for name in sorted(names)
    ]
