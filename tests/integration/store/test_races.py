"""Two transactions on PostgreSQL that want the same rows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import Row

from shoal.agent.status import Status
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import ending
from shoal.services.store.records import ClaimRequest, Finish
from shoal.services.store.store import Store
from tests.patience import PATIENCE_S
from tests.store_world import DONE, World, world

CLAIM = """update session set state = 1, fence = fence + 1, attempt = attempt + 1, owner = 'w1', lease_until = %s
where id = any(array(
    select id from session where job = %s and state = 0 order by id limit 5 for update skip locked))
returning id"""
"""The statement of a claim, held open at its last moment: the first five run from then on."""


@asynccontextmanager
async def rivals(url: str) -> AsyncIterator[tuple[World, psycopg.AsyncConnection, psycopg.AsyncConnection]]:
    """A store, who claims beside it and holds the transaction open, and who watches both."""
    async with (
        world(url) as w,
        await psycopg.AsyncConnection.connect(url) as claimer,
        await psycopg.AsyncConnection.connect(url, autocommit=True) as watcher,
    ):
        yield w, claimer, watcher


async def blocked(conn: psycopg.AsyncConnection) -> None:
    """Returns once somebody of this database waits for a lock."""
    query = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    async with asyncio.timeout(60):
        while (await (await conn.execute(query)).fetchone()) == (0,):
            await asyncio.sleep(0.01)


async def test_a_child_that_is_claimed_while_its_loop_is_narrowed_stays_its_worker_s(postgres_url: str) -> None:
    async with rivals(postgres_url) as (w, claimer, watcher):
        job, _ = await w.open_loop(10)
        ids = [row[0] for row in await (await claimer.execute(CLAIM, [w.clock.now + 60, job])).fetchall()]
        narrowing = asyncio.create_task(w.store.set_concurrency(job, 2))
        await blocked(watcher)
        await claimer.commit()
        await narrowing

        rows = {row.id: row for row in (await w.store.sessions(job))[0]}
        assert {rows[session].status for session in ids} == {Status.RUNNING}
        # Five run and no seat is free: those that were held back go one by one as they end, never more than two.
        held = await w.store.running(ids)
        for one in held:
            await w.finish((one, DONE))
        assert len(await w.claim()) == 2
        await w.check_sums(job)


async def test_claims_at_once_let_no_more_out_of_a_loop_that_is_being_narrowed(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither sees what the other has not committed yet; thousands are ready for both."""
    monkeypatch.setattr(ending, "SLICE", 3)
    async with world(postgres_url) as w:
        job, _ = await w.open_loop(60, hosts=6)
        others = [await w.another() for _ in range(3)]
        await w.store.set_concurrency(job, 2)
        partitions = await w.store.partitions()
        takes = [[ClaimRequest(partition.job, partition.domain, partition.cursor, 2)] for partition in partitions]
        stores = [w.store, *others, w.store, *others]
        claims = await asyncio.gather(
            *(store.claim("w1", take, lease_s=60.0) for store, take in zip(stores, takes, strict=False))
        )
        assert sum(len(one.sessions) for one in claims) == 2
        await w.check_sums(job)


async def test_a_claim_counts_what_another_lets_out_of_the_loop_at_this_moment(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SLICE", 1)
    async with rivals(postgres_url) as (w, claimer, watcher):
        job, root = await w.open_loop(10)
        await w.store.set_concurrency(job, 2)
        two_of_them = CLAIM.replace("limit 5", "limit 2")
        assert len(await (await claimer.execute(two_of_them, [w.clock.now + 60, job])).fetchall()) == 2
        await claimer.execute("select pg_advisory_xact_lock(%s)", [-root])  # as claims do that count
        claiming = asyncio.create_task(w.claim(job=job))
        await blocked(watcher)
        await claimer.commit()
        assert await claiming == []
        await w.check_sums(job)


async def test_a_child_that_is_claimed_while_its_job_is_canceled_stays_its_worker_s(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SLICE", 3)
    async with rivals(postgres_url) as (w, claimer, watcher):
        job, root = await w.open_loop(10)
        ids = [row[0] for row in await (await claimer.execute(CLAIM, [w.clock.now + 60, job])).fetchall()]
        canceling = asyncio.create_task(w.store.cancel(job))
        await blocked(watcher)
        await claimer.commit()
        await canceling
        assert await w.status(root) is Status.WAITING, "a slice that found its sessions taken was not the last one"
        while (await w.store.run_bulk_operations()).more:
            await w.check_sums(job)
        assert {await w.status(session) for session in ids} == {Status.RUNNING}
        await w.finish(*((one, DONE) for one in await w.store.running(ids)))
        row = await w.check_sums(job)
        assert (row.status, row.counts.completed, row.counts.canceled) == (Status.CANCELED, 5, 5)


async def test_commits_that_end_jobs_of_the_same_tenants_wait_for_each_other_in_one_order(postgres_url: str) -> None:
    """Each adds to the totals of all tenants; half of the commits come to these in the other direction."""
    async with world(postgres_url) as w:
        stores = [w.store, *[await w.another() for _ in range(3)]]
        names = [f"t{n}" for n in range(TENANTS)]
        batches = []
        for n in range(ENDING):
            await asyncio.gather(*(w.submit(tenant=tenant) for tenant in (reversed(names) if n % 2 else names)))
            batches.append([Finish(one.work.session, one.work.fence, DONE) for one in await w.claim()])
        began = asyncio.Barrier(len(stores))

        async def end(store: Store, mine: list[list[Finish]]) -> None:
            await began.wait()
            for batch in mine:
                await store.finish(batch)

        await asyncio.gather(*(end(store, batches[n :: len(stores)]) for n, store in enumerate(stores)))
        assert await w.store.counts_by_status() == {(name, Status.COMPLETED): ENDING for name in names}
        for store in stores:
            await store.close()  # connections tell what they met when they end, at the latest
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            query = "select deadlocks from pg_stat_database where datname = current_database()"
            assert conn.execute(query).fetchone() == (0,)


TENANTS, ENDING, ITEMS = 60, 40, 3


async def test_a_job_that_ends_while_totals_are_told_counts_once(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends before the first query of the look, before the second, and so on, until there is no such query."""
    async with world(postgres_url) as w:
        other, here, query = await w.another(), asyncio.get_running_loop(), Tx.rows
        ends: dict[int, Finish] = {}  # by the number of queries that come before
        jobs = 0

        def rows(tx: Tx, name: str, /, **params: Any) -> Sequence[Row[Any]]:
            due = ends.pop(0, None)
            if due is not None:
                asyncio.run_coroutine_threadsafe(other.finish([due]), here).result(PATIENCE_S)
            elif ends:
                ((before, end),) = ends.items()
                del ends[before]
                ends[before - 1] = end
            return query(tx, name, **params)

        while not ends:
            job, _ = await w.open_loop(ITEMS)
            await w.finish(*((item, DONE) for item in await w.claim()))
            root = await w.claim_one()
            ends[jobs] = Finish(root.work.session, root.work.fence, DONE)
            with monkeypatch.context() as patched:
                patched.setattr(Tx, "rows", rows)
                told = await w.store.counts_by_status()
            jobs += 1
            assert told["acme", Status.COMPLETED] == jobs * ITEMS
            assert ends or (await w.store.job(job)).status is Status.COMPLETED
        assert jobs > 2
