"""A store that is away for longer than leases last: no worker loses its session, nothing is done twice."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch import dispatcher as module
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.store.store import open_store
from tests.cluster_world import world
from tests.doubles import FakeBrowser
from tests.worker_world import EXTRACT, LOOP, FakeParts, form, shop

LEASE_S = 2.0
OUTAGE_S = 4.0


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.1)


async def lock_out(path: Path) -> None:
    """Lets another program hold the file's write lock for longer than leases last."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        await asyncio.sleep(OUTAGE_S)  # this is the fault itself: how long it lasts is what the test is about
        other.execute("rollback")


async def test_sessions_outlive_a_lock_of_the_store_and_run_once(tmp_path: Path) -> None:
    """Leases of all ages: those that were not due yet when the lock began are not renewed while it lasts."""
    config = DispatchConfig(lease_s=LEASE_S, per_domain=50, name="first")
    pages = shop(40, seconds=OUTAGE_S / 2)
    url = f"sqlite:///{tmp_path}/shoal.db"
    others: list[FakeBrowser] = []
    workers = WorkerConfig(slots=4, artifacts_url="memory:")

    async def make(name: str) -> Worker:
        return Worker(f"other-{name}", workers, FakeParts(others, lambda: FakeBrowser(pages), workers))

    async with world(pages, store_url=url, dispatch=config) as w:
        second_store = await open_store(url, migrate=False)
        second = Dispatcher(second_store, LocalPool(make, 4), DispatchConfig("second", lease_s=LEASE_S, per_domain=50))
        await second.start()
        try:
            job = await w.submit(loop=LOOP, extract=EXTRACT)
            await w.until(job, lambda row: row.counts.running >= 6)
            await lock_out(tmp_path / "shoal.db")
            ended = await w.until(job, lambda row: row.counts.completed >= 16)
            assert ended.counts.failed == 0
            seen = [url for browser in (*w.browsers, *others) for url in browser.visits]
            await w.store.cancel(job)
        finally:
            await second.stop()
            await second_store.close()
        assert len(seen) == len(set(seen)), "no item was opened twice"


async def test_a_form_that_is_being_sent_while_the_store_is_locked_is_not_in_doubt(tmp_path: Path) -> None:
    pages = form(act_seconds=OUTAGE_S / 2)
    url = f"sqlite:///{tmp_path}/shoal.db"
    async with world(pages, store_url=url, dispatch=DispatchConfig(lease_s=LEASE_S)) as w:
        job = await w.submit(data={"name": "Quimby"}, repeatable=False, extract=EXTRACT)
        sessions = await w.until(job, lambda row: row.counts.running == 1)

        async def marked() -> bool:
            held = await w.store.running([sessions.root_session])
            return bool(held and held[0].work.checkpoint and held[0].work.checkpoint.pending_action)

        while not await marked():
            await w.store.changed(0.05)
        # No dispatcher can look at it, nor renew it; another one comes first when the lock ends.
        other = await open_store(url, migrate=False)
        try:
            waiting = asyncio.create_task(lock_out(tmp_path / "shoal.db"))
            await asyncio.sleep(0)
            leases_expired = await other.expire_leases(lease_s=LEASE_S)
            await waiting
        finally:
            await other.close()
        assert leases_expired.sessions == ()
        assert (await w.final(job)).counts.completed == 1
