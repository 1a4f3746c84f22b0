"""Two transactions on PostgreSQL that want the same rows."""

from __future__ import annotations

import asyncio

import psycopg

from agent.status import Status
from tests.store_world import DONE, world


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
        # What a claim does, held open at its last moment: the first five run from now on.
        claim = """update session set state = 1, fence = fence + 1, attempt = attempt + 1, owner = 'w1',
            lease_until = %s where id = any(array(
                select id from session where job = %s and state = 0 order by id limit 5 for update skip locked))
            returning id"""
        ids = [row[0] for row in await (await claimer.execute(claim, [w.clock.now + 60, job])).fetchall()]
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
