"""Workers that go: whoever waits for them must not be the housekeeper, and no session may pay for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from services.dispatch import dispatcher as module
from services.dispatch.config import DispatchConfig
from tests.cluster_world import EXTRACT, LOOP, World, shop, world


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not met():
            await asyncio.sleep(0.01)


async def told(w: World, workers: int) -> None:
    """Until the housekeeper has said that there are so many workers."""
    async with asyncio.timeout(20):
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
            await told(w, workers=1)
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
        await told(w, workers=3)
        assert (await w.final(job)).counts.completed == 60
        assert len(asked) == 1, "one question at a time"
