"""An event loop in a thread of its own, for callers that cannot await: scripts, notebooks, Gymnasium."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for blocking callers: from any thread, one with a running loop included.

    Ended by `close`. The thread does not keep a process alive.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` gives; it raises what `work` raises.
        Ctrl-C cancels `work`, and this raises.

        Raises:
            RuntimeError: the loop is closed, or the caller is its own thread, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a blocking call within a predicate of the loop: there only properties can be read")
        if not self._thread.is_alive():
            work.close()
            raise RuntimeError("it is closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def iterate(self, make: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
        """The values of an asynchronous generator; a caller that stops early ends it."""
        source = make()
        try:
            while True:
                try:
                    yield self.run(_next(source))
                except StopAsyncIteration:
                    return
        finally:
            if self._thread.is_alive():
                self.run(_ended(source))

    def close(self) -> None:
        """Ends what still runs, the loop and the thread. May be called twice."""
        if not self._thread.is_alive():
            return
        self.run(_end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _next(source: AsyncIterator[T]) -> T:
    return await anext(source)


async def _ended(source: Any) -> None:
    await source.aclose()


async def _end_all() -> None:
    loop = asyncio.get_running_loop()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
