"""PostgreSQL's plans, made while the store is nearly empty, do not stay when it is full."""

from __future__ import annotations

import psycopg
import pytest

from shoal.agent.status import Status
from shoal.agent.types import Checkpoint
from shoal.services.store.database.states import State
from shoal.services.store.jobs import ending
from shoal.services.store.records import ClaimRequest
from tests.embedded import wait_until
from tests.store_world import BROKEN, DONE, links, loop, world

pytestmark = pytest.mark.timeout(600)  # beside other rings on two cores

ITEMS = 8_000
LANES = 80
LOOPS = 4
ROUNDS = 20
HELD = 100
OFTEN = 100
"""Calls until each of the store's connections would have prepared a statement, and kept a plan for it."""


async def test_a_store_that_was_empty_a_moment_ago_is_read_by_index(postgres_url: str) -> None:
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:  # as if the loop came between two of its rounds
            conn.execute("alter table session set (autovacuum_enabled = false)")
            await w.submit()
            root = await w.claim_one()
            conn.execute("analyze session")
        for _ in range(OFTEN):
            await w.store.partitions()
            await w.store.claim("w2", [ClaimRequest(1, 1, 0, 1)], lease_s=60.0)
        await w.finish((root, loop(links(ITEMS, hosts=LANES))))
        held = await w.claim(1)
        await w.finish(*((one, DONE) for one in held))
        assert len(held) == LANES
        await w.store.close()  # connections tell what they did when they end, at the latest
        assert entries_read(postgres_url) < ITEMS


async def test_what_was_held_before_is_not_read_again_and_again(postgres_url: str) -> None:
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("alter table session set (autovacuum_enabled = false)")
            jobs = [(await w.open_loop(ROUNDS * HELD, hosts=25))[0] for _ in range(LOOPS)]
            rounds = 0
            while held := await w.claim(HELD // 25):
                if not rounds:
                    conn.execute("analyze session")
                await w.finish(*((one, DONE) for one in held))
                rounds += 1
        for job in jobs:
            assert (await w.store.job(job)).counts.completed == ROUNDS * HELD
        await w.store.close()
        # Twice each, when it is held and when it has ended; what had ended before a round is not read once more in it.
        assert entries_read(postgres_url, "session_leased", "session_busy") < 3 * LOOPS * ROUNDS * HELD


async def test_checkpoints_and_summaries_read_the_sessions_that_they_are_of(postgres_url: str) -> None:
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("alter table session set (autovacuum_enabled = false)")
        for _ in range(LOOPS):
            await w.open_loop(ROUNDS)
        children = await w.claim()
        await w.open_loop(ITEMS // 4)
        held = await w.claim(ITEMS // 4)
        await w.finish(*((one, DONE) for one in children))
        for n in range(0, 200, 10):
            of = [(one.work.session, one.work.fence, Checkpoint()) for one in held[n : n + 10]]
            assert await w.store._keep_all(of) == [True] * 10
        roots = await w.claim()
        assert [one.work.children and one.work.children.completed for one in roots] == [ROUNDS] * LOOPS
        await w.store.close()
        assert entries_read(postgres_url) < 3 * ITEMS


async def test_news_reads_what_is_new_and_not_the_partitions_of_others(postgres_url: str) -> None:
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("alter table session set (autovacuum_enabled = false)")
            await w.submit()
            conn.execute("analyze session, job, event")
        await w.open_loop(ITEMS, hosts=LANES)
        seq = (await w.store.changed_partitions(None)).seq
        await w.store.close()
    before = entries_read(postgres_url)
    async with world(postgres_url) as w:
        for _ in range(ROUNDS):
            job = await w.submit()
            news = await w.store.changed_partitions(seq)
            assert [partition.job for partition in news.ready] == [job] and news.seq > seq
            seq = news.seq
        await w.store.close()
    assert entries_read(postgres_url) - before < 20 * ROUNDS


@pytest.mark.parametrize("limit", [5, None])
async def test_a_slice_of_another_concurrency_reads_what_it_changes(
    postgres_url: str, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SLICE", ITEMS // 40)
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("alter table session set (autovacuum_enabled = false)")
            begins_with = {"values": ["a"], "concurrency": 5} if limit is None else {"values": ["a"]}
            job, _ = await w.open_loop(ITEMS // 2, hosts=LANES, loop=begins_with)
            await w.open_loop(ITEMS // 2, hosts=LANES)
            conn.execute("select pg_stat_force_next_flush(), pg_stat_reset()")
        await w.store.set_concurrency(job, limit)
        while (await w.store.run_bulk_operations()).more:
            pass
        assert await w.store.ready_count(ITEMS * 2) == ITEMS // 2 + (limit or ITEMS // 2)
        await w.store.close()
        # Each is found once, and looked up once to be held or let go; a reading of what is ready beside that.
        assert entries_read(postgres_url) < 4 * ITEMS


async def test_a_slice_of_a_retry_reads_what_it_opens_and_what_is_above(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SLICE", ITEMS // 40)
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("alter table session set (autovacuum_enabled = false)")
            job, _ = await w.open_loop(ITEMS // 2, hosts=LANES)
            await w.open_loop(ITEMS // 2, hosts=LANES)
            await w.store.cancel(job)
            while (await w.store.run_bulk_operations()).more:
                pass
            conn.execute("select pg_stat_force_next_flush(), pg_stat_reset()")
        await w.store.retry(job)
        while (await w.store.run_bulk_operations()).more:
            pass
        assert (await w.store.job(job)).counts.final == 0
        await w.store.close()
        assert entries_read(postgres_url) < 3 * ITEMS


@pytest.mark.parametrize("how", ["cancel", "stop"])
async def test_a_slice_reads_what_it_ends_and_not_what_was_ended_before(
    postgres_url: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SLICE", ITEMS // 40)
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("alter table session set (autovacuum_enabled = false)")
        job, _ = await w.open_loop(ITEMS // 2, hosts=LANES, stop=True)
        other, _ = await w.open_loop(ITEMS // 2, hosts=LANES)
        (one, *_) = await w.claim(1, job=job)
        if how == "cancel":
            await w.store.cancel(job)
        else:
            await w.finish((one, BROKEN))
        while (await w.store.run_bulk_operations()).more:
            pass
        assert (await w.store.job(job)).counts.canceled == ITEMS // 2 - LANES
        assert (await w.store.job(other)).counts.canceled == 0
        await w.store.close()
        # Each is found once, and looked up once to be ended.
        assert entries_read(postgres_url) < 3 * ITEMS


async def test_what_has_ended_is_told_without_a_look_at_the_jobs_that_have(postgres_url: str) -> None:
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("alter table job set (autovacuum_enabled = false)")
            await w.submit()
            conn.execute("analyze job")
            conn.execute(ENDED_JOBS)
        for _ in range(ROUNDS):
            assert (await w.store.counts_by_status())["acme", Status.COMPLETED] == 1
        await w.store.close()
        assert entries_read(postgres_url, table="job") < ITEMS


@pytest.mark.parametrize("status", [Status.FAILED, Status.UNSURE, Status.WAITING, Status.RUNNING])
async def test_a_list_by_status_reads_what_it_gives_and_not_what_has_ended_otherwise(
    postgres_url: str, status: Status
) -> None:
    async with world(postgres_url) as w:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("alter table session set (autovacuum_enabled = false)")
            job, _ = await w.open_loop(ITEMS // 4)
            conn.execute("analyze session")
            conn.execute("update session set state = 4, outcome = null where children = 0")
            few = "update session set state = %s where id in (select id from session where idx %% 1000 = 999)"
            conn.execute(few, [int(State[status.name])])
        await w.store.close()
    before = entries_read(postgres_url)
    async with world(postgres_url) as w:
        for _ in range(ROUNDS):
            rows, more = await w.store.sessions(job, statuses=[status])
            assert len(rows) == ITEMS // 4_000 + (status is Status.WAITING) and more is None
        await w.store.close()
    assert entries_read(postgres_url) - before < ITEMS // 4


ENDED_JOBS = f"""
insert into job (id, tenant, spec, priority, root, status, created_at, finished_at, completed, in_totals)
select 1000 + n, 'acme', '', 0, 0, 4, 0, 1, 1, true from generate_series(1, {ITEMS}) as n;
insert into total (tenant, completed) values ('acme', 1)"""
"""Their totals say one, so that a sum over them would be seen."""


OTHERS = """
select count(*) from pg_stat_activity
where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()"""


def entries_read(url: str, *indexes: str, table: str = "session") -> int:
    """Entries of these indexes of a table that were read; of all, and of the table row by row, without a name."""
    rows = "select seq_tup_read from pg_stat_user_tables where relname = %s"
    entries = "select sum(idx_tup_read) from pg_stat_user_indexes where relname = %s and indexrelname = any(%s)"
    every = "select sum(idx_tup_read) from pg_stat_user_indexes where relname = %s"
    with psycopg.connect(url, autocommit=True) as conn:
        # A connection that was closed has told what it did once it is listed no more: its process ends a moment later.
        wait_until(lambda: conn.execute(OTHERS).fetchone() == (0,), 20, "the other connections have ended")
        if indexes:
            read = [conn.execute(entries, [table, list(indexes)]).fetchone()]
        else:
            read = [conn.execute(query, [table]).fetchone() for query in (rows, every)]
        return sum(int(row[0]) for row in read if row)
