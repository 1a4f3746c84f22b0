"""Tenants: what each has under way, what it may have waiting, and its share of the slots. For the scope `admin`."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.services.web.api.admin.tenants import TenantPatch, any_tenant_view, change_tenant, tenant_views
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.admin.forms import number_of, patch_of
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in


def add_tenants(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of tenants, and one of each."""

    @router.get("/admin/tenants", response_class=HTMLResponse)
    async def listing(request: Request, caller: Caller = Depends(let_in(login_check, "admin"))) -> Response:
        tenants = await tenant_views(deps)
        return pages.page(request, "admin/tenants.html", caller=caller, tenants=tenants)

    @router.get("/admin/tenant")
    async def named(name: str = "", caller: Caller = Depends(let_in(login_check, "admin"))) -> Response:
        """The page of a tenant whose name was typed."""
        return RedirectResponse(_address(name.strip()), status_code=303)

    @router.get("/admin/tenants/{tenant}", response_class=HTMLResponse)
    async def show(request: Request, tenant: str, caller: Caller = Depends(let_in(login_check, "admin"))) -> Response:
        """One that has nothing yet has a page, too: something can be set for it before it gets a key."""
        view = await any_tenant_view(deps, tenant)
        return pages.page(request, "admin/tenant.html", caller=caller, tenant=view)

    @router.post("/admin/tenants/{tenant}")
    async def change(
        request: Request,
        tenant: str,
        token: str = Form(""),
        quota: str = Form("", max_length=20),
        weight: str = Form("", max_length=20),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        login_check.check_form(request, token)
        fields = {"quota": number_of("quota", quota, int), "weight": number_of("weight", weight, float)}
        await change_tenant(request, deps, tenant, patch_of(TenantPatch, fields))
        return RedirectResponse(_address(tenant), status_code=303)


def _address(tenant: str) -> str:
    return f"/admin/tenants/{quote(tenant, safe='')}"
