"""The limits of tests: the time that they count."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S, queued_s, soon

_LARGE = bytes(1 << 20)
_WAIT_S, _SOON_S = 0.3, 0.2


@contextmanager
def rivals() -> Iterator[Path]:
    """Two threads that want one core, and the file in which Linux says how long the first has waited for it."""
    core, ended = {min(os.sched_getaffinity(0))}, threading.Event()

    def busy() -> None:
        os.sched_setaffinity(0, core)
        while not ended.is_set():
            hashlib.sha256(_LARGE)  # without the interpreter

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield Path(f"/proc/self/task/{threads[0].native_id}/schedstat")
    finally:
        ended.set()
        for thread in threads:
            thread.join()


async def test_what_does_not_happen_soon_is_ended() -> None:
    with pytest.raises(TimeoutError):
        async with soon(_SOON_S):
            await asyncio.sleep(PATIENCE_S)


async def test_a_wait_for_a_core_is_not_counted() -> None:
    with rivals() as first:
        began_s = time.monotonic()
        async with asyncio.timeout(PATIENCE_S), soon(_SOON_S):
            while queued_s(first) < _WAIT_S:
                await asyncio.sleep(0.01)
        assert time.monotonic() - began_s > _SOON_S
