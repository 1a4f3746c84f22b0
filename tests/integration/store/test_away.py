"""PostgreSQL goes away and comes back; several processes start, migrate and write at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from shoal.services.errors import StoreAway, StoreOutdated, WrongState
from shoal.services.store.database.migrate import migrate
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import lock_jobs
from shoal.services.store.records import ClaimRequest, Finish, NewJob
from shoal.services.store.store import open_store
from tests import postgres
from tests.store_world import DONE, links, loop, spec, world


@pytest.fixture
def own_server() -> Iterator[postgres.Server]:
    with postgres.own_server() as server:
        yield server


async def test_a_server_that_does_not_answer_is_away() -> None:
    with pytest.raises(StoreAway):
        await open_store("postgresql://shoal@127.0.0.1:1/none")


async def test_a_store_comes_back_with_its_server(own_server: postgres.Server) -> None:
    async with world(own_server.url) as w:
        job = await w.submit()
        held = await w.claim_one()
        seen = await w.store.changed(0.3)
        own_server.stop()
        for call in (w.store.partitions(), w.submit(), w.finish((held, DONE)), w.store.job(job)):
            with pytest.raises(StoreAway):
                await call
        own_server.start()
        written = await w.finish((held, DONE))
        assert written.finished_jobs == (job,)
        # A listener hears again.
        while (now := await asyncio.wait_for(w.store.changed(60.0, since=seen), 90)) <= seen:
            pass
        await w.submit()
        assert await asyncio.wait_for(w.store.changed(60.0, since=now), 90) > now


async def test_connections_that_were_cut_are_replaced(postgres_url: str) -> None:
    async with world(postgres_url) as w:
        await asyncio.gather(*(w.store.partitions() for _ in range(8)))
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'shoal'")
        lost = 0
        for _ in range(10):
            try:
                await w.store.partitions()
            except StoreAway:
                lost += 1
        assert lost <= 1
        assert await w.submit()


async def test_a_machine_that_is_cut_off_in_a_transaction_keeps_its_rows_from_nobody(
    postgres_url: str,
) -> None:
    async with world(postgres_url) as w:
        job = await w.submit()
        held = await w.claim_one()
        other = await w.another()
        has_locked, back = threading.Event(), threading.Event()

        def be_cut_off(tx: Tx) -> None:
            name = "idle_in_transaction_session_timeout"
            assert tx.conn.exec_driver_sql(f"show {name}").scalar_one() == "15s"
            tx.conn.exec_driver_sql(f"set local {name} = 500")  # here, so that a slow migration does not feel it
            lock_jobs(tx, [job])
            has_locked.set()
            back.wait(100)
            tx.run("ready_count", most=1).scalar_one()

        cut_off = asyncio.create_task(other._db.write(be_cut_off))
        try:
            await asyncio.to_thread(has_locked.wait, 60)
            async with asyncio.timeout(60):
                assert (await w.finish((held, DONE))).finished_jobs == (job,)
        finally:
            back.set()
            with pytest.raises(StoreAway):
                await cut_off
        assert (await other.job(job)).finished_at, "it has a new connection"


async def test_a_server_that_only_reads_after_a_failover_is_away_until_there_is_one_that_writes(
    postgres_url: str,
) -> None:
    async with world(postgres_url) as w:
        await w.submit()
        held = await w.claim_one()
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            name = conn.info.dbname
            conn.execute(f'alter database "{name}" set default_transaction_read_only = on')
            conn.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'shoal'")
        with suppress(StoreAway):
            await w.store.partitions()
        await asyncio.gather(*(w.store.partitions() for _ in range(8)))  # so many connections, to what only reads
        with pytest.raises(StoreAway):
            await w.finish((held, DONE))
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("set default_transaction_read_only = off")
            conn.execute(f'alter database "{name}" reset default_transaction_read_only')
        assert (await w.finish((held, DONE))).accepted


async def test_no_lease_runs_out_while_the_server_hangs(own_server: postgres.Server) -> None:
    """Connections stay open and nothing is answered: the first that is answered again must not find all leases over."""
    async with world(own_server.url) as w:
        job = await w.submit()
        w.store._db._clock = None  # the server's own
        other = await open_store(own_server.url)
        try:
            held = (await w.store.claim("w1", [ClaimRequest(job, 1, 0, 1)], lease_s=8.0)).sessions[0]
            await w.store.expire_leases(lease_s=8.0)
            frozen = own_server.freeze()
            try:
                first = asyncio.create_task(other.expire_leases(lease_s=8.0))
                await asyncio.wait([first], timeout=10.0)
                assert not first.done(), "it hangs"
            finally:
                for one in frozen:
                    one.resume()
            assert (await first).sessions == ()
        finally:
            await other.close()
        assert (await w.finish((held, DONE))).accepted == {held.work.session}


async def test_a_statement_that_the_server_ends_is_told_as_that_and_tried_again(postgres_url: str) -> None:
    async with world(postgres_url) as w:
        job = await w.submit()
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute(f'alter database "{conn.info.dbname}" set statement_timeout = 2000')
            conn.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'shoal'")
        other = await w.another()
        with psycopg.connect(postgres_url) as lock:
            lock.execute("lock table session in exclusive mode")
            with pytest.raises(StoreAway, match="statement_timeout"):
                await other.claim("w1", [ClaimRequest(job, 1, 0, 1)], lease_s=60)
            lock.rollback()
        assert len((await other.claim("w1", [ClaimRequest(job, 1, 0, 1)], lease_s=60)).sessions) == 1


async def test_a_server_that_only_reads_says_what_to_do(postgres_url: str) -> None:
    async with world(postgres_url) as w:
        await w.store.check()
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            name = conn.info.dbname
            conn.execute(f'alter database "{name}" set default_transaction_read_only = on')
            conn.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'shoal'")
            with suppress(StoreAway):
                await w.store.partitions()
            with pytest.raises(StoreAway, match="only reads: name the primary"):
                await w.store.check()
            conn.execute("set default_transaction_read_only = off")
            conn.execute(f'alter database "{name}" reset default_transaction_read_only')
        while True:
            with suppress(StoreAway):
                await w.store.check()
                break


async def test_several_processes_may_migrate_at_once(empty_postgres_url: str) -> None:
    with pytest.raises(StoreOutdated):
        await open_store(empty_postgres_url, migrate=False)
    await asyncio.gather(*(migrate(empty_postgres_url) for _ in range(4)))
    await (await open_store(empty_postgres_url, migrate=False)).close()


async def test_dispatchers_gateways_and_owners_at_once_lose_nothing(postgres_url: str) -> None:
    """Claims, group commits, reaps, renewals, submissions, pauses and cancels on the same few jobs from four stores."""
    async with world(postgres_url) as w:
        stores = [w.store, *[await w.another() for _ in range(3)]]
        jobs = [await w.submit(max_attempts=100, labels={"n": str(n)}) for n in range(6)]
        roots = await w.claim()
        await w.finish(*((root, loop(links(400, hosts=5))) for root in roots))
        done = asyncio.Event()

        async def dispatch(number: int) -> None:
            store = stores[number]
            losing = 50 if number == 3 else 0  # turns; without an end an item may lose its worker again and again
            while not done.is_set():
                partitions = await store.partitions()
                takes = [ClaimRequest(partition.job, partition.domain, 0, 5) for partition in partitions]
                held = (await store.claim(f"w{number}", takes, lease_s=60)).sessions
                if losing and held:
                    await store.expire_leases(owner="w3")
                    losing -= 1
                await store.finish([Finish(one.work.session, one.work.fence, DONE) for one in held])
                rows = [await store.job(job) for job in jobs]
                if all(row.finished_at for row in rows):
                    done.set()

        async def disturb() -> None:
            while not done.is_set():
                for job in jobs[:2]:
                    if (await stores[1].job(job)).finished_at is None:
                        with suppress(WrongState):  # it may end, or be paused by the turn before
                            await stores[1].pause(job)
                        with suppress(WrongState):
                            await stores[2].resume(job)
                await stores[0].submit([NewJob("other", spec(), f"s{n}.example") for n in range(3)])

        await asyncio.gather(*(dispatch(number) for number in range(4)), disturb())
        for job in jobs:
            row = await w.check_sums(job)
            assert row.counts.completed == 400
