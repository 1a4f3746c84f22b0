"""A model server for tests: OpenAI's chat completions over real HTTP on loopback, as well or badly behaved as told."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from shoal.agent.support.json_value import Json

Behaviour = Callable[["ModelServer", dict[str, Json]], "Response | None"]
"""The treatment of one request: an HTTP response, or None for the script's next answer."""


class ModelServer:
    """One server with a queue of behaviours (then: well behaved) and a script of answers.

    `requests` holds every body that came, in order, `headers` their headers.
    """

    def __init__(self, answers: Iterable[Json] | Callable[[dict[str, Json]], Json] = ()) -> None:
        self.requests: list[dict[str, Json]] = []
        self.headers: list[dict[str, str]] = []
        self.behaviours: list[Behaviour] = []
        self.always: Behaviour | None = None  # for every request that no queued behaviour takes
        self.url = ""
        self.in_flight = 0
        self.most_in_flight = 0
        self.release = asyncio.Event()  # what `slow` requests wait for
        self._function = answers if callable(answers) else None
        self._answers = iter(()) if callable(answers) else iter(list(answers))

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/v1/chat/completions")
        async def chat(request: Request) -> Response:
            body = await request.json()
            self.requests.append(body)
            self.headers.append(dict(request.headers))
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                behaviour = self.behaviours.pop(0) if self.behaviours else self.always
                if behaviour is slow:
                    await self.release.wait()
                    behaviour = None
                response = behaviour(self, body) if behaviour else None
                return response or completion(self.answer(body), body)
            finally:
                self.in_flight -= 1

        return app

    def answer(self, body: dict[str, Json]) -> str:
        answer = self._function(body) if self._function else next(self._answers)
        return answer if isinstance(answer, str) else json.dumps(answer)


def completion(text: str, body: dict[str, Json], *, finish_reason: str = "stop") -> Response:
    prompt = len(json.dumps(body["messages"])) // 4
    return JSONResponse(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish_reason,
                    "message": {"role": "assistant", "content": text},
                }
            ],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": len(text) // 4,
                "total_tokens": prompt + len(text) // 4,
                "prompt_tokens_details": {"cached_tokens": prompt // 2},
            },
        }
    )


def status(code: int, message: str = "no", **headers: str) -> Behaviour:
    """Answers with an HTTP error in OpenAI's form."""
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda server, body: JSONResponse({"error": {"message": message, "code": None}}, code, shown)


def slow(server: ModelServer, body: dict[str, Json]) -> Response | None:
    """Answers only once the test sets `release`; recognised by the route."""
    raise AssertionError("the route takes this one itself")


def replies(text: str, finish_reason: str = "stop") -> Behaviour:
    """A completion with exactly this text."""
    return lambda server, body: completion(text, body, finish_reason=finish_reason)


def raw(content: bytes, media_type: str = "application/json") -> Behaviour:
    """A 200 with any bytes: a proxy's page, half an answer, another protocol."""
    return lambda server, body: Response(content, media_type=media_type)


def refuses_schema(server: ModelServer, body: dict[str, Json]) -> Response | None:
    """400 for any `response_format`, as servers without structured output answer."""
    if "response_format" in body:
        return JSONResponse({"error": {"message": "response_format is not supported", "code": None}}, 400)
    return None


def drops(server: ModelServer, body: dict[str, Json]) -> Response:
    """Promises more bytes than it sends, then closes the connection."""
    return _Dropping()


class _Dropping(Response):
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"id": ', "more_body": True})
        scope["extensions"]["test.abort"]()


@asynccontextmanager
async def serving(server: ModelServer) -> AsyncIterator[ModelServer]:
    """`server` on a free loopback port; `server.url` is its base URL."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(_abortable(server.app()), log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    runner = uvicorn.Server(config)
    server.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    task = asyncio.create_task(runner.serve(sockets=[listener]))
    try:
        await until(lambda: runner.started)
        yield server
    finally:
        server.release.set()
        runner.should_exit = True
        await task
        listener.close()


async def until(condition: Callable[[], bool]) -> None:
    """Returns when `condition` holds; the test's own time limit bounds it."""
    while not condition():
        await asyncio.sleep(0.001)


def _abortable(app: FastAPI) -> Any:
    """Gives a response a way to cut its connection."""

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            transport = getattr(getattr(send, "__self__", None), "transport", None)
            scope.setdefault("extensions", {})["test.abort"] = transport.abort if transport else lambda: None
        await app(scope, receive, send)

    return wrapped
