"""Webhook messages: all of them by state, with what was sent, and sent again."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from shoal.services.store import ids
from shoal.services.store.records import DeliveryFilter, DeliveryState
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import one_of
from shoal.services.web.pages.rendering import Pages, let_in

SHOWN = 50


def add_deliveries(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of webhook messages."""
    store = deps.store

    @router.get("/admin/webhooks", response_class=HTMLResponse)
    async def listing(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "read")),
        state: str = Query("", max_length=20),
        before: str = Query("", max_length=40),
    ) -> Response:
        states = (one_of(state, tuple(DeliveryState), "state"),) if state else ()
        last = ids.parse_delivery(before) if before else None
        rows = await store.deliveries(DeliveryFilter(caller.sees, states, before=last, limit=SHOWN + 1))
        shown = rows[:SHOWN]
        more = f"?state={state}&before={ids.delivery_id(shown[-1].id)}" if len(rows) > SHOWN else None
        return pages.page(
            request,
            "admin/webhooks.html",
            caller=caller,
            deliveries=shown,
            states=list(DeliveryState),
            chosen=state,
            following=more,
            now=await store.now(),
            can_control=caller.may("control"),
        )
