"""A loop that runs twice on a shop: what has not changed is not opened again, and every record is true each day."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest

from tests.embedded import Up
from tests.loopback import served

pytestmark = pytest.mark.timeout(280)

FIELDS = {"name": {"select": "h1"}, "price": {"select": ".price", "reader": "price"}}
PLAIN = frozenset({3, 13})
"""Products whose pages tell neither ETag nor Last-Modified."""


class Shop:
    """Prices by product, and the requests for their pages: `browser`, `document`, or `unchanged` (304)."""

    def __init__(self) -> None:
        self.prices: dict[int, float] = {}
        self.asked: dict[int, list[str]] = {}

    def answer(self, path: str, headers: Any) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of a page."""
        if path == "/":
            links = "".join(f'<li><a class="product" href="/p/{n}">Product {n}</a></li>' for n in self.prices)
            return 200, {}, f'<!doctype html><html lang="en"><meta charset="utf-8"><h1>All</h1><ul>{links}</ul></html>'
        n = int(path.removeprefix("/p/")) if path.startswith("/p/") else 0
        if n not in self.prices:
            return 404, {}, "gone"
        body = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body>'
            f'<h1>Product {n}</h1><p>Price: <b class="price">€{self.prices[n]:.2f}</b></p></body></html>'
        )
        tag = f'"{hashlib.sha256(body.encode()).hexdigest()[:12]}"'
        known = n not in PLAIN and headers.get("If-None-Match") == tag
        kind = "browser" if headers.get("Sec-Fetch-Mode") else "unchanged" if known else "document"
        self.asked.setdefault(n, []).append(kind)
        return 304 if known else 200, {} if n in PLAIN else {"ETag": tag}, "" if known else body


@pytest.fixture
def shop() -> Iterator[tuple[Shop, str]]:
    here = Shop()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = here.answer(self.path, self.headers)
            self.send_response(status)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Silence."""

    with served(Handler) as url:
        yield here, url


def test_pages_that_have_not_changed_keep_their_records_and_are_not_opened(cluster: Up, shop: tuple[Shop, str]) -> None:
    here, url = shop
    here.prices = {n: n + 0.5 for n in range(1, 21)}
    spec = {
        **{"url": url, "goal": "Read every product", "loop": {"from": {"select": "a.product"}, "concurrency": 2}},
        **{"extract": {"fields": FIELDS}, "artifacts": {"evidence": "document"}, "politeness": {"robots": False}},
        **{"changes": {"skip_unchanged": True}, "policy": "rules"},
    }

    def run() -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
        here.asked.clear()
        job = cluster.submit(spec)
        final = cluster.final(job, 120)
        assert final["status"] == "completed", final
        rows = cluster.results(job)
        read = {int(row["record"]["name"].split()[1]): row["record"]["price"] for row in rows}
        assert read == here.prices
        return job, final, rows

    first, final, rows = run()
    assert final["usage"]["carried_over"] == 0 and all(row["carried_over"] is None for row in rows)
    del here.prices[20]
    here.prices |= {5: 99.0, 6: 98.0, 21: 21.5}
    second, final, rows = run()
    same = here.prices.keys() - {5, 6, 21}
    asked = {n: here.asked[n] for n in same}
    assert asked == {n: ["document" if n in PLAIN else "unchanged"] for n in same}, "once each, and by no browser"
    assert all("browser" in here.asked[n] or "document" in here.asked[n] for n in (5, 6, 21))
    carried = {row["record"]["name"]: row["carried_over"] for row in rows if row["carried_over"]}
    assert final["usage"]["carried_over"] == len(carried) == len(same)
    assert Counter(told["by"] for told in carried.values()) == {
        "not_modified": len(same - PLAIN),
        "same_content": len(PLAIN),
    }
    sessions = {row["session"]: row["at"] for row in cluster.results(first)}
    for row in rows:
        if row["carried_over"]:
            assert row["at"] == sessions[row["carried_over"]["session"]], "when and by which session it was read"
    third, final, rows = run()
    assert final["usage"]["carried_over"] >= len(same), "a record is carried over again, from the session that read it"
    assert {row["carried_over"]["session"] for row in rows if row["record"]["name"] in carried} <= sessions.keys()
    answer = httpx.get(f"{cluster.url}/v1/jobs/{second}/changes?since={first}")
    told = Counter(json.loads(line)["change"] for line in answer.text.splitlines())
    assert told == {"appeared": 1, "went": 1, "changed": 2}, answer.text
    assert httpx.get(f"{cluster.url}/v1/jobs/{third}/changes").text == ""
