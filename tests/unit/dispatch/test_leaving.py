"""Workers that go: the housekeeper must not wait for them, and no session may pay for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.status import Status
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch import dispatcher as module
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.dispatch.workers.worker_manager import WorkerManager
from shoal.services.dispatch.workers.worker_state import claiming
from shoal.services.store.records import DRAIN, Claims
from tests.cluster_world import World, world
from tests.doubles import FakeBrowser
from tests.patience import soon
from tests.worker_world import EXTRACT, LOOP, FakeParts, shop


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)


async def until(met: Callable[[], bool]) -> None:
    async with soon(28):
        while not met():
            await asyncio.sleep(0.01)


async def wait_for_workers(w: World, workers: int) -> None:
    """Until the housekeeper has said that there are so many workers."""
    async with soon(28):
        while True:
            said = (await w.store.states("dispatcher/")).get("dispatcher/main")
            if said is not None and len(said[0]["workers"]) == workers:
                return
            await w.store.changed(0.02)


async def test_workers_that_take_their_time_to_end_keep_the_housekeeper_from_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = DispatchConfig(workers=1, most_workers=4, idle_worker_s=0.1, per_domain=50)
    async with world(shop(60, seconds=0.05), slots=2, dispatch=config) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await until(lambda: len(w.pool.workers) == 4)
        may_end, ending = asyncio.Event(), list[str]()
        for worker in w.pool.workers:
            its_own = worker.end

            async def end(name: str = worker.name, its_own: Callable[[], object] = its_own) -> None:
                ending.append(name)
                await may_end.wait()
                await its_own()  # type: ignore[misc]

            monkeypatch.setattr(worker, "end", end)
        await w.final(job)
        try:
            await wait_for_workers(w, workers=1)
            assert len(ending) == 3, "beside each other"
            assert not any(worker.lost for worker in w.pool.workers)
        finally:
            may_end.set()
        await until(lambda: sum(worker.lost for worker in w.pool.workers) == 3)


async def test_machines_that_are_asked_for_in_vain_keep_the_housekeeper_from_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world(
        shop(60, seconds=0.05), slots=2, dispatch=DispatchConfig(workers=1, most_workers=3, per_domain=50)
    ) as w:
        asked = list[int]()

        async def expect(workers: int) -> None:
            asked.append(workers)
            await asyncio.Event().wait()

        monkeypatch.setattr(w.pool, "expect", expect)
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await wait_for_workers(w, workers=3)
        assert (await w.final(job)).counts.completed == 60
        assert len(asked) == 1, "one question at a time"


@pytest.mark.parametrize("given", [True, False])
async def test_a_worker_is_not_let_go_while_a_claim_may_give_it_sessions(given: bool) -> None:
    """Else they would be reaped before they began: with one attempt they fail."""
    config = DispatchConfig(workers=2, idle_worker_s=0.0)
    worker_config = WorkerConfig(slots=1, artifacts_url="memory:")

    async def make(name: str) -> Worker:
        return Worker(name, worker_config, FakeParts([], lambda: FakeBrowser({}), worker_config))

    async def reap(worker: str) -> None:
        raise AssertionError(f"{worker} held nothing")

    workers = WorkerManager(LocalPool(make, 1), DispatchState.of(config), lambda worker, reports: None, reap)
    await workers.fill()
    await until(lambda: len(workers.workers) == 2)
    with claiming(workers.workers.values()):
        await workers.resize(1, 0)
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(workers.workers) == 2
        (leaving,) = [worker for worker in workers.workers.values() if worker.leaving]
        assert not leaving.wants_more, "the next claim leaves it out"
        if given:
            leaving.hold(1)
    if given:
        await until(lambda: not leaving.leaving)
        assert workers.has(leaving)
    else:
        await until(lambda: not workers.has(leaving))
    await workers.end()


async def test_sessions_claimed_for_a_worker_whose_node_begins_to_end_go_on_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = DispatchConfig(workers=1, per_domain=50)
    async with world(shop(10, seconds=0.02), slots=2, dispatch=config) as w:
        its_own, (leaving,) = w.store.claim, w.pool.workers
        its_stats = leaving.stats

        async def stats() -> WorkerStats:
            return replace(await its_stats(), ends_in_s=60.0)

        async def claim(owners: Sequence[str], *args: Any, **more: Any) -> Claims:
            if len(w.pool.workers) == 1:
                monkeypatch.setattr(leaving, "stats", stats)
                await until(lambda: len(w.dispatcher.workers) > 1 or leaving.name not in w.dispatcher.workers)
            return await its_own(owners, *args, **more)

        monkeypatch.setattr(w.store, "claim", claim)
        done = await w.final(await w.submit(extract=EXTRACT, url="http://shop.example/3", max_attempts=1))
        assert done.status is Status.COMPLETED


async def test_a_worker_that_an_operator_drains_is_replaced_and_ends_what_it_runs() -> None:
    config = DispatchConfig(workers=1, most_workers=1, per_domain=50)
    async with world(shop(8, seconds=0.3), slots=2, dispatch=config) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await w.running(job, 2)
        (first,) = w.pool.workers
        await w.store.put_state(f"{DRAIN}{first.name}", {})
        await until(lambda: len(w.pool.workers) == 2 and first.lost)
        done = await w.final(job)
        assert (done.status, done.counts.completed) == (Status.COMPLETED, 8)
        sessions, _ = await w.store.sessions(job, limit=100)
        assert {row.attempt for row in sessions if row.item is not None} == {1}, "no session paid for it"
        assert len(w.dispatcher.workers) == 1 and first.name not in w.dispatcher.workers
