"""Two dispatchers of different names over one PostgreSQL."""

from __future__ import annotations

from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.store.store import open_store
from tests.cluster_world import world
from tests.doubles import FakeBrowser
from tests.worker_world import EXTRACT, LOOP, FakeParts, shop


async def test_two_dispatchers_over_one_server_do_every_item_once_though_a_worker_dies(postgres_url: str) -> None:
    pages, config = shop(200, seconds=0.05), WorkerConfig(slots=2, artifacts_url="memory:")
    others: list[FakeBrowser] = []

    async def make(name: str) -> Worker:
        return Worker(f"other-{name}", config, FakeParts(others, lambda: FakeBrowser(pages), config))

    async with world(pages, slots=2, store_url=postgres_url, dispatch=DispatchConfig(per_domain=50)) as w:
        store = await open_store(postgres_url)
        second = Dispatcher(store, LocalPool(make, 2), DispatchConfig(name="second", per_domain=50), seed=2)
        try:
            await second.start()
            job = await w.submit(loop=LOOP, extract=EXTRACT)
            await w.until(job, lambda row: row.counts.completed >= 10)
            await w.pool.workers[0].lose()
            done = await w.final(job)
            names = set(await w.store.states("dispatcher/"))
        finally:
            await second.stop()
            await store.close()

        assert (done.counts.completed, done.counts.expected) == (200, 200)
        rows = await w.store.results(job, limit=300)
        assert [row.record.value["n"] for row in rows if row.record] == list(range(200))
        assert all(any(browser.visits for browser in some) for some in (w.browsers, others))
        assert names == {"dispatcher/main", "dispatcher/second"}
