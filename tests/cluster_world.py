"""A small cluster in one process: real store, dispatcher, worker and session; a fake browser and a plain policy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL
from shoal.agent.support.json_value import Json
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.store.records import JobRow, NewJob
from shoal.services.store.store import Store, open_store
from tests.doubles import FakeBrowser, FakePage
from tests.patience import soon
from tests.worker_world import FakeParts


@dataclass
class World:
    """The running cluster."""

    store: Store
    dispatcher: Dispatcher
    pool: LocalPool
    browsers: list[FakeBrowser]

    async def submit(self, *, tenant: str = "t", **fields: Json) -> int:
        spec = JobSpec.model_validate({"url": "http://shop.example/"} | fields)
        return (await self.store.submit([NewJob(tenant, spec, "shop.example")]))[0].job

    async def until(self, job: int, met: Callable[[JobRow], bool]) -> JobRow:
        """The job, as soon as `met` holds for it."""
        seen: int | None = None
        async with soon(28):  # what is noticed only by leases, or by half a minute's silence, is too late
            while not met(row := await self.store.job(job)):
                seen = await self.store.changed(0.2, since=seen)
        return row

    async def final(self, job: int) -> JobRow:
        return await self.until(job, lambda row: row.status in FINAL)

    async def running(self, job: int, n: int) -> JobRow:
        return await self.until(job, lambda row: row.counts.running >= n)


@asynccontextmanager
async def world(
    pages: dict[str, FakePage],
    *,
    slots: int = 4,
    store_url: str = "sqlite://",
    dispatch: DispatchConfig = DispatchConfig(),
    make: Callable[[], FakeBrowser] | None = None,
    config: WorkerConfig | None = None,
    parts: type[FakeParts] = FakeParts,
) -> AsyncIterator[World]:
    """A cluster over `pages`, stopped at the end."""
    browsers: list[FakeBrowser] = []
    config = config or WorkerConfig(slots=slots, artifacts_url="memory:")

    def worker_maker() -> Callable[[str], Awaitable[Worker]]:
        async def make_one(name: str) -> Worker:
            return Worker(name, config, parts(browsers, make or (lambda: FakeBrowser(pages)), config))

        return make_one

    store = await open_store(store_url)
    pool = LocalPool(worker_maker(), config.slots)
    dispatcher = Dispatcher(store, pool, dispatch, seed=1)
    try:
        await dispatcher.start()
        yield World(store, dispatcher, pool, browsers)
    finally:
        await dispatcher.stop()
        await store.close()
