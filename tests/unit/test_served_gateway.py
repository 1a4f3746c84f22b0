"""The watch over a gateway in the tests' process: what it calls a pause."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import Callable

import pytest

from tests.served_gateway import PAUSE_S, Pauses

_BUSY_S = 4 * PAUSE_S


def _in_python() -> None:
    """Computes for a while, and gives the interpreter to others every 5 ms."""
    until = time.thread_time() + _BUSY_S
    while time.thread_time() < until:
        sum(range(1_000))


def _within_c() -> None:
    """Computes for as long in calls that keep the interpreter."""
    until, n = time.thread_time() + _BUSY_S, 1_000_000
    while time.thread_time() < until:
        sum(range(n))
        n *= 2


def _collects() -> None:
    """Collects all garbage, beside many objects."""
    many = [[n] for n in range(2_000_000)]
    for _ in range(10):
        gc.collect()
    assert many


async def _longest_s(work: Callable[[], None]) -> float:
    pauses = Pauses()
    watching = asyncio.create_task(pauses.watch())
    await asyncio.sleep(0)
    await asyncio.to_thread(work)
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    return pauses.longest_s


@pytest.mark.parametrize(("work", "holds"), [(_in_python, False), (_within_c, True)], ids=["Python", "C"])
async def test_a_thread_that_keeps_the_interpreter_is_a_pause(work: Callable[[], None], holds: bool) -> None:
    assert (await _longest_s(work) > PAUSE_S) == holds


async def test_a_collection_of_garbage_is_none() -> None:
    began = time.process_time()
    gc.freeze()
    try:
        longest_s = await _longest_s(_collects)
    finally:
        gc.unfreeze()
    assert longest_s < PAUSE_S < time.process_time() - began
