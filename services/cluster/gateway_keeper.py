"""The gateway of an embedded cluster as a process of its own, which is started again when it ends.

A crash in native code (of a database driver, say, or a parser) ends the process that it happens in. The socket on which
the gateway listens belongs to the cluster's process, so that callers wait meanwhile and are not refused.

What the process needs comes through its standard input, which ends when the cluster's process does, however that ends;
then the gateway ends, too. Its standard output has one line: the address, or why it did not start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from shoal.services import logs
from shoal.services.cluster.forking.server import GATEWAY, client_command
from shoal.services.cluster.limits import start_limit_s
from shoal.services.errors import BadSetting, ClusterFailed
from shoal.services.events import LogEvent
from shoal.services.settings import Settings
from shoal.services.store.restarts import Restarts

log = structlog.get_logger()

_END_S = 15.0
"""Seconds that the gateway gets to end; open requests get three of them."""
_LAST_LINES_S = 1.0
_PIECE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class GatewayStart:
    """Arguments that the gateway's process is started with."""

    listener: int  # file descriptor of the socket, bound already
    settings: Settings
    log_level: str
    log_format: logs.Format
    restarts: Restarts


def why_ended(code: int) -> str:
    """An exit code as `asyncio` has it, in words."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {-code} ({signal.Signals(-code).name})"
    return f"signal {-code}"


class GatewayKeeper:
    """Starts the gateway, and starts it again whenever it ends."""

    def __init__(self, listener: socket.socket, settings: Settings, temp_folder: Path, forks: Path | None) -> None:
        self._listener = listener
        self._settings = settings
        self._temp_folder = temp_folder
        self._forks = forks
        self._restarts = Restarts()
        self._url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._handover = asyncio.Event()
        self._bad_setting = False  # that is why the last process ended
        self._task = asyncio.create_task(self._run(), name="keep-gateway")

    async def url(self) -> str:
        """The gateway's address, once it answers.

        Raises:
            BadSetting: it cannot take its settings.
            ClusterFailed: it did not start.
        """
        try:
            limit_s = start_limit_s()
            async with asyncio.timeout(limit_s):
                return await asyncio.shield(self._url)
        except TimeoutError as error:
            raise ClusterFailed(f"the gateway did not answer within {limit_s:.0f} s") from error

    def check(self) -> None:
        """Lets a gateway pass that may still start.

        Raises:
            BadSetting: it cannot take its settings.
            ClusterFailed: it did not start.
        """
        if self._url.done():
            self._url.result()

    async def wait_for_handover(self) -> None:
        """Returns when the first process has what it needs: it starts by itself while this one is busy."""
        await self._handover.wait()

    async def end(self) -> None:
        """Ends the gateway in order; may be called twice."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self) -> None:
        """Never returns by itself, but when the first start fails."""
        while True:
            began_s = time.monotonic()
            why = await self._run_once()
            if not self._url.done():
                bad = self._bad_setting
                self._url.set_exception(BadSetting(why) if bad else ClusterFailed(f"the gateway did not start: {why}"))
                self._url.exception()  # asked for here: a start that fails before by another part never asks
                return
            self._restarts = self._restarts.ended(why, time.monotonic() - began_s)
            log.error(LogEvent.GATEWAY_ENDED, why=why, again_in_s=self._restarts.pause_s)
            await asyncio.sleep(self._restarts.pause_s)

    async def _run_once(self) -> str:
        """One process from its start to its end; gives why it ended. Canceled, it ends the process."""
        try:
            process = await self._begin()
        except OSError as error:
            self._handover.set()
            return f"its process could not be started: {error}"
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        relay = asyncio.create_task(_relay(process.stderr), name="gateway-stderr")
        answers = False
        try:
            with contextlib.suppress(ConnectionError):  # it has ended already
                process.stdin.write(pickle.dumps(self._start()))
                await process.stdin.drain()
            self._handover.set()
            line = await process.stdout.readline()
            message = json.loads(line) if line.endswith(b"\n") else {}
            self._bad_setting = message.get("bad_setting", False)
            if answers := "url" in message:
                self._answers(message["url"])
            code = await process.wait()
            return message.get("error") or why_ended(code)
        finally:
            if answers:
                await _end(process)
            else:
                await _kill(process)  # it has begun nothing
            await asyncio.wait([relay], timeout=_LAST_LINES_S)
            relay.cancel()

    async def _begin(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(*client_command(self._forks, self._listener.fileno()), "-m", GATEWAY),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(self._listener.fileno(),),
            env={**os.environ, "TMPDIR": str(self._temp_folder)},  # by which the watchdog knows it
            process_group=0,  # what a terminal sends to the cluster's group is for the cluster's process alone
        )

    def _answers(self, url: str) -> None:
        if self._url.done():
            log.info(LogEvent.SERVICE_STARTED, service="gateway", url=url, restarts=self._restarts.n)
        else:
            self._url.set_result(url)

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
        await _kill(process)


async def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _relay(stream: asyncio.StreamReader) -> None:
    """Writes what the gateway logs to this process's standard error as it is now: bars may be drawn there.

    What cannot be written is read all the same: a gateway whose pipe is full would stand still.
    """
    while piece := await stream.read(_PIECE_BYTES):
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more, or it is closed
            sys.stderr.write(piece.decode(errors="replace"))
            sys.stderr.flush()


@asynccontextmanager
async def supervised_gateway(
    listener: socket.socket, settings: Settings, temp_folder: Path, forks: Path | None = None
) -> AsyncIterator[GatewayKeeper]:
    """A gateway that is starting by itself, and that is kept running for as long as the context lasts.

    Args:
        listener: bound already; its owner closes it after the context.
        settings: with a secret for cookies, since each start would make another one.
        temp_folder: its TMPDIR.
        forks: where the fork server is that becomes it; None: it is started by itself.
    """
    keeper = GatewayKeeper(listener, settings, temp_folder, forks)
    try:
        await keeper.wait_for_handover()
        yield keeper
    finally:
        await keeper.end()
