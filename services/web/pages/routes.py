"""Routes of the dashboard: pages for people, made on the server, kept current by a little script."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from shoal.agent.status import FINAL, Status
from shoal.services.errors import NotFound, Unauthenticated
from shoal.services.store import ids
from shoal.services.web.api.sessions import artifact_id, explained, safe_headers
from shoal.services.web.api.views import SessionDetailView
from shoal.services.web.cluster_state.overview import overview
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator
from shoal.services.web.pages.attention import add_attention
from shoal.services.web.pages.jobs import add_jobs
from shoal.services.web.pages.login import Door, local_path
from shoal.services.web.pages.rendering import HERE, Pages, let_in
from shoal.services.web.pages.view_models import look

STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def dashboard_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """All pages."""
    door = Door(authenticator, deps.options.cookie_secret, secure=deps.options.secure_cookies)
    pages = Pages(door)
    router = APIRouter(include_in_schema=False, route_class=pages.route_class())
    _add_login(router, door, pages)
    add_jobs(router, deps, door, pages)
    add_attention(router, deps, door, pages)
    _add_sessions(router, deps, door, pages)

    @router.get("/status")
    async def status(request: Request, caller: Caller = Depends(let_in(door, "read"))) -> Response:
        seen = await overview(deps.store, caller)
        return pages.page(request, "status.html", caller=caller, seen=seen, statuses=list(Status))

    @router.get("/static/{name}")
    async def static(name: str) -> Response:
        if name not in STATIC:
            raise NotFound(f"there is no file {name!r}")
        headers = {"Cache-Control": "public, max-age=3600"}
        return Response(STATIC[name], media_type=STATIC_TYPES[Path(name).suffix], headers=headers)

    return router


STATIC: Mapping[str, bytes] = {path.name: path.read_bytes() for path in sorted((HERE / "static").iterdir())}
"""Few and small: kept in memory, so that a name in a URL never becomes a path."""


def _add_login(router: APIRouter, door: Door, pages: Pages) -> None:
    @router.get("/login")
    async def form(request: Request, next: str = "/") -> Response:
        return pages.page(request, "login.html", next=local_path(next), fault="")

    @router.post("/login")
    async def log_in(request: Request, key: str = Form(max_length=200), next: str = Form("/")) -> Response:
        answer = RedirectResponse(local_path(next), status_code=303)
        try:
            await door.log_in(request, key.strip(), answer)
        except Unauthenticated as error:
            return pages.page(request, "login.html", status=401, next=local_path(next), fault=error.message)
        return answer

    @router.post("/logout")
    async def log_out(request: Request, token: str = Form("")) -> Response:
        door.check_form(request, token)
        answer = RedirectResponse("/login", status_code=303)
        door.log_out(answer)
        return answer


def _add_sessions(router: APIRouter, deps: GatewayDeps, door: Door, pages: Pages) -> None:
    @router.get("/sessions/{session}")
    async def session_page(request: Request, session: str, caller: Caller = Depends(let_in(door, "read"))) -> Response:
        detail = await deps.store.session(ids.parse_session(session), tenant=caller.sees)
        job = await deps.store.job(detail.row.job, tenant=caller.sees)
        waits = {} if detail.row.status in FINAL else await explained(deps.store, job, [detail.row])
        wait = waits.get(detail.row.id)
        whole = SessionDetailView.of_detail(detail, wait).model_dump(mode="json", by_alias=True)
        known = {artifact.id for artifact in detail.artifacts}
        return pages.page(
            request,
            "session.html",
            caller=caller,
            detail=detail,
            session=detail.row,
            job=look(job, await deps.store.now()),
            whole=whole,
            known=known,
            wait=wait,
            can_control=caller.may("control"),
        )

    @router.post("/sessions/{session}/settle")
    async def settle(
        request: Request,
        session: str,
        how: Literal["done", "retry"] = Form(),
        token: str = Form(""),
        caller: Caller = Depends(let_in(door, "control")),
    ) -> Response:
        door.check_form(request, token)
        await deps.store.resolve_unsure(ids.parse_session(session), how, tenant=caller.sees)
        return RedirectResponse(f"/sessions/{session}", status_code=303)

    @router.get("/artifacts/{artifact}")
    async def artifact(artifact: str, caller: Caller = Depends(let_in(door, "read"))) -> Response:
        """The bytes themselves, also from an object store: the pages' policy lets images come from here only."""
        row = await deps.store.artifact(artifact_id(artifact), tenant=caller.sees)
        return Response(await deps.artifacts.get(row.key), headers=safe_headers(row))
