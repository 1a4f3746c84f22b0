"""Reads a document first where it can hold up nothing, so that reading it here is known to be quick.

A parser of HTML takes quadratic time on some documents: 4 MiB of nested elements keep it for longer than an hour. It
holds Python's lock meanwhile, so that every session of the worker would stand.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from typing import Any

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import RawDocument

READ_S = 0.25
"""CPU time that a document may cost. The largest pages of shops cost a tenth of that."""
ANSWER_S = 2.0
"""How long an answer is waited for; a machine that is busy gives the process an eighth of that."""
_START_S = 30.0
_CHILD = "shoal.agent.documents.rehearsal_child"
_TOO_LONG = "reading the document takes too long"


class Rehearsal:
    """One process, started with the first document, that reads one document after another."""

    def __init__(self) -> None:
        self._child: Process | None = None
        self._one = asyncio.Lock()

    async def __call__(self, raw: RawDocument, arg: Mapping[str, Any] | None) -> None:
        """Returns where parsing `raw`, and reading the places of `arg` in it, is quick.

        Raises:
            BeyondDocument: it is not.
        """
        async with self._one:
            try:
                cost_s = await self._cost_s(raw, arg)
            except BaseException:  # canceled too: the answer would be taken for the next one's
                await self._end()
                raise
        if cost_s > READ_S:
            raise BeyondDocument(_TOO_LONG)

    async def _cost_s(self, raw: RawDocument, arg: Mapping[str, Any] | None) -> float:
        child = self._child or await self._started()
        assert child.stdin is not None and child.stdout is not None
        said = {"url": raw.url, "status": raw.status, "headers": dict(raw.headers), "arg": arg}
        try:
            async with asyncio.timeout(ANSWER_S):
                child.stdin.write(json.dumps({**said, "bytes": len(raw.body)}).encode() + b"\n")
                child.stdin.write(raw.body)
                await child.stdin.drain()
                answer = await child.stdout.readline()
        except (TimeoutError, ConnectionError) as error:
            raise BeyondDocument(_TOO_LONG) from error
        if not answer:
            raise BeyondDocument("the process that reads documents first has ended")
        return float(answer)

    async def _started(self) -> Process:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", _CHILD),
            stdin=PIPE,
            stdout=PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},  # not our keys
        )
        self._child = child
        assert child.stdout is not None
        try:
            async with asyncio.timeout(_START_S):
                ready = await child.stdout.readline()
        except TimeoutError as error:
            raise BeyondDocument("the process that reads documents first does not start") from error
        if ready != b"ready\n":
            raise BeyondDocument("the process that reads documents first does not start")
        return child

    async def close(self) -> None:
        """Ends the process."""
        async with self._one:
            await self._end()

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if child.returncode is None:
            child.kill()
        await child.wait()
