"""Frames: a script that runs in this origin by some fault finds no page of ours that it could frame and read."""

from __future__ import annotations

from fastapi.routing import APIRoute

from tests.gateway_world import completed, world

FRAMED_BY_US = {"/sessions/{session}/recordings/{artifact}", "/sessions/{session}/recordings/{artifact}/events"}
STREAMS = ("/events", "/live/stream", "/live/picture")
PLACES = {"job": "j1", "session": "s1", "name": "shoal.js", "path": "index.html", "tenant": "acme"}


async def test_no_answer_can_be_framed() -> None:
    async with world() as here:
        await here.submit()
        await here.run(lambda work: completed({"n": 1}))
        seen = set()
        for route in here.app.routes:
            if isinstance(route, APIRoute) and "GET" in route.methods and not route.path.endswith(STREAMS):
                address = route.path.replace(":path}", "}").format_map(
                    {name: "x" for name in route.param_convertors} | PLACES
                )
                answer = await here.client.get(address)
                policy = answer.headers["content-security-policy"]
                unframed = "frame-ancestors 'none'" in policy or "sandbox" in policy.replace("allow-same-origin", "")
                assert unframed or route.path in FRAMED_BY_US, (address, policy)
                assert answer.headers["x-content-type-options"] == "nosniff", address
                seen.add(route.path)
        assert {"/static/{name}", "/trace-viewer/{path:path}", "/login", "/v1/jobs", "/artifacts/{artifact}"} <= seen
        for address in ("/static/icon.svg", "/static/nothing", "/nothing", "/v1/nothing", "/openapi.json"):
            assert "frame-ancestors 'none'" in (await here.client.get(address)).headers["content-security-policy"]
