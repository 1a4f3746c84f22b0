"""Moments: those that records tell, and those that timers of this process count by."""

import asyncio
from datetime import UTC, datetime


def utc_now() -> str:
    """Now, as ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def loop_time() -> float:
    """Seconds of the running event loop's clock, as its timers count them; `load-tests/simulate.py` brings its own."""
    return asyncio.get_running_loop().time()
