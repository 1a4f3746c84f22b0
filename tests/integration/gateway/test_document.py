"""The API against its own openapi.json: requests made from it, answers checked by it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.gateway_world import completed, loop_of, world
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """A gateway on a loopback port, with a final job in it."""
    ready, found = threading.Event(), []

    async def live() -> None:
        async with world() as made:
            await made.submit(loop={"values": ["a", "b"]})
            await made.run(loop_of(["a", "b"], lambda work: completed({"a": 1})))
            config = uvicorn.Config(made.app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1)
            server, socket = uvicorn.Server(config), config.bind_socket()
            task = asyncio.create_task(server.serve([socket]))
            while not server.started:
                await asyncio.sleep(0.005)
            found.extend([server, f"http://127.0.0.1:{socket.getsockname()[1]}"])
            ready.set()
            await task
            socket.close()

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    assert ready.wait(PATIENCE_S)
    yield found[1]
    found[0].should_exit = True
    thread.join(PATIENCE_S)


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: object) -> bytes:
    """JSON lines as the document describes them: any text."""
    return str(value).encode("utf-8", "replace")


CHECKS = [
    *(status_code_conformance, content_type_conformance),
    *(response_headers_conformance, response_schema_conformance),
]


def test_answers_are_what_the_document_says(served: str) -> None:
    document = schemathesis.openapi.from_url(f"{served}/openapi.json", timeout=PATIENCE_S)
    seen = set()
    for found in document.get_all_operations():
        operation = found.ok()
        if operation.path.endswith(("/events", "/jobs:try")):  # streams that never end, and waiting for workers
            continue
        seen.add(f"{operation.method.upper()} {operation.path}")

        @settings(max_examples=6, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def hold(case: schemathesis.Case) -> None:
            answer = case.call(timeout=PATIENCE_S)
            assert answer.status_code < 500, answer.text
            case.validate_response(answer, checks=CHECKS)

        hold()
    assert {"POST /v1/jobs", "POST /v1/jobs:batch", "GET /v1/jobs/{job}/results", "GET /metrics"} <= seen
