"""Many calls, one transaction: while one group is being written, the next one gathers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

A = TypeVar("A")
R = TypeVar("R")

_LARGEST = 1_000
"""Calls in one group: bounds how long its transaction takes."""


class Batcher(Generic[A, R]):
    """Hands calls to `write` in groups; each caller gets its own result, or the error that the whole group met."""

    def __init__(self, write: Callable[[Sequence[A]], Awaitable[Sequence[R]]]) -> None:
        self._write = write
        self._gathered: list[tuple[A, asyncio.Future[R]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def add(self, call: A) -> R:
        """The result of this call, once its group is written."""
        mine: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._gathered.append((call, mine))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._run())
        return await mine

    async def _run(self) -> None:
        while self._gathered:
            group, self._gathered = self._gathered[:_LARGEST], self._gathered[_LARGEST:]
            try:
                results = await self._write([call for call, _ in group])
            except BaseException as err:
                _tell(group, err)
                if not isinstance(err, Exception):
                    _tell(self._gathered, err)
                    raise
            else:
                for (_, caller), result in zip(group, results, strict=True):
                    if not caller.done():
                        caller.set_result(result)


def _tell(group: Sequence[tuple[A, asyncio.Future[R]]], err: BaseException) -> None:
    for _, caller in group:
        if caller.done():
            continue
        if isinstance(err, asyncio.CancelledError):
            caller.cancel()
        else:
            caller.set_exception(err)
