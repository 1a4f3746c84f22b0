"""A loop as a map of its items: a byte for each, which a script draws as a cell, and the way to its session."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Path, Response
from fastapi.responses import RedirectResponse

from shoal.services.store import ids
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import let_in


def add_item_map(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck) -> None:
    """Adds what the map on the page of a job asks for."""

    @router.get("/jobs/{job}/map")
    async def cells(job: str, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        states = await deps.store.item_states(ids.parse_job(job), tenant=caller.sees)
        return Response(states, media_type="application/octet-stream")

    @router.get("/jobs/{job}/map/{place}")
    async def session(
        job: str, place: int = Path(ge=0, le=2**31 - 1), caller: Caller = Depends(let_in(login_check, "read"))
    ) -> Response:
        number = await deps.store.item_session(ids.parse_job(job), place, tenant=caller.sees)
        return RedirectResponse(f"/sessions/{ids.session_id(number)}", status_code=303)
