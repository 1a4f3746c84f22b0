"""Reading what is long beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

INLINE_BYTES = 1 << 14
"""Bytes from which a text is read in a thread, while others are served: a loop of 50,000 links takes half a second."""
_READERS = ThreadPoolExecutor(2, thread_name_prefix="aside")
"""Few, and none of those that other work waits for: more would only share the same interpreter."""

R = TypeVar("R")


async def aside(size: int, read: Callable[..., R], *given: Any) -> R:
    """Return what `read` makes of something of `size` bytes; beside the event loop, unless that is little."""
    if size <= INLINE_BYTES:
        return read(*given)
    return await asyncio.get_running_loop().run_in_executor(_READERS, partial(read, *given))
