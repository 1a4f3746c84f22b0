"""A gateway under uvicorn on a loopback port, in a thread of its own, whose event loop is watched."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from tests.gateway_world import World, world
from tests.patience import PATIENCE_S, queued_s

_EVERY_S = 0.005
ANSWER_S = 1.0
PAUSE_S = 0.25
"""Both in processor time: a machine that others use makes late by the clock what has done little."""
_CLOCK_S = 20.0
"""Seconds by the clock that an answer may take; beyond them it has waited for something."""
_FILLED_S = 1800.0
"""Seconds that a gateway may be filled for, with a million items, say."""
_AGAIN = 3
"""Requests for an input that was slow: an import is the fault of no input."""


@dataclass(frozen=True)
class Moment:
    """Seconds used until a look of the event loop."""

    process_s: float  # processor time, of all threads together
    clock_s: float
    queued_s: float = 0.0  # how long the loop's thread could have run, and other processes had the cores

    def pause_s(self, before: Moment) -> float:
        """Return how much the process has done since `before` while its loop could not look around.

        While the loop's thread waits for a core, the process's other threads may work on another one: that is no
        pause, so it is never longer than the time without such waits.
        """
        there_s = (self.clock_s - before.clock_s) - (self.queued_s - before.queued_s)
        return max(0.0, min(self.process_s - before.process_s, there_s))


@dataclass(frozen=True)
class Garbage:
    """The processor time that collections of garbage have taken, in seconds.

    The loop may look while one is under way: its thread gives the interpreter away before it can say that it has ended.
    """

    spent_s: float  # by those that have ended
    clock: int | None = None  # that of the thread with one under way
    began_s: float = 0.0  # what it showed then

    def until_now_s(self) -> float:
        """Return what they have taken until now."""
        return self.spent_s if self.clock is None else self.spent_s + time.clock_gettime(self.clock) - self.began_s


@dataclass
class Pauses:
    """The longest work of the process while the event loop cannot look around, as it does every 5 ms.

    The loop itself is busy, or another thread keeps the interpreter. A collection of all garbage is left out: it comes
    by chance, and takes as long as there are objects in the process, which is full of tests.
    """

    longest_s: float = 0.0
    _garbage: Garbage = field(default_factory=lambda: Garbage(0.0))

    async def watch(self) -> None:
        """Looks until it is canceled."""
        gc.callbacks.append(self._collects)
        try:
            while True:
                before = self._now()
                await asyncio.sleep(_EVERY_S)
                self.longest_s = max(self.longest_s, self._now().pause_s(before))
        finally:
            gc.callbacks.remove(self._collects)

    def _collects(self, phase: str, _: dict[str, int]) -> None:
        spent_s = self._garbage.until_now_s()
        if phase == "start":
            self._garbage = Garbage(spent_s, time.pthread_getcpuclockid(threading.get_ident()), time.thread_time())
        else:
            self._garbage = Garbage(spent_s)

    def _now(self) -> Moment:
        spent_s = self._garbage.until_now_s()
        return Moment(time.process_time() - spent_s, time.monotonic() - spent_s, queued_s())

    def reset(self) -> None:
        """Forgets what was."""
        self.longest_s = 0.0


@dataclass
class Served:
    """A gateway that runs."""

    url: str
    world: World
    pauses: Pauses
    loop: asyncio.AbstractEventLoop = field(repr=False)

    def do(self, work: Callable[[World], Any]) -> Any:
        """Runs a coroutine function in the gateway's loop, and gives its result."""
        return asyncio.run_coroutine_threadsafe(work(self.world), self.loop).result(PATIENCE_S)

    def harmless_answer(self, ask: Callable[[], Any]) -> Any:
        """The answer to an input that is harmless: no 5xx, a second's work at most, and no pause of the loop."""
        for _ in range(_AGAIN):
            self.pauses.reset()
            began, used = time.monotonic(), time.process_time()
            answer = ask()
            took_s, pause_s = time.process_time() - used, self.pauses.longest_s
            assert answer.status_code < 500, answer.text[:1000]
            assert time.monotonic() - began < _CLOCK_S, "it waited for something"
            if took_s <= ANSWER_S and pause_s <= PAUSE_S:
                return answer
        raise AssertionError(f"answered {_AGAIN} times in {took_s:.2f} s or with a pause of {pause_s:.2f} s")


@contextmanager
def served_gateway(prepare: Callable[[World], Any] | None = None, **options: Any) -> Iterator[Served]:
    """A gateway with these options; `prepare` is awaited with its world before it listens."""
    ready, ended = threading.Event(), threading.Event()
    found: list[Served] = []
    servers: list[uvicorn.Server] = []

    async def live() -> None:
        async with world(**options) as made:
            if prepare is not None:
                await prepare(made)
            config = uvicorn.Config(made.app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1)
            server, socket = uvicorn.Server(config), config.bind_socket()
            pauses = Pauses()
            watching = asyncio.create_task(pauses.watch())
            serving = asyncio.create_task(server.serve([socket]))
            while not server.started:
                await asyncio.sleep(_EVERY_S)
            url = f"http://127.0.0.1:{socket.getsockname()[1]}"
            servers.append(server)
            found.append(Served(url, made, pauses, asyncio.get_running_loop()))
            pauses.reset()
            ready.set()
            await serving
            watching.cancel()
            socket.close()

    def run() -> None:
        try:
            asyncio.run(live())
        finally:
            ended.set()
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(_FILLED_S) and not ended.is_set()
    try:
        yield found[0]
    finally:
        servers[0].should_exit = True
        thread.join(60)
