"""Routes of webhook deliveries: what waits, what was given up, sending again, the secret to check signatures with."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from shoal.agent.spec import NotifySpec
from shoal.agent.spec.part import SpecPart
from shoal.services.errors import BadInput, NotFound
from shoal.services.store import ids
from shoal.services.store.records import DeliveryFilter, DeliveryState
from shoal.services.web.api.changes import body_as, body_of
from shoal.services.web.api.jobs import JSON, bad_cursor
from shoal.services.web.api.views.base import View
from shoal.services.web.api.views.webhooks import DeliveryDetailView, DeliveryPage, DeliveryView
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.specs.specs import SpecChecker
from shoal.services.webhooks.signature import tenant_secret


class ResentView(View):
    """The number of messages that are sent again."""

    resent: int


class SecretView(View):
    """The secrets that a tenant's receivers check signatures with."""

    tenant: str
    secrets: list[str] = Field(description="each message is signed with all of them, the newest first")


class NotifyBody(SpecPart):
    """Whom a tenant tells of jobs that do not say so themselves."""

    notify: tuple[NotifySpec, ...] = Field(max_length=20, description="as `notify` of a job")


class NotifyView(View):
    """Whom a tenant tells of jobs that do not say so themselves."""

    tenant: str
    notify: tuple[NotifySpec, ...]


def webhook_routes(deps: GatewayDeps, authenticator: Authenticator, checker: SpecChecker) -> APIRouter:
    """The routes under /v1/webhooks, and /v1/notify."""
    router = APIRouter(prefix="/v1", tags=["webhooks"], route_class=LazyRoute)
    store = deps.store

    @router.get("/webhooks", response_model=DeliveryPage, summary="List webhook deliveries, newest first")
    async def listing(
        caller: Caller = Depends(guard(authenticator, "read")),
        state: list[DeliveryState] = Query(default=[], description="only these states; `dead`: given up"),
        job: str | None = Query(None, description="only those of this job"),
        cursor: str | None = Query(None, description="`next` of the page before"),
        limit: int = Query(50, ge=1, le=500),
    ) -> Response:
        """Deliveries of the caller's tenant. Delivered ones are kept for a week, dead ones for a month."""
        rows = await store.deliveries(
            DeliveryFilter(
                tenant=caller.sees,
                states=tuple(state),
                job=None if job is None else _parse_job(job),
                before=delivery_cursor(cursor),
                limit=limit + 1,
            )
        )
        shown = rows[:limit]
        page = DeliveryPage(
            deliveries=[DeliveryView.model_validate(row) for row in shown],
            next=ids.delivery_id(shown[-1].id) if len(rows) > limit else None,
        )
        return Response(page.json_bytes(), media_type=JSON)

    @router.get("/webhooks/secret", response_model=SecretView, summary="The secret that signs this tenant's webhooks")
    async def secret(caller: Caller = Depends(guard(authenticator, "control"))) -> SecretView:
        """The message's id, timestamp and body are signed with it; docs/api.md says how."""
        masters = await deps.webhook_secrets()
        return SecretView(tenant=caller.tenant, secrets=[tenant_secret(master, caller.tenant) for master in masters])

    @router.get("/notify", response_model=NotifyView, tags=["notify"], summary="Whom this tenant tells of its jobs")
    async def notify(caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
        """People who are told of each job that has no `notify` of its own."""
        view = NotifyView(tenant=caller.tenant, notify=await store.tenant_notify(caller.tenant))
        return Response(view.json_bytes(), media_type=JSON)

    @router.put(
        "/notify",
        response_model=NotifyView,
        tags=["notify"],
        summary="Set whom this tenant tells of its jobs",
        openapi_extra=body_of(NotifyBody, "application/json"),
    )
    async def set_notify(request: Request, caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
        """Holds for jobs that run, too; an empty list: no people are told."""
        require_type(request, JSON_TYPES)
        people = (await body_as(request, NotifyBody, deps.options.body_limit)).notify
        await checker.check_notify(people, caller.tenant)
        await store.set_tenant_notify(caller.tenant, people)
        return await notify(caller)

    @router.post("/webhooks:resend", response_model=ResentView, summary="Send all dead letters again")
    async def resend_dead(caller: Caller = Depends(guard(authenticator, "control"))) -> ResentView:
        """Every delivery of the caller's tenant that was given up gets all its attempts again."""
        return ResentView(resent=await store.resend_dead(tenant=caller.sees))

    @router.get("/webhooks/{delivery}", response_model=DeliveryDetailView, summary="Look at a webhook delivery")
    async def show(delivery: str, caller: Caller = Depends(guard(authenticator, "read"))) -> Response:
        """The delivery with its body."""
        row = await store.delivery(ids.parse_delivery(delivery), tenant=caller.sees)
        return Response(DeliveryDetailView.model_validate(row).json_bytes(), media_type=JSON)

    @router.post("/webhooks/{delivery}/resend", response_model=DeliveryView, summary="Send a webhook again")
    async def resend(delivery: str, caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
        """Makes the delivery due now; one that had ended gets all its attempts again."""
        row = await store.resend(ids.parse_delivery(delivery), tenant=caller.sees)
        return Response(DeliveryView.model_validate(row).json_bytes(), media_type=JSON)

    return router


def delivery_cursor(text: str | None) -> int | None:
    """The delivery that a cursor stands for.

    Raises:
        BadInput: it is none of ours.
    """
    try:
        return None if text is None else ids.parse_delivery(text)
    except NotFound:
        raise bad_cursor("cursor") from None


def _parse_job(text: str) -> int:
    try:
        return ids.parse_job(text)
    except NotFound as error:
        raise BadInput(error.message, errors=[{"field": "job", "reason": "is not the id of a job"}]) from None
