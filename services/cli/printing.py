"""Result lines on standard output, in item order, as soon as every item before them is final."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import IO

from shoal.api import Api
from shoal.ready import ReadyLines


class OrderedLines:
    """Writes a running job's result lines once each."""

    def __init__(self, client: Api, job: str, out: IO[bytes], *, early: bool = True) -> None:
        self._lines = ReadyLines(client, job, early=early)
        self._out = out
        self.lines = 0

    async def write_ready(self) -> None:
        """Writes the lines that no unfinished item stands before."""
        await self._write(self._lines.ready())

    async def write_rest(self) -> None:
        """Writes all that is left, gaps or not: the job is over."""
        await self._write(self._lines.rest())

    async def _write(self, lines: AsyncIterator[bytes]) -> None:
        async for line in lines:
            self._out.write(line + b"\n")
            self._out.flush()  # a reader of the file sees each line whole, and at once
            self.lines += 1


def binary_stdout() -> IO[bytes]:
    """Standard output for bytes."""
    return sys.stdout.buffer
