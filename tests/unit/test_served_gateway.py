"""The watch over a gateway in the tests' process: what it calls a pause."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import Callable

import pytest

from tests.served_gateway import PAUSE_S, Moment, Pauses

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


class _Long:
    """Garbage that takes a while to collect, and lets the loop look meanwhile."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        _within_c()


def _collects() -> None:
    """Collects garbage for a while."""
    _Long()
    gc.collect()


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
    assert await _longest_s(_collects) < PAUSE_S < time.process_time() - began


@pytest.mark.parametrize(
    ("now", "pause_s"),
    [
        (Moment(process_s=0.8, clock_s=0.8), 0.8),
        (Moment(process_s=0.8, clock_s=0.9, queued_s=0.7), 0.2),  # others had the loop's core, and threads the other
        (Moment(process_s=0.1, clock_s=0.9), 0.1),  # who kept the interpreter had no core
    ],
    ids=["kept", "queued", "slow"],
)
def test_a_wait_for_a_core_is_none(now: Moment, pause_s: float) -> None:
    assert now.pause_s(Moment(0.0, 0.0)) == pytest.approx(pause_s)
