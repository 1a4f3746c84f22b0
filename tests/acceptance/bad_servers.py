"""Servers that are of no use, each in its own way, on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.loopback import served


class _Silent(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


class _Gone(_Silent):
    """A receiver of webhooks that wants no more of them."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_error(410)


class _Busy(_Silent):
    """A site that asks everybody to come again in two minutes."""

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self.send_error(404)
            return
        self.send_response(429)
        self.send_header("Retry-After", "120")
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def gone_receiver() -> Iterator[str]:
    """Yield where webhooks are answered with 410."""
    with served(_Gone) as url:
        yield f"{url}/hook"


@contextmanager
def busy_site() -> Iterator[str]:
    """A site that answers every page with 429."""
    with served(_Busy) as url:
        yield url


@contextmanager
def hanging_site() -> Iterator[str]:
    """A site whose pages come only when the context ends."""
    over = threading.Event()

    class Hanging(_Silent):
        def do_GET(self) -> None:
            if self.path != "/robots.txt":
                over.wait(60)
            self.send_error(404)

    with served(Hanging) as url:
        try:
            yield url
        finally:
            over.set()
