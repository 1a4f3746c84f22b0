"""The metrics that Prometheus scrapes, and the app that serves them on a port of its own."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from shoal.services.web.cluster_state.scrape import Snapshots, read_values
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http import problems
from shoal.services.web.http.auth import require_local


async def metrics_answer(deps: GatewayDeps) -> Response:
    """All metrics of the cluster, in Prometheus' format."""
    values = await read_values(deps.store)
    text = generate_latest(deps.metrics.registry) + generate_latest(Snapshots(values))
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})


def metrics_app(deps: GatewayDeps, *, local: bool) -> FastAPI:
    """An app of `/metrics` alone, without keys.

    Args:
        deps: those of the gateway whose requests it tells, too.
        local: it listens on loopback only, so it answers under loopback names only: a foreign page must not read it.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    problems.install(app)

    @app.get("/metrics")
    async def metrics(request: Request) -> Response:
        if local:
            require_local(request)
        return await metrics_answer(deps)

    return app
