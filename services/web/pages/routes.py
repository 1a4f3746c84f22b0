"""Routes of the dashboard: pages for people, made on the server, kept current by small scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from shoal.agent.status import Status
from shoal.services.errors import NotFound, Unauthenticated
from shoal.services.web.api.admin.sites import site_views
from shoal.services.web.api.admin.workers import drain_worker
from shoal.services.web.api.submitter import Submitter
from shoal.services.web.cluster_state.overview import overview
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator
from shoal.services.web.http.lazy_route import add_routes
from shoal.services.web.http.problems import of_http
from shoal.services.web.live.event_feed import EventFeed
from shoal.services.web.live.rooms import LiveRooms
from shoal.services.web.pages.activity import add_activity
from shoal.services.web.pages.admin.audit_log import add_audit_log
from shoal.services.web.pages.admin.deliveries import add_deliveries
from shoal.services.web.pages.admin.keys import add_keys
from shoal.services.web.pages.admin.secrets import add_secrets
from shoal.services.web.pages.admin.sites import add_sites
from shoal.services.web.pages.admin.tenants import add_tenants
from shoal.services.web.pages.attention import add_attention
from shoal.services.web.pages.ended_logins import EndedLogins
from shoal.services.web.pages.jobs.compare import add_compare
from shoal.services.web.pages.jobs.history import add_history
from shoal.services.web.pages.jobs.item_map import add_item_map
from shoal.services.web.pages.jobs.listing import add_job_list
from shoal.services.web.pages.jobs.page import add_job_page
from shoal.services.web.pages.jobs.records import add_records
from shoal.services.web.pages.login import LoginCheck, page_path
from shoal.services.web.pages.rendering import HERE, Pages, let_in
from shoal.services.web.pages.schedules.page import add_schedule_pages
from shoal.services.web.pages.sessions.live import add_live
from shoal.services.web.pages.sessions.page import add_session_page
from shoal.services.web.pages.sessions.record_places import add_record_places
from shoal.services.web.pages.sessions.recordings import add_recordings
from shoal.services.web.pages.sessions.steps import add_steps
from shoal.services.web.pages.submit.page import add_submit_page
from shoal.services.web.pages.trace_viewer import add_trace_viewer
from shoal.services.web.pages.workflows.page import add_workflow_pages
from shoal.services.web.tries.trier import Trier
from shoal.services.web.tries.version_trier import VersionTrier

STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
STATIC: Mapping[str, bytes] = {path.name: path.read_bytes() for path in sorted((HERE / "static").iterdir())}
"""Few and small: kept in memory, so that a name in a URL never becomes a path."""
_TAGS = {name: f'"{hashlib.sha256(content).hexdigest()[:16]}"' for name, content in STATIC.items()}
"""Entity tags: browsers ask whether a file has changed, so that no page runs the script of an earlier version."""
_API = "/v1/"
SITES_SHOWN = 50


def add_dashboard(
    app: FastAPI,
    deps: GatewayDeps,
    authenticator: Authenticator,
    submitter: Submitter,
    trier: Trier,
    rooms: LiveRooms,
    feed: EventFeed,
) -> None:
    """Adds all pages to `app`. To browsers, an address that nothing has answers with a page, too."""
    options = deps.options
    openid = options.openid
    login_check = LoginCheck(
        authenticator,
        EndedLogins(deps.store),
        options.cookie_secret,
        secure=options.secure_cookies,
        proxy=options.proxy,
        openid=openid.on,
    )
    pages = Pages(login_check, openid.provider, options.prices)
    router = APIRouter(include_in_schema=False, route_class=pages.route_class())
    _add_login(router, login_check, pages)
    if openid.on:
        # Only here: Authlib and what it stands on take 0.1 s and 10 MiB.
        login = import_module("shoal.services.web.pages.openid_login")
        login.add_openid_login(router, deps.store, openid, login_check, pages)
    add_job_list(router, deps, login_check, pages)
    add_records(router, deps, login_check, pages)
    add_item_map(router, deps, login_check)
    add_compare(router, deps, login_check, pages)
    add_history(router, deps, login_check, pages, rooms)
    add_job_page(router, deps, login_check, pages, feed)
    add_activity(router, deps, login_check, pages)
    add_attention(router, deps, login_check, pages)
    add_session_page(router, deps, login_check, pages, rooms)
    add_steps(router, deps, login_check, pages)
    add_record_places(router, deps, login_check, pages)
    add_recordings(router, deps, login_check, pages)
    add_live(router, deps, login_check, pages, rooms)
    add_submit_page(router, deps, login_check, pages, submitter, trier)
    add_workflow_pages(router, deps, login_check, pages, VersionTrier(trier), submitter)
    add_schedule_pages(router, deps, login_check, pages)
    add_keys(router, deps, login_check, pages)
    add_tenants(router, deps, login_check, pages)
    add_secrets(router, deps, login_check, pages)
    add_sites(router, deps, login_check, pages)
    add_deliveries(router, deps, login_check, pages)
    add_audit_log(router, deps, login_check, pages)
    _add_status(router, deps, login_check, pages)
    _add_static(router)
    add_trace_viewer(router)
    add_routes(app, router)

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(_API)
        if not wants_page:
            return of_http(request, error)
        return pages.unknown(request, error.status_code)

    app.add_exception_handler(HTTPException, unknown)


def _add_status(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    @router.get("/status", response_class=HTMLResponse)
    async def status(request: Request, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        seen = await overview(deps.store, caller)
        # Sites and model servers are those of all tenants.
        sites = await site_views(deps.store, SITES_SHOWN) if caller.sees is None else None
        models = [
            (name, dispatcher.data.get("model")) for name, dispatcher in seen.dispatchers.items() if dispatcher.fresh
        ]
        return pages.page(
            request,
            "status.html",
            caller=caller,
            seen=seen,
            restarts=deps.options.restarts,
            statuses=list(Status),
            sites=sites,
            may_drain=caller.may("admin"),
            models=[(name, model) for name, model in models if model],
        )

    @router.post("/workers/{worker}/drain")
    async def drain(
        request: Request, worker: str, token: str = Form(""), caller: Caller = Depends(let_in(login_check, "admin"))
    ) -> Response:
        login_check.check_form(request, token)
        await drain_worker(deps.store, worker, caller)
        return RedirectResponse("/status", status_code=303)


def _add_static(router: APIRouter) -> None:
    @router.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        if name not in STATIC:
            raise NotFound(f"there is no file {name!r}")
        headers = {"Cache-Control": "public, no-cache", "ETag": _TAGS[name]}
        if request.headers.get("if-none-match") == _TAGS[name]:
            return Response(status_code=304, headers=headers)
        return Response(STATIC[name], media_type=STATIC_TYPES[Path(name).suffix], headers=headers)


def _add_login(router: APIRouter, login_check: LoginCheck, pages: Pages) -> None:
    @router.get("/login")
    async def form(request: Request, next: str = "/") -> Response:
        return pages.page(request, "login.html", next=page_path(router.routes, next), fault="", farewell="")

    @router.post("/login")
    async def log_in(request: Request, key: str = Form(max_length=200), next: str = Form("/")) -> Response:
        next_path = page_path(router.routes, next)
        answer = RedirectResponse(next_path, status_code=303)
        try:
            await login_check.log_in(request, key.strip(), answer)
        except Unauthenticated as error:
            fault = error.message
            return pages.page(request, "login.html", status=401, next=next_path, fault=fault, farewell="")
        return answer

    @router.post("/logout")
    async def log_out(request: Request, token: str = Form("")) -> Response:
        login_check.check_form(request, token)
        answer = RedirectResponse("/login/ended" if login_check.is_person(request) else "/login", status_code=303)
        await login_check.log_out(request, answer)
        return answer
