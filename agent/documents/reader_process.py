"""Reads documents in a process of its own, where a document that takes long holds up nothing.

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
from shoal.agent.documents.document import RawDocument, ReadDocument
from shoal.agent.support.once_each import once_each

READ_S = 0.25
"""CPU time that a document may cost. The largest pages of shops cost a tenth of that."""
ANSWER_S = 2.0
"""Seconds to wait for an answer; a machine that is busy gives the process an eighth of that."""
_START_S = 30.0
_MOST_ANSWER = 8 * 1024 * 1024
"""Bytes of an answer: reading it takes the time of all sessions again."""
_MOST_ASKED = 64
_CHILD = "shoal.agent.documents.reader_child"
_TOO_LONG = "reading the document takes too long"
_ENDED = "the process that reads documents has ended"
_NOT_STARTED = "the process that reads documents does not start"


@once_each(_MOST_ASKED)
def _written(arg: Mapping[str, Any]) -> bytes:
    """The question to documents as JSON: a workflow asks all of them the same."""
    return json.dumps(arg).encode()


class ReaderProcess:
    """A `DocumentReader`: one process, started with the first document, that reads one document after another."""

    def __init__(self) -> None:
        self._child: Process | None = None
        self._one = asyncio.Lock()

    async def __call__(self, raw: RawDocument, arg: Mapping[str, Any]) -> ReadDocument:
        """Return what the places of `arg` say in `raw`.

        Raises:
            BeyondDocument: only a browser can tell, or reading takes too long.
        """
        async with self._one:
            try:
                answer = await self._answer(raw, arg)
            except BaseException:  # canceled too: the answer would be taken for the next one's
                await self._end()
                raise
        if "beyond" in answer:
            raise BeyondDocument(answer["beyond"])
        if answer["seconds"] > READ_S:
            raise BeyondDocument(_TOO_LONG)
        return ReadDocument.of(answer["read"])

    async def _answer(self, raw: RawDocument, arg: Mapping[str, Any]) -> dict[str, Any]:
        child = self._child or await self._started()
        assert child.stdin is not None and child.stdout is not None
        request = {"url": raw.url, "status": raw.status, "headers": dict(raw.headers), "bytes": len(raw.body)}
        try:
            async with asyncio.timeout(ANSWER_S):
                child.stdin.writelines((json.dumps(request).encode(), b"\n", _written(arg), b"\n", raw.body))
                await child.stdin.drain()
                size = int(await child.stdout.readline() or 0)
                if size > _MOST_ANSWER:
                    raise BeyondDocument("what the document says is very long")
                answer = await child.stdout.readexactly(size)
        except (TimeoutError, ConnectionError) as error:
            raise BeyondDocument(_TOO_LONG) from error
        except asyncio.IncompleteReadError as error:
            raise BeyondDocument(_ENDED) from error
        if not answer:
            raise BeyondDocument(_ENDED)
        parsed: dict[str, Any] = json.loads(answer)
        return parsed

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
            raise BeyondDocument(_NOT_STARTED) from error
        if ready != b"ready\n":
            raise BeyondDocument(_NOT_STARTED)
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
