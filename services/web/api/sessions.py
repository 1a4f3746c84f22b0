"""Routes of sessions and of the artifacts that they left."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import RedirectResponse

from shoal.agent.status import FINAL, Status
from shoal.services.artifacts.keys import named
from shoal.services.errors import ArtifactMissing, ArtifactWaiting, BadInput, NotFound, ServiceError
from shoal.services.store import ids
from shoal.services.store.records import ArtifactRow, JobRow, SessionRow
from shoal.services.store.store import Store
from shoal.services.web.api.jobs import JSON, LOCATION, bad_cursor
from shoal.services.web.api.views.sessions import SessionDetailView, SessionPage, SessionView
from shoal.services.web.cluster_state.overview import every_snapshot
from shoal.services.web.cluster_state.waiting import Wait, WaitContext, explain
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.lazy_route import LazyRoute

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*(; ?charset=[A-Za-z0-9-]+)?", re.IGNORECASE)
_ARTIFACT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SHOWN_INLINE = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif", "text/plain"})
_EXTENSIONS = {
    **{"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"},
    **{"text/plain": "txt", "text/html": "html", "application/json": "json", "application/pdf": "pdf"},
    **{"application/zip": "zip", "text/csv": "csv", "multipart/related": "mhtml"},
}


def session_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes of sessions and artifacts."""
    router = APIRouter(prefix="/v1", tags=["sessions"], route_class=LazyRoute)
    store = deps.store

    @router.get("/jobs/{job}/sessions", response_model=SessionPage, summary="List a job's sessions")
    async def listing(
        job: str,
        caller: Caller = Depends(guard(authenticator, "read")),
        status: list[Status] = Query(default=[], description="only these statuses"),
        cursor: str | None = Query(None, description="`next` of the page before"),
        limit: int = Query(100, ge=1, le=1000),
    ) -> Response:
        """One page of sessions, in item order."""
        row = await store.job(ids.parse_job(job), tenant=caller.sees)
        try:
            rows, after = await store.sessions(row.id, statuses=status, after=cursor, limit=limit)
        except BadInput:
            raise bad_cursor("cursor") from None
        waits = await explained(store, row, rows)
        page = SessionPage(sessions=[SessionView.of(session, waits.get(session.id)) for session in rows], next=after)
        return Response(page.json_bytes(), media_type=JSON)

    @router.get("/sessions/{session}", response_model=SessionDetailView, summary="Look at a session")
    async def show(session: str, caller: Caller = Depends(guard(authenticator, "read"))) -> Response:
        """The session with its records, and the tasks and steps of each attempt."""
        detail = await store.session(ids.parse_session(session), tenant=caller.sees)
        wait = None
        if detail.row.status not in FINAL:
            job = await store.job(detail.row.job, tenant=caller.sees)
            wait = (await explained(store, job, [detail.row])).get(detail.row.id)
        return Response(SessionDetailView.of_detail(detail, wait).json_bytes(), media_type=JSON)

    @router.get(
        "/artifacts/{artifact}",
        summary="Fetch an artifact",
        response_class=Response,
        responses={
            200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
            307: {"description": "to a signed URL that holds for some minutes", "headers": LOCATION},
        },
    )
    async def artifact(artifact: str, caller: Caller = Depends(guard(authenticator, "read"))) -> Response:
        """The bytes, or the way to them where they lie in an object store."""
        return await artifact_answer(deps, await store.artifact(artifact_id(artifact), tenant=caller.sees))

    return router


async def explained(store: Store, job: JobRow, rows: Sequence[SessionRow]) -> dict[int, Wait]:
    """Return what each of some sessions of a job waits for; those that do not wait are left out."""
    waiting = [row for row in rows if row.status not in FINAL and row.status is not Status.RUNNING]
    if not waiting:
        return {}
    live = [snapshot for snapshot in (await every_snapshot(store)).values() if snapshot.fresh]
    context = WaitContext(job, live, await store.now(), await store.put_off(job.id))
    queued = [row.id for row in waiting if row.status is Status.QUEUED]
    # Counted once for the page: its sessions follow each other in the order of their claims.
    first = next((row for row in waiting if row.status is Status.QUEUED), None)
    before = await store.sessions_ahead(first) if first is not None else 0
    ahead = {session: before + place for place, session in enumerate(queued)}
    waits = ((row.id, explain(row, context, ahead.get(row.id, 0))) for row in waiting)
    return {session: wait for session, wait in waits if wait is not None}


def artifact_id(text: str) -> str:
    """`text` itself when it can be the id of an artifact.

    Raises:
        NotFound: it cannot.
    """
    if not _ARTIFACT_ID.fullmatch(text):
        raise NotFound(f"there is no artifact {text!r}")
    return text


async def artifact_answer(deps: GatewayDeps, row: ArtifactRow) -> Response:
    """One artifact as an answer."""
    url = await deps.artifacts.url(row.key, row.content_type, expires_s=deps.options.artifact_url_s, name=row.name)
    if url is None:
        return Response(await artifact_bytes(deps, row), headers=safe_headers(row))
    if not await deps.artifacts.has(row.key):
        raise await absence(deps, row)
    return RedirectResponse(url, status_code=307)


async def artifact_bytes(deps: GatewayDeps, row: ArtifactRow) -> bytes:
    """The bytes of an artifact.

    Raises:
        ArtifactWaiting, ArtifactMissing: see `absence`.
    """
    try:
        return await deps.artifacts.get(row.key)
    except ArtifactMissing as error:
        raise await absence(deps, row) from error


async def absence(deps: GatewayDeps, row: ArtifactRow) -> ServiceError:
    """Why an artifact is not in the store: it may still come as long as any worker holds uploads back."""
    if any(snapshot.uploads_waiting for snapshot in (await every_snapshot(deps.store)).values()):
        return ArtifactWaiting(f"artifact {row.id} waits at its worker for the artifact store: ask again later")
    return ArtifactMissing(f"there is no artifact {row.id} in the artifact store any more")


def safe_headers(row: ArtifactRow) -> dict[str, str]:
    """Headers under which bytes that a site gave cannot act in this origin.

    The type is never guessed; only raster images and plain text are shown in place, all else is a download; and should
    a browser render it in spite of that, it does so in a sandbox that may load and run nothing.
    """
    media_type = row.content_type.lower() if _MEDIA_TYPE.fullmatch(row.content_type) else "application/octet-stream"
    bare = media_type.partition(";")[0].strip()
    shown = bare in _SHOWN_INLINE
    extension = _EXTENSIONS.get(bare, "bin")
    file = f"{row.kind}-{row.id[:8]}.{extension}"
    return {
        "Content-Type": media_type if shown or bare in _EXTENSIONS else "application/octet-stream",
        "Content-Disposition": f'{"inline" if shown else "attachment"}; filename="{file}"{named(row.name)}',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, max-age=86400, immutable",
    }
