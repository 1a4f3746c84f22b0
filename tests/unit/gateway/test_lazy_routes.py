"""Routes that are analyzed at their first request."""

from __future__ import annotations

import json
import re

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from shoal.services.web.http.lazy_route import LazyRoute, add_routes
from tests.gateway_world import world


def app_with(router: APIRouter) -> FastAPI:
    app = FastAPI()
    add_routes(app, router)
    return app


async def test_a_route_is_analyzed_when_it_is_asked_for_and_not_before() -> None:
    router = APIRouter(prefix="/v1", route_class=LazyRoute)

    @router.get("/double/{number}")
    async def double(number: int) -> dict[str, int]:
        return {"double": 2 * number}

    (route,) = router.routes
    assert "dependant" not in vars(route)
    transport = httpx.ASGITransport(app_with(router))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert (await client.get("/v1/double/4")).json() == {"double": 8}
        assert "dependant" in vars(route)
        assert (await client.get("/v1/double/four")).status_code == 422
        assert (await client.post("/v1/double/4")).status_code == 405


def test_an_attribute_that_no_route_has_is_missing() -> None:
    router = APIRouter(route_class=LazyRoute)
    router.add_api_route("/", lambda: None)
    with pytest.raises(AttributeError, match="no_such_thing"):
        getattr(router.routes[0], "no_such_thing")  # noqa: B009


async def test_every_route_of_the_gateway_can_be_analyzed() -> None:
    async with world() as here:
        assert len(here.app.openapi()["paths"]) > 30
        routes = [route for route in here.app.routes if isinstance(route, LazyRoute)]
        assert len(routes) > 70
        assert all(route.dependant.call is not None for route in routes)


async def test_every_schema_that_the_document_refers_to_is_in_it() -> None:
    async with world() as here:
        document = here.app.openapi()
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert len(names) > 60
    assert names - document["components"]["schemas"].keys() == set()
