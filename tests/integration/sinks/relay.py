"""A TCP port on loopback before a server on a Unix socket, whose connections a test can cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_PIECE = 1 << 16


@dataclass
class Relay:
    """The connections through the port."""

    port: int = 0
    accepts: bool = True
    opened: int = 0  # connections, in all
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def cut(self) -> None:
        """Ends all connections, in the middle of what they carry."""
        for writer in self.writers:
            writer.transport.abort()


@asynccontextmanager
async def relay(socket: str) -> AsyncIterator[Relay]:
    """A port before the Unix socket."""
    state, pipes = Relay(), set[asyncio.Task[None]]()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            while piece := await reader.read(_PIECE):
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not state.accepts:
            writer.transport.abort()
            return
        state.opened += 1
        there_reader, there_writer = await asyncio.open_unix_connection(socket)
        state.writers |= {writer, there_writer}
        pipes.add(asyncio.create_task(pipe(reader, there_writer)))
        pipes.add(asyncio.create_task(pipe(there_reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()
        state.cut()
        for task in pipes:
            task.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)
