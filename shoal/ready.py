"""A running job's result lines in item order, each once, as soon as every item before it has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import orjson

from shoal.api import Api

PAGE = 500
"""Lines of one request."""


class ReadyLines:
    """Reads a job's result lines while it runs.

    The gateway gives lines in item order and leaves gaps where items still run. Lines before the first gap are ready; a
    page that was given whole is not asked for again.

    Args:
        early: False for nested loops: the order of their lines is known only at the end, so that none is ready before.
    """

    def __init__(self, api: Api, job: str, *, early: bool = True) -> None:
        self._api = api
        self._job = job
        self._early = early
        self._after: str | None = None
        self._given = 0  # lines of the page behind `_after`
        self._next_index = 0

    async def ready(self) -> AsyncIterator[bytes]:
        """The lines that no unfinished item stands before, without those that were given already."""
        if self._early:
            async for line in self._lines(self._follows):
                yield line

    async def rest(self) -> AsyncIterator[bytes]:
        """All lines that were not given yet, gaps or not: the job has ended."""
        if self._given or self._after is not None:
            # The job's own answer stands in front of its items, and it came after some of them were given.
            first, _ = await self._api.result_page(self._job, after=None, limit=1)
            if first and orjson.loads(first[0])["item"] is None:
                yield first[0]
                self._given += self._after is None
        async for line in self._lines(lambda line: True):
            yield line

    async def _lines(self, may: Callable[[bytes], bool]) -> AsyncIterator[bytes]:
        while True:
            lines, after = await self._api.result_page(self._job, after=self._after, limit=PAGE)
            for line in lines[self._given :]:
                if not may(line):
                    return
                self._given += 1
                yield line
            if after is None:
                return
            self._after, self._given = after, 0

    def _follows(self, line: bytes) -> bool:
        item = orjson.loads(line)["item"]
        if item is None or item["index"] not in (self._next_index - 1, self._next_index):
            return False
        self._next_index = item["index"] + 1
        return True
