"""A dispatcher dies and another takes its place: what the workers run is not lost, not doubled, and tried again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shoal.agent.errors import PageCrashed
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.pools.pool import WorkerHandle
from shoal.services.dispatch import dispatcher as module
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from tests.cluster_world import World, world
from tests.doubles import FakeBrowser, FakePage
from tests.patience import soon
from tests.worker_world import COMPLETED, EXTRACT, LOOP, shop

URL = "http://shop.example/"


@asynccontextmanager
async def succession(w: World, config: DispatchConfig) -> AsyncIterator[None]:
    """The dispatcher dies without a word to its workers; another of its name runs for as long as the context lasts."""
    tasks = [*w.dispatcher._tasks, *(one.puller for one in w.dispatcher._manager.workers.values() if one.puller)]
    w.dispatcher._manager.workers.clear()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    successor = Dispatcher(w.store, w.pool, config, seed=2)
    await successor.start()
    try:
        yield
    finally:
        await successor.stop()


async def test_what_fails_under_a_successor_is_tried_again() -> None:
    browsers = [FakeBrowser({URL: FakePage(seconds=0.5, raises=PageCrashed())})]
    async with world({}, make=browsers.pop) as w:
        job = await w.submit(extract=EXTRACT, max_attempts=2)
        await w.until(job, lambda row: bool(w.browsers and w.browsers[0].visits))
        async with succession(w, DispatchConfig()):
            w.browsers[0].pages[URL] = FakePage(read={"n": 1})  # its next visit
            done = await w.final(job)
        (row,) = await w.store.results(job)
        assert (done.status, row.attempts) == (COMPLETED, 2), row.error


async def test_the_leases_of_adopted_workers_are_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.1)
    config = DispatchConfig(lease_s=2.0)
    async with world({URL: FakePage(read={"n": 1}, seconds=5)}, dispatch=config) as w:
        job = await w.submit(extract=EXTRACT, max_attempts=3)
        await w.until(job, lambda row: bool(w.browsers and w.browsers[0].visits))
        async with succession(w, config):
            done = await w.final(job)
        (row,) = await w.store.results(job)
        assert (done.status, row.attempts) == (COMPLETED, 1), row.error
        assert len(w.browsers[0].visits) == 1


async def test_a_worker_that_cannot_be_started_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    started = LocalPool.start

    async def start(pool: LocalPool) -> WorkerHandle:
        if pool.workers:
            await asyncio.Event().wait()  # there is no node for it
        return await started(pool)

    monkeypatch.setattr(LocalPool, "start", start)
    async with soon(28), world(shop(5), dispatch=DispatchConfig(workers=3)) as w:
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))
        assert job.counts.completed == 5
        assert len(w.dispatcher.workers) == 1
