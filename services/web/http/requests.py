"""Middleware for every request: its id, its line in the metrics, its headers."""

from __future__ import annotations

import itertools
import re
import secrets
import time
from collections.abc import Mapping

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.services.metrics import Metrics

_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNKNOWN_ROUTE = "(none)"
_UNFRAMED = "frame-ancestors 'none'"
"""The policy of answers that bring none of their own: a script in a frame of this origin could read all of it."""


class RequestContext:
    """ASGI middleware: gives each request an id (the caller's own, if it is a plain one), and counts it."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        # Unique by a random start of each process and a count: asking the system for randomness each time costs
        # more than the rest of this class.
        self._start = secrets.token_hex(8)
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one connection; other kinds than HTTP pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope).get("x-request-id", "")
        request_id = asked if _ACCEPTED_ID.fullmatch(asked) else f"{self._start}-{next(self._numbers)}"
        scope["shoal.request_id"] = request_id
        started = time.perf_counter()
        answered = False

        async def send_noted(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Cache-Control", "no-store")
                if "content-security-policy" not in headers:
                    headers["Content-Security-Policy"] = _UNFRAMED
                self._count(scope, message["status"], time.perf_counter() - started)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_noted)
            finally:
                if not answered:
                    self._count(scope, 500, time.perf_counter() - started)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = _route_of(scope)
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self._metrics.http_requests.labels(method, route, str(status)).inc()
        self._metrics.http_seconds.labels(method, route).observe(seconds)


def _route_of(scope: Mapping[str, object]) -> str:
    """The route's template, never the path itself: ids would make a metric of each."""
    return str(getattr(scope.get("route"), "path", UNKNOWN_ROUTE))
