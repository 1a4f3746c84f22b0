"""Recordings of a session's pages, played again under a policy of their own."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from shoal.services.errors import NotFound
from shoal.services.store import ids
from shoal.services.store.records import ArtifactRow, SessionDetail
from shoal.services.web.api.sessions import artifact_bytes, artifact_id
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import HERE, Pages, let_in
from shoal.services.web.pages.sessions.steps import PlacedStep, placed_steps

KIND = "recording"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; "
    "font-src data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of a site's recording, which is drawn in a frame without scripts (rrweb's `sandbox`) and has this policy too:
styles that it brings along, pictures that stand in it, and nothing from anywhere. So the page's own styles stand in it
as well.
"""
_STYLES = ("shoal.css", "replay.css", "rrweb-replay.css")


@dataclass(frozen=True, slots=True)
class StepMark:
    """A step on the time line."""

    step: PlacedStep
    at_ms: int  # when it began, in milliseconds since 1970


def add_recordings(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the player, and the events that it plays."""

    async def recording(session: str, artifact: str, caller: Caller) -> tuple[SessionDetail, ArtifactRow]:
        detail = await deps.store.session(ids.parse_session(session), tenant=caller.sees)
        artifact = artifact_id(artifact)
        row = next((row for row in detail.artifacts if row.id == artifact and row.kind == KIND), None)
        if row is None:
            raise NotFound(f"{session} has no recording {artifact}")
        return detail, row

    @router.get("/sessions/{session}/recordings/{artifact}", response_class=HTMLResponse)
    async def player(
        request: Request, session: str, artifact: str, caller: Caller = Depends(let_in(login_check, "read"))
    ) -> Response:
        detail, row = await recording(session, artifact, caller)
        text = pages.part(
            request,
            "session/recording.html",
            caller=caller,
            session=detail.row,
            artifact=row,
            marks=list(_marks(detail)),
            styles=_styles(),
        )
        return HTMLResponse(text, headers=_HEADERS)

    @router.get("/sessions/{session}/recordings/{artifact}/events")
    async def events(
        request: Request, session: str, artifact: str, caller: Caller = Depends(let_in(login_check, "read"))
    ) -> Response:
        _, row = await recording(session, artifact, caller)
        body, headers = await artifact_bytes(deps, row), {"Cache-Control": "private, max-age=3600"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        else:
            body = gzip.decompress(body)
        return Response(body, media_type="application/json", headers=_HEADERS | headers)


def _marks(detail: SessionDetail) -> Iterator[StepMark]:
    """The steps of which it is known when they began."""
    for step in placed_steps(detail):
        if step.step.at:
            yield StepMark(step, int(datetime.fromisoformat(step.step.at).timestamp() * 1000))


@cache
def _styles() -> str:
    return "\n".join((HERE / "static" / name).read_text() for name in _STYLES)
