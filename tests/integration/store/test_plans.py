"""PostgreSQL's plans, made while the store is nearly empty, do not stay when it is full."""

from __future__ import annotations

import psycopg

from services.store.records import Take
from tests.store_world import DONE, links, loop, world

ITEMS = 20_000
LANES = 200
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
            await w.store.lanes()
            await w.store.claim("w2", [Take(1, 1, 0, 1)], lease_s=60.0)
        await w.finish((root, loop(links(ITEMS, hosts=LANES))))
        before = entries_read(postgres_url)
        held = await w.claim(1)
        await w.finish(*((one, DONE) for one in held))
        assert len(held) == LANES
        await w.store.close()  # connections tell what they did when they end, at the latest
        assert entries_read(postgres_url) - before < ITEMS


def entries_read(url: str) -> int:
    """Sessions that were read by going through the table, and entries of its indexes."""
    read = """select seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid)
              from pg_stat_user_tables t where relname = 'session'"""
    with psycopg.connect(url, autocommit=True) as conn:
        row = conn.execute(read).fetchone()
        assert row is not None
        return int(row[0])
