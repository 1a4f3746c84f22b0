"""A TCP port in front of a Unix socket or another port: a part that knows no other way to it can be cut off.

While this process stands still (SIGSTOP) nothing passes: connections stay open and say nothing, new ones get no answer.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress


async def main() -> None:
    """`_chaos_door.py HOST PORT SOCKET` or `_chaos_door.py HOST PORT HOST:PORT`"""
    host, port, inner = sys.argv[1], int(sys.argv[2]), sys.argv[3]

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65_536):
                writer.write(piece)
                await writer.drain()
        finally:
            writer.close()

    async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inside = await _opened(inner)
        except OSError:  # the server is away
            writer.close()
            return
        with suppress(ExceptionGroup):  # one of the two is gone, and so is the other one then
            async with asyncio.TaskGroup() as ways:
                ways.create_task(pass_on(reader, inside[1]))
                ways.create_task(pass_on(inside[0], writer))

    server = await asyncio.start_server(enter, host, port)
    async with server:
        await server.serve_forever()


async def _opened(inner: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if inner.startswith("/"):
        return await asyncio.open_unix_connection(inner)
    host, _, port = inner.rpartition(":")
    return await asyncio.open_connection(host, int(port))


if __name__ == "__main__":
    asyncio.run(main())
