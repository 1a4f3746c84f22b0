"""Result lines on standard output, in item order, as soon as every item before them is final."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import IO

import orjson

from services.client import Client

PAGE = 500


class OrderedLines:
    """Writes a running job's result lines once each.

    Lines arrive in item order with gaps where items still run. What stands before the first gap can be written; a page
    that was written whole is never asked for again.
    """

    def __init__(self, client: Client, job: str, out: IO[bytes], *, early: bool = True) -> None:
        self._client = client
        self._job = job
        self._out = out
        self._early = early
        self._after: str | None = None
        self._written = 0  # lines of the page behind `_after`
        self._next_index = 0
        self.lines = 0

    async def write_ready(self) -> None:
        """Writes the lines that no unfinished item stands before."""
        if self._early:
            await self._write(self._follows)

    async def write_rest(self) -> None:
        """Writes all that is left, gaps or not: the job is over."""
        await self._write(lambda line: True)

    async def _write(self, may: Callable[[bytes], bool]) -> None:
        while True:
            lines, after = await self._client.result_page(self._job, after=self._after, limit=PAGE)
            for line in lines[self._written :]:
                if not may(line):
                    self._out.flush()
                    return
                self._out.write(line + b"\n")
                self._written += 1
                self.lines += 1
            self._out.flush()
            if after is None:
                return
            self._after, self._written = after, 0

    def _follows(self, line: bytes) -> bool:
        item = orjson.loads(line)["item"]
        if item is None or item["index"] not in (self._next_index - 1, self._next_index):
            return False
        self._next_index = item["index"] + 1
        return True


def binary_stdout() -> IO[bytes]:
    """Standard output for bytes."""
    return sys.stdout.buffer
