"""The page of one session, what its owner says of it, and the artifacts that it left."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.agent.status import FINAL, RETRIED
from shoal.services.store import ids
from shoal.services.web.api.drafts import NAME, draft_shown, keep_draft
from shoal.services.web.api.questions import open_questions
from shoal.services.web.api.sessions import artifact_bytes, artifact_id, explained, safe_headers
from shoal.services.web.api.views.sessions import SessionDetailView
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.live.progress import progress_of
from shoal.services.web.live.rooms import LiveRooms
from shoal.services.web.pages.jobs.view_models import look
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in


def add_session_page(
    router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages, rooms: LiveRooms
) -> None:
    """Adds the page of one session."""

    @router.get("/sessions/{session}", response_class=HTMLResponse)
    async def session_page(
        request: Request, session: str, caller: Caller = Depends(let_in(login_check, "read"))
    ) -> Response:
        detail = await deps.store.session(ids.parse_session(session), tenant=caller.sees)
        job = await deps.store.job(detail.row.job, tenant=caller.sees)
        over = detail.row.status in FINAL
        waits = {} if over else await explained(deps.store, job, [detail.row])
        wait = waits.get(detail.row.id)
        whole = SessionDetailView.of_detail(detail, wait).model_dump(mode="json", by_alias=True)
        known = {artifact.id for artifact in detail.artifacts}
        draft, lost_draft = await draft_shown(deps, detail)
        return pages.page(
            request,
            "session/page.html",
            caller=caller,
            detail=detail,
            session=detail.row,
            job=look(job, await deps.store.now()),
            whole=whole,
            known=known,
            wait=wait,
            questions=[] if over else await open_questions(deps.store, caller, session=ids.session_id(detail.row.id)),
            progress=await progress_of(rooms, detail.row, job.tenant, caller.tenant),
            draft=draft,
            lost_draft=lost_draft,
            can_keep=caller.may("control") and job.tenant == caller.tenant,
            can_control=caller.may("control"),
            can_retry=caller.may("control")
            and detail.row.status in RETRIED
            and not detail.row.children
            and job.archive is None,
        )

    @router.post("/sessions/{session}/settle")
    async def settle(
        request: Request,
        session: str,
        how: Literal["done", "retry"] = Form(),
        token: str = Form(""),
        back: Literal["session", "attention"] = Form("session"),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        login_check.check_form(request, token)
        number = ids.parse_session(session)
        await deps.store.resolve_unsure(number, how, tenant=caller.sees)
        there = "/attention" if back == "attention" else f"/sessions/{ids.session_id(number)}"
        return RedirectResponse(there, status_code=303)

    @router.post("/sessions/{session}/retry")
    async def retry(
        request: Request,
        session: str,
        token: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        login_check.check_form(request, token)
        number = ids.parse_session(session)
        await deps.store.retry_session(number, tenant=caller.sees)
        return RedirectResponse(f"/sessions/{ids.session_id(number)}", status_code=303)

    @router.post("/sessions/{session}/workflow")
    async def workflow(
        request: Request,
        session: str,
        name: str = Form(pattern=NAME),
        token: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        """Keeps the workflow that a person showed, as a draft."""
        login_check.check_form(request, token)
        row = await keep_draft(deps, session, caller, name)
        return RedirectResponse(f"/workflows/{row.name}?version={row.versions[-1].version.number}", status_code=303)

    @router.get("/artifacts/{artifact}")
    async def artifact(artifact: str, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        """The bytes themselves, also from an object store: the pages' policy lets images come from here only."""
        row = await deps.store.artifact(artifact_id(artifact), tenant=caller.sees)
        return Response(await artifact_bytes(deps, row), headers=safe_headers(row))
