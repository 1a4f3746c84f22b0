"""Sites: what goes on there, and the limits that an operator sets. For the scope `admin`: they hold for all tenants."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.services.store.records import SiteChanges
from shoal.services.web.api.admin.sites import SitePatch, change_site, host_of_path, site_view, site_views
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_nothing
from shoal.services.web.pages.admin.forms import number_of, patch_of
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in

SHOWN = 200
_MINUTE_S = 60.0


def add_sites(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of all sites, that of one, and what its forms do."""

    @router.get("/sites", response_class=HTMLResponse)
    async def listing(request: Request, caller: Caller = Depends(let_in(login_check, "admin"))) -> Response:
        return pages.page(request, "sites/list.html", caller=caller, sites=await site_views(deps.store, SHOWN))

    @router.post("/sites")
    async def limit_new(
        request: Request,
        token: str = Form(""),
        host: str = Form("", max_length=400),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        """A site that no job has named yet gets a page; nothing is set for it, and what is set stays."""
        login_check.check_form(request, token)
        note_nothing(request)
        name = host_of_path(host.strip())
        await deps.store.sites.change(name, SiteChanges(frozenset()))
        return RedirectResponse(_address(name), status_code=303)

    @router.get("/sites/{host}", response_class=HTMLResponse)
    async def show(request: Request, host: str, caller: Caller = Depends(let_in(login_check, "admin"))) -> Response:
        site = await site_view(deps.store, host_of_path(host))
        return pages.page(request, "sites/page.html", caller=caller, site=site)

    @router.post("/sites/{host}")
    async def change(
        request: Request,
        host: str,
        token: str = Form(""),
        concurrency: str = Form("", max_length=20),
        delay_s: str = Form("", max_length=20),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        login_check.check_form(request, token)
        patch = {
            "concurrency": number_of("concurrency", concurrency, int),
            "delay_s": number_of("delay_s", delay_s, float),
        }
        await change_site(request, deps.store, host, patch_of(SitePatch, patch))
        return RedirectResponse(_address(host_of_path(host)), status_code=303)

    @router.post("/sites/{host}/pause")
    async def pause(
        request: Request,
        host: str,
        token: str = Form(""),
        minutes: str = Form("", max_length=20),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        login_check.check_form(request, token)
        lasts = number_of("minutes", minutes, float)
        pause_s = {} if lasts is None else {"pause_s": lasts * _MINUTE_S}
        await change_site(request, deps.store, host, patch_of(SitePatch, {"paused": True, **pause_s}))
        return RedirectResponse(_address(host_of_path(host)), status_code=303)

    @router.post("/sites/{host}/resume")
    async def resume(
        request: Request, host: str, token: str = Form(""), caller: Caller = Depends(let_in(login_check, "admin"))
    ) -> Response:
        login_check.check_form(request, token)
        await change_site(request, deps.store, host, SitePatch(paused=False))
        return RedirectResponse(_address(host_of_path(host)), status_code=303)


def _address(host: str) -> str:
    return f"/sites/{quote(host, safe='')}"
