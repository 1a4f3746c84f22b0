"""Product pages for `tiers.py`, static ones and such that a script fills, from a server that costs next to nothing.

    python load-tests/bench/_tier_site.py

It prints its address as a line of JSON, and serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SPECS = ("Colour", "Material", "Width", "Height", "Depth", "Origin", "Care", "Warranty")
_MATERIALS = ("oak", "steel", "linen", "glass", "cork", "wool", "brass")
_SCRIPT = """<script>
const data = JSON.parse(document.getElementById('product').textContent);
document.querySelector('h1').textContent = data.name;
document.querySelector('.price').textContent = data.currency + ' ' + data.price.toFixed(2);
document.querySelector('.sku').textContent = data.sku;
document.querySelector('.weight').textContent = data.weight;
</script>"""


def truth(n: int) -> dict[str, Any]:
    """Return what product `n` is."""
    return {
        "name": f"{_MATERIALS[n % 7].title()} shelf no. {n}",
        "price": 10 + n % 997 + (n * 7 % 100) / 100,
        "currency": "EUR",
        "sku": f"SH-{n:06}",
        "weight": f"{1 + n % 40 / 10:.1f} kg",
    }


def static_page(n: int) -> bytes:
    """Product `n` as microdata and a table, among what a shop's pages have beside it: 260 elements."""
    it = truth(n)
    body = f"""<main itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">{it["name"]}</h1>
<p>Article <span itemprop="sku">{it["sku"]}</span></p>
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><span class="price" itemprop="price"
 content="{it["price"]:.2f}">€{it["price"]:.2f}</span><meta itemprop="priceCurrency" content="EUR"></div>
{_table(it["weight"], n)}</main>"""
    return _page(body, it["name"], n)


def scripted_page(n: int) -> bytes:
    """Product `n` as a script shows it: without the script the page states nothing."""
    it = truth(n)
    data = json.dumps(it)
    body = f"""<main><h1></h1><p>Article <span class="sku"></span></p><p>Price: <span class="price"></span></p>
<table><tr><th>Weight</th><td class="weight"></td></tr></table>
<script type="application/x-product" id="product">{data}</script>{_SCRIPT}</main>"""
    return _page(body, "Shelf", n)


def _table(weight: str, n: int) -> str:
    rows = "".join(f"<tr><th>{name}</th><td>{_MATERIALS[(n + i) % 7]} {i}</td></tr>" for i, name in enumerate(_SPECS))
    return f"<table><tr><th>Weight</th><td>{weight}</td></tr>{rows}</table>"


def _page(main: str, title: str, n: int) -> bytes:
    links = "".join(f'<li><a href="/category/{i}">Category {i}</a></li>' for i in range(40))
    like = "".join(
        f'<div class="card"><a href="/static/{n + i}"><i></i><b>{truth(n + i)["name"]}</b></a></div>\n'
        for i in range(1, 25)
    )
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="icon" href="data:,"><style>body {{ font: 14px sans-serif }} .card {{ float: left; width: 12em }}</style>
</head><body><header><nav><ul>{links}</ul></nav></header>{main}
<section><h2>Others also liked</h2>{like}</section>
<footer><p>Shelves of all kinds. Prices include VAT.</p></footer></body></html>""".encode()


class _Answering(asyncio.Protocol):
    """HTTP/1.1 with kept connections; requests have no bodies."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            path = self._buffer.split(b" ", 2)[1].decode()
            self._buffer = self._buffer[end + 4 :]
            kind, _, number = path.strip("/").partition("/")
            page = {"static": static_page, "scripted": scripted_page}.get(kind)
            body = page(int(number)) if page is not None and number.isdigit() else b""
            head = f"HTTP/1.1 {'200 OK' if body else '404 Not Found'}\r\nContent-Type: text/html; charset=utf-8\r\n"
            self._transport.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Answering, "127.0.0.1", 0)
    print(json.dumps({"url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


@contextmanager
def tier_site() -> Iterator[str]:
    """The address of a running server."""
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.stdin.close()


if __name__ == "__main__":
    asyncio.run(_serve())
