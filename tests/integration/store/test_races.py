"""Two transactions on PostgreSQL that want the same rows."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from agent.status import Status
from services.store import ending
from tests.store_world import DONE, world

CLAIM = """update session set state = 1, fence = fence + 1, attempt = attempt + 1, owner = 'w1', lease_until = %s
where id = any(array(
    select id from session where job = %s and state = 0 order by id limit 5 for update skip locked))
returning id"""
"""What a claim does, held open at its last moment: the first five run from then on."""


async def blocked(conn: psycopg.AsyncConnection) -> None:
    """Returns once somebody of this database waits for a lock."""
    query = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    async with asyncio.timeout(10):
        while (await (await conn.execute(query)).fetchone()) == (0,):
            await asyncio.sleep(0.01)


async def test_a_child_that_is_claimed_while_its_loop_is_narrowed_stays_its_worker_s(postgres_url: str) -> None:
    async with (
        world(postgres_url) as w,
        await psycopg.AsyncConnection.connect(postgres_url) as claimer,
        await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as watcher,
    ):
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


async def test_a_child_that_is_claimed_while_its_job_is_canceled_stays_its_worker_s(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SLICE", 3)
    async with (
        world(postgres_url) as w,
        await psycopg.AsyncConnection.connect(postgres_url) as claimer,
        await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as watcher,
    ):
        job, root = await w.open_loop(10)
        ids = [row[0] for row in await (await claimer.execute(CLAIM, [w.clock.now + 60, job])).fetchall()]
        canceling = asyncio.create_task(w.store.cancel(job))
        await blocked(watcher)
        await claimer.commit()
        await canceling
        assert await w.status(root) is Status.WAITING, "a slice that found its sessions taken was not the last one"
        while (await w.store.sweep()).more:
            await w.check_sums(job)
        assert {await w.status(session) for session in ids} == {Status.RUNNING}
        await w.finish(*((one, DONE) for one in await w.store.running(ids)))
        row = await w.check_sums(job)
        assert (row.status, row.counts.completed, row.counts.canceled) == (Status.CANCELED, 5, 5)
