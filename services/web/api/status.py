"""Routes about the cluster itself: status, health, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import orjson
from fastapi import APIRouter, Depends, Response
from pydantic import Field

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.services.errors import ServiceError
from shoal.services.store.restarts import Restarts
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.api.views.base import View
from shoal.services.web.cluster_state.overview import Overview, every_snapshot, overview, uploads_message
from shoal.services.web.cluster_state.waiting_words import labelled
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.http.metrics_door import metrics_answer

CHECK_TIMEOUT_S = 5.0


class CapacityView(View):
    """The capacity of the cluster."""

    dispatchers: int
    workers: int
    slots: int
    busy: int
    fresh: bool


class RestartsView(View):
    """Ends of the gateway that answers by itself, each followed by a new start, since `shoal up` began."""

    restarts: int
    why: str = Field(description="how it ended the last time, such as `signal 11 (SIGSEGV)`")
    at: str | None
    soon: int = Field(description="ends in a row, each within a minute of its start: the pauses between them grow")


class StatusView(View):
    """The state of the cluster."""

    capacity: CapacityView
    gateway: RestartsView
    sessions: dict[str, int]
    waiting: list[str] = Field(description="what waits for what, in sentences")
    queues: dict[WaitingCause, int] = Field(description="queues (one per job and site) by what they wait for")
    rate: float = Field(description="sessions of all tenants that end per second, lately")
    drained_in_s: float | None = Field(description="until what is queued now has run, at that rate; null: unknown")
    dispatchers: dict[str, Json] = Field(
        description="what each dispatcher last said: all of it for admins, capacity and their own part for tenants"
    )


class HealthView(View):
    """The health of a part; `ok`, or the fault."""

    status: str
    checks: dict[str, str] = Field(default_factory=dict)


def status_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes of status, health and metrics. Health needs no key: probes have none."""
    router = APIRouter(tags=["cluster"], route_class=LazyRoute)

    @router.get("/v1/status", response_model=StatusView, summary="Capacity, queue, and what waits for what")
    async def status(caller: Caller = Depends(guard(authenticator, "read"))) -> Response:
        """Sessions are those of the caller's tenant; capacity is the whole cluster's, and names no other tenant."""
        body = status_body(await overview(deps.store, caller), deps.options.restarts)
        return Response(orjson.dumps(body), media_type="application/json")

    @router.get("/healthz", response_model=HealthView, summary="This process answers")
    async def healthz() -> HealthView:
        """Says nothing about the parts behind it: restarting the gateway does not mend them."""
        return HealthView(status="ok")

    @router.get(
        "/readyz",
        response_model=HealthView,
        responses={503: {"model": HealthView, "description": "a part does not work"}},
        summary="This process and the stores behind it answer",
    )
    async def readyz() -> Response:
        """Writes to the database and to the artifact store; of `shoal up`, the workers have started, too.

        `uploads` tells of artifacts that workers hold. Another gateway would not help, so that alone is no 503."""
        checks, held = await _checks(deps)
        if (announced := deps.options.announced) is not None:
            checks["cluster"] = "ok" if announced.exists() else "its workers are still starting"
        ready = all(answer == "ok" for answer in checks.values())
        if held:
            checks["uploads"] = uploads_message(held)
        view = HealthView(status="ok" if ready else "unavailable", checks=checks)
        return Response(view.json_bytes(), status_code=200 if ready else 503, media_type="application/json")

    @router.get("/metrics", response_class=Response, summary="Metrics for Prometheus")
    async def metrics(caller: Caller = Depends(guard(authenticator, "admin"))) -> Response:
        """The catalogue is services/metrics.py. They name tenants, so a key needs the scope `admin`."""
        return await metrics_answer(deps)

    return router


def status_body(seen: Overview, restarts: Restarts) -> Mapping[str, Json]:
    """`seen` as /v1/status writes it."""
    return {
        "capacity": {
            "dispatchers": len(seen.dispatchers),
            "workers": len(seen.workers),
            "slots": seen.slots,
            "busy": seen.busy,
            "fresh": seen.fresh,
        },
        "gateway": restarts.data(),
        "sessions": {str(status): seen.sessions.get(status, 0) for status in Status},
        "waiting": list(seen.causes),
        "queues": {str(cause): n for cause, n in seen.queues.items()},
        "rate": round(seen.rate, 3),
        "drained_in_s": None if seen.drained_in_s is None else round(seen.drained_in_s, 1),
        "dispatchers": {
            name: {"age_s": round(snapshot.age_s, 1), **labelled(snapshot.data)}
            for name, snapshot in seen.dispatchers.items()
        },
    }


async def _checks(deps: GatewayDeps) -> tuple[dict[str, str], int]:
    """Return what is wrong with each store, or `ok`; and how many artifacts workers hold."""
    held = 0

    async def store() -> None:
        nonlocal held
        await deps.store.check()
        snapshots = (await every_snapshot(deps.store)).values()
        held = sum(snapshot.uploads_waiting for snapshot in snapshots if snapshot.fresh)

    async def result_of(check: Callable[[], Awaitable[None]]) -> str:
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_S):
                await check()
        except ServiceError as error:
            return error.message
        except TimeoutError:
            hangs = "it hangs, or another program has locked it"
            return f"nothing could be written and read within {CHECK_TIMEOUT_S:g} s: {hangs}"
        return "ok"

    answers = await asyncio.gather(result_of(store), result_of(deps.artifacts.check))
    return dict(zip(("store", "artifacts"), answers, strict=True)), held
