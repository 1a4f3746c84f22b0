"""Misbehaviour on purpose: answers that are late, wrong, cut short or never come, the same in every run.

What happens is a pure function of the seed, the path and how often the client has asked; no clock and no shared
random generator take part.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from random import Random

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from shop.served import client_of

RETRY_AFTER_S = 1
HANG_AT_MOST_S = 600  # so that a forgotten connection does not live for ever
SLOW_AT_MOST_MS = 60_000


class Fault(Enum):
    """Faults of the first request for a product page."""

    SERVER_ERROR = "500"
    TOO_MANY = "429"
    SLOW = "slow"
    DROP = "drop"


@dataclass
class FaultBox:
    """Decides which requests go wrong, and remembers how often each client asked for what."""

    seed: int
    share: float  # 0-1: of the product pages, those that fail once per client
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)  # (client, path) -> requests so far

    def planned(self, path: str) -> Fault | None:
        """Return what the first request for that path will meet, or None."""
        rng = Random(f"{self.seed}:fault:{path}")
        return rng.choice(list(Fault)) if rng.random() < self.share else None

    def count(self, client: str, path: str) -> int:
        """Return how often that client has asked for that path, this time included."""
        self.asked[client, path] += 1
        return self.asked[client, path]

    def meets(self, client: str, path: str) -> Fault | None:
        """Return what this request for a product page meets: the planned fault the first time, then nothing."""
        return self.planned(path) if self.share > 0 and self.count(client, path) == 1 else None

    def reset(self) -> None:
        """Forget who asked for what, so that the same faults come again."""
        self.asked.clear()


class DroppedResponse(Response):
    """Promises the whole body, sends half of it and closes the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body)[: len(self.body) // 2], "more_body": True})


class NoResponse(Response):
    """Sends nothing at all, for a client that is gone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        return None


def too_many() -> Response:
    """429 with Retry-After."""
    text = "<h1>Too many requests</h1><p>You are asking faster than we can answer. Please try again in a moment.</p>"
    return HTMLResponse(text, status_code=429, headers={"Retry-After": str(RETRY_AFTER_S)})


def server_error() -> Response:
    """500, as a shop's proxy would show it."""
    text = "<h1>Something went wrong</h1><p>We could not load this page. Our engineers have been told.</p>"
    return HTMLResponse(text, status_code=500)


def _number(request: Request, name: str, default: float) -> float:
    try:
        return float(request.query_params.get(name, default))
    except ValueError:
        return default


def _box(request: Request) -> FaultBox:
    box: FaultBox = request.app.state.shop.faults
    return box


async def fault_429(request: Request) -> Response:
    """429 for the first `n` requests of a client (2 unless told), then 200."""
    allowed_after = int(_number(request, "n", 2))
    if _box(request).count(client_of(request), request.url.path) <= allowed_after:
        return too_many()
    return HTMLResponse("<h1>Welcome back</h1><p>Thank you for waiting.</p>")


async def fault_flaky(request: Request) -> Response:
    """500 for a seeded share (`rate`, 0.3 unless told) of a client's requests."""
    box = _box(request)
    turn = box.count(client_of(request), request.url.path)
    if Random(f"{box.seed}:flaky:{turn}").random() < _number(request, "rate", 0.3):
        return server_error()
    return HTMLResponse("<h1>Service status</h1><p>All systems are working.</p>")


async def fault_hang(request: Request) -> Response:
    """Answers nothing until the client gives up, for ten minutes at most."""
    try:
        async with asyncio.timeout(HANG_AT_MOST_S):
            while (await request.receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return PlainTextResponse("Still nothing to say.", status_code=504)
    return NoResponse()


async def fault_drop(request: Request) -> Response:
    """Half a page, then the connection is closed."""
    return DroppedResponse("<h1>Warehouse list</h1>" + "<p>One more shelf of goods.</p>" * 200, media_type="text/html")


async def fault_redirect_loop(request: Request) -> Response:
    """Two pages that send the visitor to each other for ever."""
    there = "/fault/redirect-loop/b" if request.url.path.endswith("loop") else "/fault/redirect-loop"
    return RedirectResponse(there, status_code=302)


async def fault_slow(request: Request) -> Response:
    """A page that comes after `ms` milliseconds (1,500 unless told)."""
    delay_ms = min(max(_number(request, "ms", 1500), 0), SLOW_AT_MOST_MS)
    await asyncio.sleep(delay_ms / 1000)
    return HTMLResponse(f"<h1>Stock report</h1><p>Put together in {delay_ms:.0f} ms.</p>")


routes = [
    Route("/fault/429", fault_429),
    Route("/fault/flaky", fault_flaky),
    Route("/fault/hang", fault_hang),
    Route("/fault/drop", fault_drop),
    Route("/fault/redirect-loop", fault_redirect_loop),
    Route("/fault/redirect-loop/b", fault_redirect_loop),
    Route("/fault/slow", fault_slow),
]
