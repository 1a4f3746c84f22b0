"""A dispatcher that lives and says nothing is replaced; one that is starting is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import ray

from shoal.agent.support.json_value import Json
from shoal.services.cluster import guard, supervisor
from shoal.services.cluster.supervisor import Supervisor
from shoal.services.settings import Settings
from shoal.services.store.restarts import Restarts
from shoal.services.store.store import open_store
from tests.patience import soon


@dataclass
class Method:
    """One method of an actor."""

    answer: Callable[..., Awaitable[Any]]

    def remote(self, *given: object) -> Awaitable[Any]:
        return self.answer(*given)


async def never() -> None:
    await asyncio.Event().wait()


@dataclass
class FakeActor:
    """A dispatcher's handle, as far as a supervisor uses it."""

    parts: Any
    silent: bool = False
    starting: bool = False
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ready(self) -> Method:
        async def pid() -> int:
            self.asked.set()
            await (never() if self.silent or self.starting else asyncio.sleep(0))
            return 7

        return Method(pid)

    @property
    def alive(self) -> Method:
        async def alive() -> None:
            await (never() if self.silent else asyncio.sleep(0))

        return Method(alive)

    @property
    def made_of(self) -> Method:
        async def made_of(parts: Any) -> bool:
            await (never() if self.silent else asyncio.sleep(0))
            return bool(self.parts == parts)

        return Method(made_of)


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Supervisor, list[FakeActor], list[FakeActor]]:
    """A supervisor without Ray, the actors that it started, and those that it killed."""
    monkeypatch.setattr(guard, "ANSWER_S", 0.5)
    monkeypatch.setattr(supervisor, "_LOOK_S", 0.01)
    monkeypatch.setattr(supervisor, "_AGAIN_S", 0.01)
    monkeypatch.setattr(ray, "init", lambda *_, **__: None)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    started: list[FakeActor] = []
    killed: list[FakeActor] = []

    def start(parts: Any) -> FakeActor:
        if not started or started[-1] in killed:
            started.append(FakeActor(parts))
        return started[-1]

    monkeypatch.setattr(supervisor, "start_dispatcher", start)
    monkeypatch.setattr(ray, "kill", killed.append)
    return Supervisor(Settings(data_dir=tmp_path, ray_address="ray://nowhere")), started, killed


async def until(met: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not met():
            await asyncio.sleep(0.005)


async def test_a_dispatcher_that_falls_silent_is_replaced(
    looking: tuple[Supervisor, list[FakeActor], list[FakeActor]],
) -> None:
    one, started, killed = looking
    task = asyncio.create_task(one.run())
    await until(lambda: not one.trouble)
    started[0].silent = True
    await until(lambda: len(started) == 2 and not one.trouble)
    assert killed == started[:1]
    task.cancel()
    await asyncio.wait([task])


async def test_a_dispatcher_that_is_starting_is_left_alone(
    looking: tuple[Supervisor, list[FakeActor], list[FakeActor]],
) -> None:
    one, started, killed = looking
    task = asyncio.create_task(one.run())
    await until(lambda: not one.trouble)
    started[0].starting = True
    await until(lambda: "starting" in one.trouble)
    started[0].asked.clear()
    await started[0].asked.wait()
    started[0].starting = False
    await until(lambda: not one.trouble)
    assert (len(started), killed) == (1, [])
    task.cancel()
    await asyncio.wait([task])


async def test_a_dispatcher_of_a_version_that_cannot_say_what_it_was_made_of_is_replaced(
    looking: tuple[Supervisor, list[FakeActor], list[FakeActor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Earlier(FakeActor):
        """Its handle knows no `made_of`."""

        @property
        def made_of(self) -> Method:
            raise AttributeError("made_of")

        @property
        def stop(self) -> Method:
            return Method(lambda: asyncio.sleep(0))

    one, started, killed = looking
    started.append(Earlier(one._parts))
    task = asyncio.create_task(one.run())
    await until(lambda: not one.trouble)
    assert (len(started), killed) == (2, started[:1])
    task.cancel()
    await asyncio.wait([task])


async def test_ends_that_dispatchers_count_are_logged_once_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ray's processes log in the run folder, which goes with the cluster."""
    monkeypatch.setattr(guard, "_LOOK_S", 0.01)
    store, none, said = await open_store("sqlite://"), Restarts(), ""
    one, died = none.ended("of an earlier cluster", 1), none.ended("its process died", 1)
    looked, states = asyncio.Event(), store.states

    async def noted(prefix: str) -> dict[str, tuple[Mapping[str, Json], float]]:
        found = await states(prefix)
        looked.set()
        return found

    async def logged(restarts: Restarts, lost: Restarts, until: str) -> None:
        nonlocal said
        await store.put_state("starts/main", restarts.data())
        await store.put_state("dispatcher/main", {"workers_lost": lost.data()})
        async with soon(28):
            while until not in said:
                await asyncio.sleep(0.01)
                said += "".join(capsys.readouterr())

    await store.put_state("starts/main", one.data())
    await store.put_state("dispatcher/main", {"workers_lost": one.data()})
    monkeypatch.setattr(store, "states", noted)
    loop = asyncio.create_task(guard.log_ends(store))
    try:
        for _ in range(3):  # what an earlier cluster left is seen
            looked.clear()
            await asyncio.wait_for(looked.wait(), 60)
        await logged(none, one.ended("it hung", 1), "it hung")
        await logged(died, none, "its process died")
        await logged(died, one.ended("it crashed", 1), "it crashed")
    finally:
        loop.cancel()
        await asyncio.wait([loop])
        await store.close()
    assert "of an earlier cluster" not in said
    assert (said.count("worker.lost"), said.count("dispatcher.ended")) == (2, 1), said
