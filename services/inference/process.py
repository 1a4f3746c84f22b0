"""One vLLM process: started in a process group of its own, watched until it is healthy, ended with all its children."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import httpx
import structlog

from shoal.services.answers import bounded_client
from shoal.services.events import LogEvent
from shoal.services.inference.command import vllm_command, vllm_environment
from shoal.services.inference.errors import ServerEnded, ServerNotFound, ServerSilent
from shoal.services.inference.options import VllmOptions
from shoal.services.inference.warm_up import WarmUpFailed, warm_up

log = structlog.get_logger()

READY_S = 1_800.0
"""Loading tens of gigabytes from a network disk and capturing CUDA graphs takes that long in bad cases."""

_STANDARD_ERROR = 2
_LOOK_S = 0.5
_HEALTH_S = 5.0
_HEALTH_BYTES = 64 * 1024
_END_S = 20.0
"""Seconds that the server may take to end after SIGTERM, before its group is killed."""


class VllmProcess:
    """A running server. `start` gives one; its caller ends it."""

    def __init__(self, options: VllmOptions, process: asyncio.subprocess.Process) -> None:
        self.options = options
        self._process = process
        self._group = process.pid

    @property
    def pid(self) -> int:
        """Of the server's first process, which is also its process group."""
        return self._group

    @classmethod
    async def start(
        cls,
        options: VllmOptions,
        *,
        program: Sequence[str] = ("vllm",),
        environment: dict[str, str] | None = None,
        output: IO[bytes] | int | None = None,
    ) -> VllmProcess:
        """Starts vLLM and returns at once.

        Args:
            options: what it serves.
            program: the command before `serve`.
            environment: beside what this process has, Shoal's own settings apart, and what `options` need.
            output: where its output goes; None: to our standard error, since standard output belongs to results.

        Raises:
            ServerNotFound: there is no such program.
        """
        command = vllm_command(options, program)
        # Shoal's settings hold keys and the database's URL, and no model server reads them.
        inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith("SHOAL_")}
        variables = {**inherited, **vllm_environment(options), **(environment or {})}
        sink = _STANDARD_ERROR if output is None else output
        try:
            # A group of its own: vLLM's engine is a process of its own, and killing only the first leaves it behind.
            process = await asyncio.create_subprocess_exec(
                *command, env=variables, stdout=sink, stderr=sink, stdin=asyncio.subprocess.DEVNULL, process_group=0
            )
        except (FileNotFoundError, PermissionError) as error:
            raise ServerNotFound(f"{ServerNotFound.__doc__} ({error})") from error
        log.info(LogEvent.MODEL_SERVER_STARTED, pid=process.pid, model=options.model)
        return cls(options, process)

    async def ready(self, timeout_s: float = READY_S) -> float:
        """Returns, with the seconds it took, once the server is healthy and has answered a first step.

        Raises:
            ServerEnded: the process ended before.
            ServerSilent: it took longer than `timeout_s`, or did not answer the step.
        """
        started = time.monotonic()
        async with bounded_client(_HEALTH_BYTES, base_url=self.options.url, timeout_s=_HEALTH_S) as client:
            while time.monotonic() - started < timeout_s:
                if self._process.returncode is not None:
                    raise ServerEnded(f"the model server ended with {self._process.returncode} before it was ready")
                if await healthy(client):
                    await self._warm_up()
                    return time.monotonic() - started
                await asyncio.sleep(_LOOK_S)
        raise ServerSilent(f"the model server was not healthy within {timeout_s:.0f} s")

    async def _warm_up(self) -> None:
        of, key = self.options, self.options.api_key
        try:
            await asyncio.to_thread(warm_up, of.url, of.name, images=of.images > 0, api_key=key)
        except WarmUpFailed as failed:
            raise ServerSilent(str(failed)) from failed

    async def ended(self) -> int:
        """Waits until the server ends by itself, and gives its exit code."""
        return await self._process.wait()

    async def end(self, timeout_s: float = _END_S) -> None:
        """Ends the server and all its children; may be called twice."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(timeout_s):
                await self._process.wait()
        except TimeoutError:
            log.warning(LogEvent.MODEL_SERVER_ENDED, pid=self._group, killed=True)
        # The first process may be gone while its engine is not.
        self._signal(signal.SIGKILL)
        await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._group, number)
        except ProcessLookupError:
            return  # no process of the group is left


async def healthy(client: httpx.AsyncClient) -> bool:
    """Return whether the server says that it can work."""
    try:
        async with asyncio.timeout(_HEALTH_S):
            return (await client.get("/health")).status_code == 200
    except (httpx.HTTPError, TimeoutError):
        return False


@asynccontextmanager
async def running_vllm(
    options: VllmOptions,
    *,
    program: Sequence[str] = ("vllm",),
    environment: dict[str, str] | None = None,
    output_file: Path | None = None,
    ready_s: float = READY_S,
) -> AsyncIterator[VllmProcess]:
    """A healthy server for as long as the context lasts.

    Raises:
        ServerNotFound, ServerEnded, ServerSilent: it could not be started.
    """
    output = await asyncio.to_thread(output_file.open, "ab") if output_file else None
    try:
        server = await VllmProcess.start(options, program=program, environment=environment, output=output)
        try:
            await server.ready(ready_s)
            yield server
        finally:
            await server.end()
    finally:
        if output is not None:
            output.close()
