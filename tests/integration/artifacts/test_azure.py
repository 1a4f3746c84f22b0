"""Azure Blob Storage, as far as it differs from other stores."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from shoal.services.artifacts.open import ArtifactOptions, open_artifacts


@asynccontextmanager
async def breaking(url: str, refused: list[bytes]) -> AsyncIterator[str]:
    """A port before a server that resets the connection of the first request with each of the methods, unanswered."""
    there = urlsplit(url)
    pipes = set[asyncio.Task[None]]()

    def reset(writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def pipe(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: asyncio.StreamWriter | None = None
    ) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            while piece := await reader.read(1 << 16):
                if back is not None and (method := piece.partition(b" ")[0]) in refused:
                    refused.remove(method)
                    reset(back)
                    break
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection(there.hostname, there.port)
        pipes.add(asyncio.create_task(pipe(reader, there_writer, writer)))
        pipes.add(asyncio.create_task(pipe(there_reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield there._replace(netloc=f"127.0.0.1:{server.sockets[0].getsockname()[1]}").geturl()
    finally:
        server.close()
        for task in pipes:
            task.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)


async def test_a_deletion_whose_connection_breaks_is_sent_again(
    azure_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    container, refused = f"shoal-{uuid4().hex}", [b"POST"]
    azure_server.container(container)
    async with breaking(azure_server.url, refused) as url:
        for name, value in {**azure_server.environment, "AZURE_STORAGE_ENDPOINT": url}.items():
            monkeypatch.setenv(name, value)
        store = open_artifacts(f"az://{container}", ArtifactOptions())
        await store.put("a/b", b"x", "text/plain")
        await store.delete_many(["a/b"])
        assert (refused, await store.page("a")) == ([], [])
        await store.close()
