"""What needs a person: questions of running sessions, and webhooks that no receiver took."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from shoal.services.store import ids
from shoal.services.store.records import DeliveryFilter, DeliveryState
from shoal.services.web.api.questions import answer_question, open_questions
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import Door
from shoal.services.web.pages.rendering import Pages, let_in

DELIVERIES_SHOWN = 50


def add_attention(router: APIRouter, deps: GatewayDeps, door: Door, pages: Pages) -> None:
    """Adds the page and what its forms do."""
    store = deps.store

    @router.get("/attention")
    async def attention(request: Request, caller: Caller = Depends(let_in(door, "read"))) -> Response:
        wanted = DeliveryFilter(caller.sees, (DeliveryState.DEAD,), limit=DELIVERIES_SHOWN)
        return pages.page(
            request,
            "attention.html",
            caller=caller,
            questions=await open_questions(store, caller),
            dead=await store.deliveries(wanted),
            counts=await store.count_deliveries(tenant=caller.sees),
            now=await store.now(),
            states=DeliveryState,
            can_control=caller.may("control"),
        )

    @router.post("/questions/{question}")
    async def answer(
        request: Request,
        question: str,
        token: str = Form(""),
        answer: str = Form(max_length=10_000),
        caller: Caller = Depends(let_in(door, "control")),
    ) -> Response:
        door.check_form(request, token)
        await answer_question(store, caller, question, answer)
        return RedirectResponse("/attention", status_code=303)

    @router.post("/webhooks/resend")
    async def resend_dead(
        request: Request, token: str = Form(""), caller: Caller = Depends(let_in(door, "control"))
    ) -> Response:
        door.check_form(request, token)
        await store.resend_dead(tenant=caller.sees)
        return RedirectResponse("/attention", status_code=303)

    @router.post("/webhooks/{delivery}/resend")
    async def resend(
        request: Request, delivery: str, token: str = Form(""), caller: Caller = Depends(let_in(door, "control"))
    ) -> Response:
        door.check_form(request, token)
        await store.resend(ids.parse_delivery(delivery), tenant=caller.sees)
        return RedirectResponse("/attention", status_code=303)
