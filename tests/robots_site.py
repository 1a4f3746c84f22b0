"""A local site that has a robots.txt, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

RULES = b"""User-agent: *
Disallow: /
User-agent: shoal
Allow: /private/open
Disallow: /private
Disallow: /*.pdf$
Crawl-delay: 1.5
"""


class Site:
    """Serves `body` as /robots.txt with `status`, once `open` is set, and counts the requests."""

    def __init__(self) -> None:
        self.status = "200 OK"
        self.fields = ""
        self.body = b""
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.open.set()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.asked.append(head.decode().split(" ")[1])
            await self.open.wait()
            answer = (
                f"HTTP/1.1 {self.status}\r\n{self.fields}Content-Length: {len(self.body)}\r\nConnection: close\r\n\r\n"
            )
            writer.write(answer.encode() + self.body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving() -> AsyncIterator[Site]:
    """The site, for as long as the context lasts."""
    found = Site()
    async with await asyncio.start_server(found.serve, "127.0.0.1", 0) as server:
        found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield found
        found.open.set()
