"""Stored secrets: names and sites, never values. An admin sets, replaces and removes them."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.services.secrets.folder import FolderState, unwritable
from shoal.services.web.api.admin.secrets import SecretKeeper
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in


def add_secrets(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of secrets and what its forms do.

    The forms' values are plain parameters without limits: the framework's own refusal of a value could quote it.
    """
    keeper = SecretKeeper(deps.options.secrets_dir)

    @router.get("/admin/secrets", response_class=HTMLResponse)
    async def listing(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "submit")),
        tenant: str = Query("", max_length=400),
        name: str = Query("", max_length=400),
    ) -> Response:
        shown = await keeper.page(caller)
        chosen = next((row for row in shown.secrets if (row.tenant, row.name) == (tenant, name)), None)
        return pages.page(
            request,
            "admin/secrets.html",
            caller=caller,
            secrets=shown.secrets,
            can_change=caller.may("admin") and shown.folder is FolderState.WRITABLE,
            unwritable="" if keeper.place is None else unwritable(shown.folder, keeper.place),
            chosen=chosen,
            now=await deps.store.now(),
        )

    @router.post("/admin/secrets")
    async def put(
        request: Request,
        token: str = Form(""),
        tenant: str = Form(""),
        name: str = Form(""),
        value: str = Form(""),
        domains: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        login_check.check_form(request, token)
        await keeper.put(request, caller, tenant.strip(), name.strip(), value, domains.splitlines())
        return RedirectResponse("/admin/secrets", status_code=303)

    @router.post("/admin/secrets/remove")
    async def remove(
        request: Request,
        token: str = Form(""),
        tenant: str = Form(""),
        name: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        login_check.check_form(request, token)
        await keeper.remove(request, caller, tenant, name)
        return RedirectResponse("/admin/secrets", status_code=303)
