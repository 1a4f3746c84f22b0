"""The log of the site: every request and every accepted form, counted per path, host and client.

Tests ask it over `/_log/...` (see `admin.py`), for example how many requests at once a host saw or whether a form
was sent exactly once. The routes below `/_` are not recorded.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Enough for the longest benchmark; counters go on beyond it, only the list forgets its oldest entries.
KEPT_REQUESTS = 200_000
KEPT_FORMS = 200_000

ASSET_PREFIXES = ("/static/", "/media/", "/favicon")


def client_of(connection: HTTPConnection) -> str:
    """Who asks: the header `X-Client`, else the cookie `x-client`, else remote address and user agent."""
    named = connection.headers.get("x-client") or connection.cookies.get("x-client")
    if named:
        return named
    address = connection.client.host if connection.client else "unknown"
    return f"{address} {connection.headers.get('user-agent', '')}".strip()


@dataclass
class Entry:
    """One request. The last four fields are filled in when it ends."""

    at: str  # ISO 8601, UTC
    method: str
    path: str
    query: str
    host: str  # the Host header
    client: str  # see client_of
    user_agent: str
    asset: bool  # style, script or picture, not a page
    in_flight: int  # requests to this host in flight when it came, itself included
    status: int = 0  # 0: no answer was begun
    bytes: int = 0  # of the body, as sent
    ms: float = 0.0  # until the last byte was handed over
    complete: bool = False  # False while it runs, and when the connection was dropped


@dataclass
class Gauge:
    """Counts of requests: those that run now, and the most that ran at once."""

    requests: int = 0
    now: int = 0
    most: int = 0
    pages_now: int = 0  # the same without style, scripts and pictures
    pages_most: int = 0

    def enter(self, asset: bool) -> None:
        """Count a request that begins."""
        self.requests += 1
        self.now += 1
        self.most = max(self.most, self.now)
        if not asset:
            self.pages_now += 1
            self.pages_most = max(self.pages_most, self.pages_now)

    def leave(self, asset: bool) -> None:
        """Count a request that ended, however it ended."""
        self.now -= 1
        if not asset:
            self.pages_now -= 1

    def figures(self) -> dict[str, int]:
        """The gauge as the summary shows it."""
        return {
            "requests": self.requests,
            "in_flight": self.now,
            "max_in_flight": self.most,
            "max_pages_in_flight": self.pages_most,
        }


@dataclass(frozen=True)
class Attachment:
    """A file that came with a form."""

    name: str
    content_type: str
    size: int  # bytes
    sha256: str


@dataclass(frozen=True)
class Submission:
    """A form that was accepted. The same form sent twice gives two of these."""

    form: str  # quote, callback, order, newsletter or contact
    reference: str
    at: str  # ISO 8601, UTC
    client: str
    fields: dict[str, str]
    file: Attachment | None


@dataclass
class ServedLog:
    """Counts and lists of everything since the start or the last reset."""

    requests: deque[Entry] = field(default_factory=lambda: deque(maxlen=KEPT_REQUESTS))
    forms: deque[Submission] = field(default_factory=lambda: deque(maxlen=KEPT_FORMS))
    paths: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    overall: Gauge = field(default_factory=Gauge)
    hosts: dict[str, Gauge] = field(default_factory=dict)
    clients: dict[str, Gauge] = field(default_factory=dict)

    def begin(self, scope: Scope) -> tuple[Entry, tuple[Gauge, ...]]:
        """Record that a request came; the gauges are to be left when it ends."""
        connection = HTTPConnection(scope)
        path = connection.url.path
        asset = path.startswith(ASSET_PREFIXES)
        host, client = connection.headers.get("host", ""), client_of(connection)
        gauges = (self.overall, self.hosts.setdefault(host, Gauge()), self.clients.setdefault(client, Gauge()))
        for gauge in gauges:
            gauge.enter(asset)
        entry = Entry(
            at=datetime.now(UTC).isoformat(),
            method=scope["method"],
            path=path,
            query=connection.url.query,
            host=host,
            client=client,
            user_agent=connection.headers.get("user-agent", ""),
            asset=asset,
            in_flight=gauges[1].now,
        )
        self.requests.append(entry)
        self.paths[path] += 1
        return entry, gauges

    def accept(self, submission: Submission) -> None:
        """Record a form that was accepted."""
        self.forms.append(submission)

    def reset(self) -> None:
        """Forget everything; requests that still run end in gauges that are no longer read."""
        self.requests.clear()
        self.forms.clear()
        self.paths.clear()
        self.statuses.clear()
        self.overall = Gauge()
        self.hosts.clear()
        self.clients.clear()

    def summary(self) -> dict[str, Any]:
        """Counts per path, status, host and client, with the most requests seen at once."""
        return {
            **self.overall.figures(),
            "by_path": dict(self.paths),
            "by_status": dict(self.statuses),
            "by_host": {host: gauge.figures() for host, gauge in self.hosts.items()},
            "by_client": {client: gauge.figures() for client, gauge in self.clients.items()},
            "forms": dict(Counter(submission.form for submission in self.forms)),
        }

    def listed(self, path: str | None, client: str | None, method: str | None) -> list[dict[str, Any]]:
        """The requests that fit, oldest first; a path that ends in * is a prefix."""
        return [
            asdict(entry)
            for entry in self.requests
            if (path is None or _fits(entry.path, path))
            and (client is None or entry.client == client)
            and (method is None or entry.method == method.upper())
        ]


def _fits(path: str, wanted: str) -> bool:
    return path.startswith(wanted[:-1]) if wanted.endswith("*") else path == wanted


class ServedMiddleware:
    """Writes the log around every HTTP request, from its first byte to the last one of the answer."""

    def __init__(self, app: ASGIApp, log: Callable[[], ServedLog]) -> None:
        self.app = app
        self.log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/_"):
            await self.app(scope, receive, send)
            return
        log = self.log()
        entry, gauges = log.begin(scope)
        began = time.perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                entry.status = message["status"]
                log.statuses[str(entry.status)] += 1
            elif message["type"] == "http.response.body":
                entry.bytes += len(message.get("body", b""))
                entry.complete = not message.get("more_body", False)
                entry.ms = round((time.perf_counter() - began) * 1000, 2)
            await send(message)

        try:
            await self.app(scope, receive, counted)
        finally:
            for gauge in gauges:
                gauge.leave(entry.asset)
