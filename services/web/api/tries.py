"""The route of tries: a sample of a job, told at once and kept nowhere."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Query, Request, Response

from shoal.services.web.api.jobs import JSON, SPEC_BODY
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, read_body, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.tries.trier import Trier
from shoal.services.web.tries.views import TryView

DEFAULT_ITEMS = 3
LONGEST_S = 300
GONE = 499
"""The status that servers note for a caller that has closed the connection; no caller sees it."""


def try_routes(deps: GatewayDeps, authenticator: Authenticator, trier: Trier) -> APIRouter:
    """POST /v1/jobs:try."""
    router = APIRouter(prefix="/v1", tags=["jobs"], route_class=LazyRoute)

    @router.post(
        "/jobs:try",
        response_model=TryView,
        openapi_extra={"requestBody": SPEC_BODY["requestBody"]},
        summary="Try a job: a sample of it, at once",
    )
    async def attempt(
        request: Request,
        caller: Caller = Depends(guard(authenticator, "submit")),
        items: int = Query(DEFAULT_ITEMS, ge=1, le=10, description="items of each loop that are opened"),
        timeout_s: float = Query(90.0, ge=5, le=LONGEST_S, description="seconds until the answer comes in any case"),
    ) -> Response:
        """Runs a sample and tells how many items there are, what some records are, and where each value is from.

        The same rules hold as for a job: key, quota, robots.txt, politeness and reach. No form is sent but the login's.
        The sample is a job while it runs, and is deleted before the answer is given. It needs the scopes `submit` and
        `read`.
        """
        require_type(request, JSON_TYPES)
        body = await read_body(request, deps.options.body_limit)

        async def listens() -> bool:
            return not await request.is_disconnected()

        view = await trier.attempt(body, caller, items=items, timeout_s=timeout_s, listens=listens)
        return Response(status_code=GONE) if view is None else Response(view.json_bytes(), media_type=JSON)

    return router
