"""A shop whose prices a test sets, and what was asked of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.loopback import served

_PAGE = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body>{}</body></html>'
FIELDS = {"name": {"select": "h1"}, "price": {"select": ".price", "reader": "price"}}
"""Places of a product's fields, while the layout is the usual one."""


class PricedShop:
    """Prices by product, and the requests for their pages: `browser`, `document`, or `unchanged` (304)."""

    def __init__(self, plain: frozenset[int] = frozenset()) -> None:
        """`plain`: products whose pages tell neither ETag nor Last-Modified."""
        self.prices: dict[int, float] = {}
        self.asked: dict[int, list[str]] = {}
        self.relaunched = frozenset[int]()  # products whose pages have another layout, in which prices are pictures
        self.changed: dict[int, str] = {}  # when products changed last, as the sitemap says
        self._plain = plain

    def answer(self, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of a page."""
        if path == "/":
            links = "".join(f'<li><a class="product" href="/p/{n}">Product {n}</a></li>' for n in self.prices)
            return 200, {}, _PAGE.format(f"<h1>All</h1><ul>{links}</ul>")
        if path == "/sitemap.xml":
            said = "".join(
                f"<url><loc>/p/{n}</loc><lastmod>{self.changed.get(n, '2026-01-01')}</lastmod></url>"
                for n in self.prices
            )
            return 200, {"Content-Type": "application/xml"}, f"<urlset><url><loc>/</loc></url>{said}</urlset>"
        n = int(path.removeprefix("/p/")) if path.startswith("/p/") else 0
        if n not in self.prices:
            return 404, {}, "gone"
        body = _PAGE.format(self._product(n))
        tag = f'"{hashlib.sha256(body.encode()).hexdigest()[:12]}"'
        known = n not in self._plain and headers.get("If-None-Match") == tag
        kind = "browser" if headers.get("Sec-Fetch-Mode") else "unchanged" if known else "document"
        self.asked.setdefault(n, []).append(kind)
        return 304 if known else 200, {} if n in self._plain else {"ETag": tag}, "" if known else body

    def _product(self, n: int) -> str:
        if n in self.relaunched:
            return f'<header><h1>Product {n}</h1></header><main><img class="cost" src="/price/{n}.png" alt=""></main>'
        return f'<h1>Product {n}</h1><p>Price: <b class="price">€{self.prices[n]:.2f}</b></p>'


@contextmanager
def priced_shop(plain: frozenset[int] = frozenset()) -> Iterator[tuple[PricedShop, str]]:
    """A served shop, and its address."""
    shop = PricedShop(plain)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = shop.answer(self.path, dict(self.headers))
            self.send_response(status)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Silence."""

    with served(Handler) as url:
        yield shop, url
