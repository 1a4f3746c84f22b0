"""A TCP port in front of a Unix socket, so that those who reach the socket by the network alone can be cut off it."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress


async def main() -> None:
    """`_chaos_door.py HOST PORT SOCKET`"""
    host, port, socket = sys.argv[1], int(sys.argv[2]), sys.argv[3]

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65_536):
                writer.write(piece)
                await writer.drain()
        finally:
            writer.close()

    async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inside = await asyncio.open_unix_connection(socket)
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


if __name__ == "__main__":
    asyncio.run(main())
