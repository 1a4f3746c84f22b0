"""The page on which a running session is looked at and taken over."""

from __future__ import annotations

import base64
from functools import partial

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from shoal.agent.status import FINAL
from shoal.services.errors import QuotaExceeded, ServiceError, WrongState
from shoal.services.store import ids
from shoal.services.web.api.changes import body_as
from shoal.services.web.api.live import obey, room_of
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http import problems
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.body import JSON_TYPES, require_type
from shoal.services.web.live.orders import TakeoverBody
from shoal.services.web.live.rooms import LINK_S, LiveRooms
from shoal.services.web.live.viewing import live_stream
from shoal.services.web.pages.jobs.view_models import look
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in


def add_live(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages, rooms: LiveRooms) -> None:
    """Adds the page, its stream, and what its buttons do."""

    @router.get("/sessions/{session}/live", response_class=HTMLResponse)
    async def live(request: Request, session: str, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        detail = await deps.store.session(ids.parse_session(session), tenant=caller.sees)
        job = await deps.store.job(detail.row.job, tenant=caller.sees)
        return pages.page(
            request,
            "session/live.html",
            caller=caller,
            session=detail.row,
            job=look(job, await deps.store.now()),
            available=rooms.available,
            over=detail.row.status in FINAL,
            can_control=caller.may("control"),
        )

    @router.get("/sessions/{session}/live/stream")
    async def stream(request: Request, session: str, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        holds = partial(login_check.holds, request, caller)
        return await live_stream(deps, rooms, ids.parse_session(session), caller, holds)

    @router.get("/sessions/{session}/live/picture")
    async def picture(session: str, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        """One picture of a session's page; 204 where none can be had, at once where the session does not run."""
        headers = {"Cache-Control": "no-store"}
        try:
            room = await room_of(deps.store, rooms, ids.parse_session(session), caller)
            if not room.linked:
                await rooms.request(room)
            frame = await room.picture(LINK_S, caller.tenant)
        except (WrongState, QuotaExceeded):
            return Response(status_code=204, headers=headers)
        await rooms.let_go(room)
        if frame is None:
            return Response(status_code=204, headers=headers)
        return Response(base64.b64decode(frame.jpeg), media_type="image/jpeg", headers=headers)

    @router.post("/sessions/{session}/live")
    async def take_over(
        request: Request,
        session: str,
        x_form_token: str = Header(""),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        """Return what the page's script says for the person; a refusal is a problem document."""
        try:
            login_check.check_form(request, x_form_token)
            require_type(request, JSON_TYPES)
            body = await body_as(request, TakeoverBody, deps.options.body_limit)
            view = await obey(request, deps.store, rooms, ids.parse_session(session), body, caller)
        except ServiceError as error:
            return problems.of_error(error)
        return JSONResponse(view.model_dump())
