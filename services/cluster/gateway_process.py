"""The gateway of an embedded cluster as a process of its own, which is started again when it ends.

A crash in native code (of a database driver, say, or a parser) ends the process that it happens in. The socket on which
the gateway listens belongs to the cluster's process, so that callers wait meanwhile and are not refused.

What the process needs comes through its standard input, which ends when the cluster's process does, however that ends;
then the gateway ends, too. Its standard output has one line: the address, or why it did not start.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import json
import logging
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from shoal.services import logs
from shoal.services.cluster.configs import artifact_store
from shoal.services.cluster.serving import gateway, patiently
from shoal.services.errors import ClusterFailed, ServiceError
from shoal.services.events import LogEvent
from shoal.services.settings import Settings
from shoal.services.store.store import open_store
from shoal.services.web.deps import Restarts

log = structlog.get_logger()

_READY_S = 180.0
_END_S = 15.0
"""What the gateway gets to end; open requests get three seconds of it."""
_LAST_LINES_S = 1.0
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 30.0
_LASTS_S = 60.0
"""A gateway that ran for so long did not end by how it started: the next pause is the first one again."""
_MOST_BYTES = 1 << 20
"""Of one line that it writes to its standard error."""


@dataclass(frozen=True, slots=True)
class GatewayStart:
    """What the process is started with."""

    listener: int  # file descriptor of the socket, bound already
    settings: Settings
    log_level: str
    log_format: logs.Format
    restarts: Restarts


def pause_s(failures: int) -> float:
    """The pause before the next start after so many ends in a row, each soon after its start. Pure."""
    return min(_FIRST_PAUSE_S * 2.0 ** min(failures, 20), _LONGEST_PAUSE_S)


def why_ended(code: int) -> str:
    """An exit code as `asyncio` has it, in words."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {-code} ({signal.Signals(-code).name})"
    return f"signal {-code}"


class GatewayKeeper:
    """Starts the gateway, and starts it again whenever it ends."""

    def __init__(self, listener: socket.socket, settings: Settings, temp_folder: Path) -> None:
        self._listener = listener
        self._settings = settings
        self._temp_folder = temp_folder
        self._restarts = Restarts()
        self._url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(), name="keep-gateway")

    async def url(self) -> str:
        """The gateway's address, once it answers.

        Raises:
            ClusterFailed: it did not start.
        """
        async with asyncio.timeout(_READY_S):
            return await asyncio.shield(self._url)

    async def end(self) -> None:
        """Ends the gateway in order; may be called twice."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self) -> None:
        """Never returns by itself, but when the first start fails."""
        failures = 0
        while True:
            began_s = time.monotonic()
            why = await self._run_once()
            if not self._url.done():
                self._url.set_exception(ClusterFailed(f"the gateway did not start: {why}"))
                return
            failures = 0 if time.monotonic() - began_s >= _LASTS_S else failures + 1
            wait_s = pause_s(failures)
            log.error(LogEvent.GATEWAY_ENDED, why=why, again_in_s=wait_s)
            self._restarts = Restarts(self._restarts.n + 1, why, datetime.now(UTC))
            await asyncio.sleep(wait_s)

    async def _run_once(self) -> str:
        """One process from its start to its end; gives why it ended. One that is canceled here is ended in order."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "shoal.services.cluster.gateway_process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(self._listener.fileno(),),
            env={**os.environ, "TMPDIR": str(self._temp_folder)},  # by which the watchdog knows it
            process_group=0,  # what a terminal sends to the cluster's group is for the cluster's process alone
            limit=_MOST_BYTES,
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        relay = asyncio.create_task(_relay(process.stderr), name="gateway-stderr")
        try:
            with contextlib.suppress(ConnectionError):  # it has ended already
                process.stdin.write(pickle.dumps(self._start()))
                await process.stdin.drain()
            said = json.loads(await process.stdout.readline() or b"{}")
            if "url" in said:
                if self._url.done():
                    log.info(LogEvent.SERVICE_STARTED, service="gateway", url=said["url"], restarts=self._restarts.n)
                else:
                    self._url.set_result(said["url"])
            code = await process.wait()
            return said.get("error") or why_ended(code)
        finally:
            await _end(process)
            await asyncio.wait([relay], timeout=_LAST_LINES_S)
            relay.cancel()

    def _start(self) -> GatewayStart:
        level = logging.getLevelName(logging.getLogger().level or logging.WARNING).lower()
        form = self._settings.log_format
        if form == "auto":
            form = "console" if sys.stderr.isatty() else "json"
        return GatewayStart(self._listener.fileno(), self._settings, level, form, self._restarts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Asks the process to end, where it runs, and waits for that; kills one that does not."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _relay(stream: asyncio.StreamReader) -> None:
    """Writes what the gateway logs to this process's standard error as it is now: bars may be drawn there."""
    while line := await stream.readline():
        sys.stderr.write(line.decode(errors="replace"))
        sys.stderr.flush()


@asynccontextmanager
async def kept_gateway(listener: socket.socket, settings: Settings, temp_folder: Path) -> AsyncIterator[GatewayKeeper]:
    """A gateway that is starting, and that is kept running for as long as the context lasts.

    Args:
        listener: bound already; its owner closes it after the context.
        settings: with a secret for cookies, since each start would make another one.
        temp_folder: its TMPDIR.
    """
    keeper = GatewayKeeper(listener, settings, temp_folder)
    try:
        yield keeper
    finally:
        await keeper.end()


async def serve(start: GatewayStart) -> None:
    """The gateway, until standard input ends."""
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(socket.socket(fileno=start.listener))
        store = await patiently(lambda: open_store(start.settings.store_url, migrate=False))
        stack.push_async_callback(store.close)
        artifacts = artifact_store(start.settings)
        stack.push_async_callback(artifacts.close)
        running = gateway(listener, start.settings, store, artifacts, restarts=start.restarts)
        url = await stack.enter_async_context(running)
        print(json.dumps({"url": url}), flush=True)
        await asyncio.to_thread(sys.stdin.buffer.read)


def main() -> None:
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)  # the cluster's process decides when it ends
    faulthandler.enable()
    start: GatewayStart = pickle.load(sys.stdin.buffer)  # from the process that has started this one
    logs.set_up(start.log_level, start.log_format)
    try:
        asyncio.run(serve(start))
    except ServiceError as error:
        print(json.dumps({"error": error.message}), flush=True)
        sys.exit(3)


if __name__ == "__main__":
    main()
