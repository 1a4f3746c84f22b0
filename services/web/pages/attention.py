"""Cases that need a person: questions of running sessions, unsure sessions, and webhooks that no receiver took."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from shoal.agent.status import Status
from shoal.agent.types import Checkpoint
from shoal.services.store import ids
from shoal.services.store.records import DeliveryFilter, DeliveryState, JobFilter, SessionRow
from shoal.services.store.store import Store
from shoal.services.web.api.questions import answer_question, open_questions
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in

DELIVERIES_SHOWN = 50
UNSURE_SHOWN = 20
"""Unsure sessions that are shown; more are seen when these are settled."""


@dataclass(frozen=True, slots=True)
class UnsureSession:
    """A session of which only a person can know whether its action was done."""

    row: SessionRow
    checkpoint: Checkpoint | None  # what is known of it
    screenshot: str | None  # the last picture of its page that is kept


def add_attention(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page and what its forms do."""
    store = deps.store

    @router.get("/attention", response_class=HTMLResponse)
    async def attention(request: Request, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        delivery_filter = DeliveryFilter(caller.sees, (DeliveryState.DEAD,), limit=DELIVERIES_SHOWN)
        return pages.page(
            request,
            "attention.html",
            caller=caller,
            questions=await open_questions(store, caller),
            unsure=await unsure_sessions(store, caller),
            shown=UNSURE_SHOWN,
            dead=await store.deliveries(delivery_filter),
            counts=await store.count_deliveries(tenant=caller.sees),
            now=await store.now(),
            states=DeliveryState,
            can_control=caller.may("control"),
        )

    @router.get("/attention/count")
    async def count(caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        """Return how much waits for a person, for the mark beside the page's name."""
        waiting = len(await open_questions(store, caller)) + len(await unsure_sessions(store, caller, detailed=False))
        return JSONResponse({"waiting": waiting, "at_most": UNSURE_SHOWN})

    @router.post("/questions/{question}")
    async def answer(
        request: Request,
        question: str,
        token: str = Form(""),
        answer: str = Form(max_length=10_000),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        login_check.check_form(request, token)
        await answer_question(store, caller, question, answer)
        return RedirectResponse("/attention", status_code=303)

    @router.post("/webhooks/resend")
    async def resend_dead(
        request: Request, token: str = Form(""), caller: Caller = Depends(let_in(login_check, "control"))
    ) -> Response:
        login_check.check_form(request, token)
        await store.resend_dead(tenant=caller.sees)
        return RedirectResponse("/attention", status_code=303)

    @router.post("/webhooks/{delivery}/resend")
    async def resend(
        request: Request, delivery: str, token: str = Form(""), caller: Caller = Depends(let_in(login_check, "control"))
    ) -> Response:
        login_check.check_form(request, token)
        await store.resend(ids.parse_delivery(delivery), tenant=caller.sees)
        return RedirectResponse("/attention", status_code=303)


async def unsure_sessions(store: Store, caller: Caller, *, detailed: bool = True) -> list[UnsureSession]:
    """The unsure sessions that `caller` may see, those of the newest jobs first; without what is known of them where
    that is not wanted."""
    unsure: list[UnsureSession] = []
    for job in await store.jobs(JobFilter(tenant=caller.sees, unsure=True, limit=UNSURE_SHOWN)):
        left = UNSURE_SHOWN - len(unsure)
        rows, _ = await store.sessions(job.id, statuses=(Status.UNSURE,), limit=left) if left else ([], None)
        for row in rows:
            if not detailed:
                unsure.append(UnsureSession(row, None, None))
                continue
            detail = await store.session(row.id, tenant=caller.sees)
            pictures = [artifact.id for artifact in detail.artifacts if artifact.kind == "screenshot"]
            unsure.append(UnsureSession(row, detail.checkpoint, pictures[-1] if pictures else None))
    return unsure
