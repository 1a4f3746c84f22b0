"""Routes of browser workers: operators see them, and have them replaced."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Response
from pydantic import Field

from shoal.services.errors import NotFound
from shoal.services.store.records import DRAIN
from shoal.services.store.store import Store
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.views.base import View
from shoal.services.web.cluster_state.overview import overview
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.lazy_route import LazyRoute

_FORGOTTEN_S = 24 * 3600.0
"""A worker's name never comes again: what was said of one is forgotten after a day."""


class WorkerView(View):
    """One browser worker."""

    name: str
    node: str = Field("", description="host name of the machine or pod that it runs on; empty: not told")
    age_s: float | None = Field(None, description="seconds since it was made")
    slots: int
    busy: int = Field(description="sessions that run")
    waiting: int = Field(description="sessions that it holds beyond its slots")
    browsers: int
    browser_age_s: float | None = Field(None, description="of its oldest browser; null: none runs")
    browser_restarts: int = Field(description="browsers replaced because they died or hung")
    rss_bytes: int
    leaving: bool = Field(description="it is given no more sessions and ends; another takes its place")


class WorkerPage(View):
    """All browser workers."""

    workers: list[WorkerView]


def worker_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes under /v1/workers."""
    router = APIRouter(prefix="/v1", tags=["cluster"], route_class=LazyRoute)

    @router.get("/workers", response_model=WorkerPage, summary="List browser workers")
    async def listing(caller: Caller = Depends(guard(authenticator, "read"))) -> Response:
        """Those of all dispatchers that are alive."""
        seen = await overview(deps.store, caller)
        views = [WorkerView.model_validate({"leaving": False, **worker}) for worker in seen.workers]
        return Response(WorkerPage(workers=views).json_bytes(), media_type=JSON)

    @router.post(
        "/workers/{worker}/drain", status_code=202, response_class=Response, summary="Drain and replace a worker"
    )
    async def drain(worker: str, caller: Caller = Depends(guard(authenticator, "admin"))) -> Response:
        """It gets no more sessions, and another takes its place. What it runs has ten minutes to end; the rest goes on
        elsewhere, from its checkpoints."""
        await drain_worker(deps.store, worker, caller)
        return Response(status_code=202)

    return router


async def drain_worker(store: Store, worker: str, caller: Caller) -> None:
    """Has a worker replaced: its dispatcher sees it within seconds.

    Raises:
        NotFound: there is no such worker.
    """
    seen = await overview(store, caller)
    if worker not in {row.get("name") for row in seen.workers}:
        raise NotFound(f"there is no worker {worker!r}")
    await store.drop_states(DRAIN, older_than_s=_FORGOTTEN_S)
    await store.put_state(f"{DRAIN}{worker}", {})
