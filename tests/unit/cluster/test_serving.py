"""The HTTP server around gateway and health checks."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from shoal.services.cluster.serving import listening, served

MOST = 16_000_000


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def test_headers_without_end_are_cut_off() -> None:
    """They come before any key is looked at: any client that reaches the gateway could fill its memory."""
    with listening("127.0.0.1", 0) as listener:
        async with served(app, listener, "test server") as url:
            where = urlsplit(url)
            reader, writer = await asyncio.open_connection(where.hostname, where.port)
            sent = 0
            try:
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
                while sent < MOST:
                    writer.write(b"x-%d: " % sent + b"a" * 10_000 + b"\r\n")
                    await writer.drain()
                    sent += 10_000
                writer.write(b"\r\n")
                answer = await reader.read(12)
            except ConnectionError:
                answer = b""
            writer.close()
    assert sent < MOST and answer in (b"", b"HTTP/1.1 400"), f"{sent:,} bytes were taken, and the answer is {answer!r}"
