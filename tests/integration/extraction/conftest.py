"""Pages whose facts stand at places that a job can name, and a real Chromium that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.integration.extraction.pages import PAGES, listed
from tests.loopback import served


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        page = PAGES.get(parts.path)
        if parts.path == "/linked":
            page = listed(int(parse_qs(parts.query).get("page", ["1"])[0]))
        body = (page or "<h1>Not here</h1>").encode()
        self.send_response(200 if page else 404)
        kind = "application/json" if parts.path.endswith(".json") else "text/html; charset=utf-8"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        raise AssertionError("a list is read without sending anything")

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(Handler) as url:
        yield url
