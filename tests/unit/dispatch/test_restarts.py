"""Parts that die as soon as they are started: they are started again, ever more slowly, and the status says so."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from shoal.agent.support.moments import loop_time
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.pools.pool import WorkerHandle, WorkerLost
from shoal.services.dispatch import dispatcher as module
from shoal.services.dispatch.actor import counted_start
from shoal.services.store.restarts import Restarts
from shoal.services.store.store import open_store
from tests.cluster_world import world
from tests.patience import soon
from tests.worker_world import EXTRACT, LOOP, shop


async def test_a_dispatcher_that_dies_again_and_again_starts_more_slowly_each_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = await open_store("sqlite://")
    try:
        begun, times = list[Restarts](), [loop_time()]
        for n in range(3):
            begun.append(await counted_start(store, "main", again=n > 0))
            times.append(loop_time())
        assert times[2] - times[1] >= 0.2 and times[3] - times[2] >= 0.4
        assert [(restarts.n, restarts.soon) for restarts in begun] == [(0, 0), (1, 1), (2, 2)]
        assert begun[2].why and begun[2].at
        assert capsys.readouterr().out.count("dispatcher.ended") == 2, "the log says so"
        assert (await counted_start(store, "other", again=True)).n == 0, "each has its own count"
        assert (await counted_start(store, "main", again=False)).n == 0, "it was started by a person"
    finally:
        await store.close()


def test_what_lasted_or_worked_starts_at_once_again() -> None:
    often = Restarts(n=7, soon=7)
    assert often.ended("it crashed", ran_s=1).pause_s > 20
    for well in (often.ended("it crashed", ran_s=61), often.ended("it crashed", ran_s=1, worked=True)):
        assert (well.n, well.soon, well.pause_s) == (8, 0, 0.1)
    assert Restarts.from_data(well.data()) == well


async def test_a_worker_that_dies_at_its_start_is_not_started_without_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)
    started = LocalPool.start

    async def start(pool: LocalPool) -> WorkerHandle:
        begun.append(loop_time())
        handle = await started(pool)
        asyncio.get_running_loop().call_soon(lambda: dying.append(asyncio.create_task(pool.workers[-1].lose())))
        return handle

    dying, begun = list[asyncio.Task[None]](), list[float]()
    async with world(shop(3)) as w:
        done = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))
        assert done.counts.completed == 3
        monkeypatch.setattr(LocalPool, "start", start)
        await w.pool.workers[0].lose()  # it had worked: the next one comes at once
        async with soon(28):
            while len(begun) < 4:
                await asyncio.sleep(0.01)
        pauses = [later - earlier for earlier, later in pairwise(begun)]
        assert all(pause >= least for pause, least in zip(pauses, (0.2, 0.4, 0.8), strict=False)), pauses
        monkeypatch.setattr(LocalPool, "start", started)
        assert (await w.final(await w.submit(loop=LOOP, extract=EXTRACT))).counts.completed == 3
        told = (await w.store.states("dispatcher/"))["dispatcher/main"][0]
        assert "worker.lost" in capsys.readouterr().out, "the log says so"
        assert told["workers_lost"]["restarts"] >= 2 and told["workers_lost"]["why"]
        assert told["restarts"]["restarts"] == 0


async def test_a_worker_that_cannot_be_started_is_tried_ever_more_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)
    tries, started = list[float](), LocalPool.start

    async def start(pool: LocalPool) -> WorkerHandle:
        tries.append(loop_time())
        if len(tries) < 5:
            raise WorkerLost("there is no Chromium")
        return await started(pool)

    async with world(shop(1)) as w:
        await w.final(await w.submit(loop=LOOP, extract=EXTRACT))
        monkeypatch.setattr(LocalPool, "start", start)
        await w.pool.workers[0].lose()
        assert (await w.final(await w.submit(loop=LOOP, extract=EXTRACT))).counts.completed == 1
    pauses = [later - earlier for earlier, later in pairwise(tries)]
    assert all(pause >= least for pause, least in zip(pauses, (0.2, 0.4, 0.8, 1.6), strict=True)), pauses
