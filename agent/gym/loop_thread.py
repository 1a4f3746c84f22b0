"""An event loop in a thread of its own, for callers that cannot await: scripts, notebooks, Gymnasium."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines one after another; usable from any thread, one with a running loop included."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="shoal-gym", daemon=True)
        self._thread.start()
        self.handlers: dict[Callable[..., Any], Callable[..., Any]] = {}  # that were wrapped for this loop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine gives; it raises what the coroutine raises.

        Raises:
            RuntimeError: it is called from the loop's own thread, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a blocking call within a predicate: there only properties can be read")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """Ends what still runs, the loop and the thread."""
        if self._loop.is_closed():
            return
        self.run(_end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _end_all() -> None:
    loop = asyncio.get_running_loop()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
