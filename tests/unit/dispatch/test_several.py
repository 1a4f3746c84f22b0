"""Several dispatchers on one store, and a pool that follows the backlog."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.agent.browser import ContextOptions
from shoal.agent.status import Status
from shoal.agent.worker_messages import Work
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.pools.pool import WorkerHandle
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch import dispatcher as module
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.store.records import Claims, Finish, JobChanges
from tests import store_world
from tests.cluster_world import world
from tests.doubles import FakeBrowser, FakePage
from tests.doubles.browser_double import FakeContext
from tests.patience import soon
from tests.store_world import BROKEN, DONE, links, loop
from tests.worker_world import EXTRACT, LOOP, FakeParts, shop


async def test_two_dispatchers_share_a_loop_and_do_every_item_once() -> None:
    config = WorkerConfig(slots=2, artifacts_url="memory:")
    slow, quick = shop(60, seconds=0.2), shop(60, seconds=0.01)
    others: list[FakeBrowser] = []

    async with world(slow, slots=2, dispatch=DispatchConfig(per_domain=50)) as w:

        class Patient(FakeBrowser):
            """Leaves the first dispatcher the time to see that there is work: after ten pages it waits for that."""

            async def new_context(self, options: ContextOptions = ContextOptions()) -> FakeContext:
                while len(self.visits) >= 10 and not any(browser.visits for browser in w.browsers):
                    await asyncio.sleep(0.01)
                return await super().new_context(options)

        async def make(name: str) -> Worker:
            return Worker(f"other-{name}", config, FakeParts(others, lambda: Patient(quick), config))

        second = Dispatcher(w.store, LocalPool(make, 2), DispatchConfig(name="second", per_domain=50), seed=2)
        await second.start()
        try:
            job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))
        finally:
            await second.stop()

        assert (job.counts.completed, job.counts.expected) == (60, 60)
        rows = await w.store.results(job.id, limit=100)
        assert [row.record.value["n"] for row in rows if row.record] == list(range(60))
        visits = [url for browser in (*w.browsers, *others) for url in browser.visits]
        assert len(visits) == len(set(visits)) == 61
        assert all(any(browser.visits for browser in some) for some in (w.browsers, others))


async def test_the_pool_grows_with_the_backlog_and_shrinks_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.1)
    config = DispatchConfig(workers=1, most_workers=3, idle_worker_s=0.1, per_domain=50)
    async with world(shop(60, seconds=0.05), slots=2, dispatch=config) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        async with soon(28):
            while len(w.dispatcher.workers) < 3:
                await asyncio.sleep(0.01)
            assert (await w.final(job)).counts.completed == 60
            while len(w.dispatcher.workers) > 1:
                await asyncio.sleep(0.01)

        assert (await w.final(await w.submit(extract=EXTRACT, url="http://shop.example/3"))).counts.completed == 1


async def test_a_backlog_on_one_site_asks_for_no_more_workers_than_the_site_takes_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)
    config = DispatchConfig(workers=1, most_workers=10, per_domain=2)
    async with world(shop(60, seconds=0.03), slots=2, dispatch=config) as w:
        done = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))
        assert done.counts.completed == 60
        assert len(w.pool.workers) <= 2, "two places, and a tenth for headroom"


async def test_two_dispatchers_do_not_both_ask_for_workers_for_the_whole_backlog(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)
    worker_config = WorkerConfig(slots=1, artifacts_url="memory:")
    pages = shop(1)

    async def make(name: str) -> Worker:
        return Worker(f"other-{name}", worker_config, FakeParts([], lambda: FakeBrowser(pages), worker_config))

    config = DispatchConfig(workers=1, most_workers=11, per_domain=50)
    async with world(pages, slots=1, dispatch=config) as w:
        second = Dispatcher(w.store, LocalPool(make, 1), replace(config, name="second"), seed=2)
        its_own, may_claim = w.store.claim, asyncio.Event()

        async def claim(*args: Any, **more: Any) -> Claims:
            await may_claim.wait()
            return await its_own(*args, **more)

        async def sizes() -> list[int]:
            said = [snapshot for snapshot, _ in (await w.store.states("dispatcher/")).values()]
            return [one["size"]["workers"] for one in said if one["size"]]

        monkeypatch.setattr(w.store, "claim", claim)
        await second.start()
        try:
            async with soon(28):
                while len(await sizes()) < 2:
                    await asyncio.sleep(0.01)
                jobs = [await w.submit(extract=EXTRACT, url="http://shop.example/0") for _ in range(12)]
                while min(said := await sizes()) < 7:
                    await asyncio.sleep(0.01)
            assert said == [7, 7], "half of twelve each, and a tenth for headroom"
            may_claim.set()
            for job in jobs:
                assert (await w.final(job)).counts.completed == 1
        finally:
            may_claim.set()
            await second.stop()


async def test_a_lost_worker_is_replaced_once_though_the_pool_is_sized_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.02)
    config = DispatchConfig(workers=1, most_workers=2, per_domain=50)
    async with world(shop(100, seconds=0.05), slots=2, dispatch=config) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await w.until(job, lambda row: len(w.dispatcher.workers) == 2)
        sized = asyncio.Semaphore(0)
        its_start = w.pool.start

        async def start() -> WorkerHandle:
            for _ in range(3):  # a start takes longer than from one sizing to the next
                await sized.acquire()
            return await its_start()

        async def expect(workers: int) -> None:
            sized.release()

        monkeypatch.setattr(w.pool, "start", start)
        monkeypatch.setattr(w.pool, "expect", expect)
        await w.pool.workers[0].lose()
        async with soon(28):
            while len(w.pool.workers) < 3:
                await asyncio.sleep(0.01)

        assert (await w.final(job)).counts.completed == 100
        assert len(w.pool.workers) == 3, "two at first, and one for the lost one"


@pytest.mark.parametrize("politeness", [{}, {"robots": False, "delay_s": 0.02}, {"robots": False, "per_domain": 1}])
@pytest.mark.parametrize("lost_first", [True, False])
async def test_sessions_claimed_for_a_worker_that_is_lost_meanwhile_go_on_elsewhere(
    monkeypatch: pytest.MonkeyPatch, politeness: dict[str, object], lost_first: bool
) -> None:
    """So do those that such a claim left behind: their domain still has the places that the lost ones were to take."""
    async with world(shop(20, seconds=0.02), slots=2, dispatch=DispatchConfig(workers=2, per_domain=50)) as w:
        its_claim = w.store.claim
        lost: list[str] = []

        async def lose(name: str) -> None:
            lost.append(name)
            await next(worker for worker in w.pool.workers if worker.name == name).lose()
            async with soon(28):
                while name in w.dispatcher.workers:
                    await asyncio.sleep(0.01)

        async def claim(owners: Sequence[str], *args: Any, **more: Any) -> Claims:
            items = bool((await w.store.job(job)).counts.expected)
            if items and lost_first and not lost:  # its leases are reaped, but for those of this claim
                await lose(owners[0])
            claims = await its_claim(owners, *args, **more)
            if items and not lost and claims.sessions:
                await lose(claims.sessions[0].owner)
            return claims

        job = await w.submit(loop=LOOP, extract=EXTRACT, politeness=politeness)
        monkeypatch.setattr(w.store, "claim", claim)
        row = await w.final(job)
        assert lost
        assert (row.counts.completed, row.counts.expected) == (20, 20)


async def test_a_worker_that_does_not_answer_keeps_no_other_from_work(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(shop(4), slots=2, dispatch=DispatchConfig(workers=2, per_domain=50)) as w:
        silent, _ = w.pool.workers
        asked, never = asyncio.Event(), asyncio.Event()

        async def submit(works: Sequence[Work]) -> None:
            asked.set()
            await never.wait()

        monkeypatch.setattr(silent, "submit", submit)
        jobs = [await w.submit(extract=EXTRACT, url="http://shop.example/3") for _ in range(30)]
        async with soon(28):
            await asked.wait()
            while len([job for job in jobs if (await w.store.job(job)).finished_at]) < 15:  # more than one claim gives
                await asyncio.sleep(0.01)
        await silent.lose()
        for job in jobs:
            assert (await w.final(job)).counts.completed == 1


async def test_a_long_loop_runs_while_it_is_being_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.agent.sessions.loops.loop_items.FIRST_ITEMS", 5)
    monkeypatch.setattr("shoal.agent.sessions.loops.loop_items.ITEMS_AT_ONCE", 7)
    async with world(shop(40)) as w:
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        assert (job.counts.completed, job.counts.expected) == (40, 40)
        rows = await w.store.results(job.id, limit=100)
        assert [row.record.value["n"] for row in rows if row.record] == list(range(40))


@pytest.mark.parametrize(
    ("how", "status"), [("cancel", Status.CANCELED), ("deadline", Status.FAILED), ("stop", Status.COMPLETED)]
)
async def test_a_dispatcher_ends_what_others_began_to_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: str, status: Status
) -> None:
    monkeypatch.setattr("shoal.services.store.jobs.ending.SLICE", 5)
    url = f"sqlite:///{tmp_path}/shoal.db"
    async with store_world.world(url) as before:
        before.clock.now, before.first, before.part = time.time(), 5, 7
        job = await before.submit(url="http://shop.example/", loop=LOOP)
        root = await before.claim_one()
        await before.report(Finish(root.work.session, root.work.fence, loop(links(60), stop=True)))
        one, *others = await before.claim()
        await before.finish(*((other, DONE) for other in others))
        if how == "cancel":
            await before.store.cancel(job)
            await before.finish((one, DONE))
        elif how == "deadline":
            await before.store.change(job, JobChanges(frozenset({"deadline_s"}), deadline_s=0.0))
            assert await before.store.expire_deadlines() == [job]
        else:
            await before.store.finish([Finish(one.work.session, one.work.fence, BROKEN)])
        assert (await before.store.job(job)).counts.final < 60, "the dispatcher that began it has gone"

    async with world(shop(1), store_url=url) as w:
        row = await w.final(job)

    assert (row.status, row.counts.final, row.counts.expected) == (status, 60, 60)


async def test_a_loop_that_stops_is_ended_without_waiting_for_the_housekeeper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.store.jobs.ending.SLICE", 5)
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 3_600.0)
    pages = shop(200)
    pages["http://shop.example/0"] = FakePage(read={})  # not the record that was asked for
    async with world(pages, slots=1) as w:
        job = await w.final(await w.submit(loop=LOOP | {"on_error": "stop"}, extract=EXTRACT, max_attempts=1))

    assert job.counts.failed == 1 and job.counts.canceled > 100
