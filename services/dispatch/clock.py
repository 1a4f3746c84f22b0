"""The one clock of this room."""

from __future__ import annotations

import asyncio


def loop_time() -> float:
    """Seconds of the running event loop's clock, as its timers count them; `load-tests/simulate.py` brings its own."""
    return asyncio.get_running_loop().time()
