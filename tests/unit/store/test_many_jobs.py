"""Thousands of small jobs at once cost no statement each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from agent.status import Status
from services.store.cache import Recent
from services.store.records import Finish
from tests.store_world import DONE, World, links, loop, world


@contextmanager
def counted(w: World) -> Iterator[list[str]]:
    """The statements that the store sends; one for many rows counts once."""
    said: list[str] = []

    def note(conn: object, cursor: object, statement: str, *more: object) -> None:
        said.append(statement)

    engine = w.store._db.writer
    event.listen(engine, "before_cursor_execute", note)
    yield said
    event.remove(engine, "before_cursor_execute", note)


async def statements(n: int) -> dict[str, int]:
    """How many it takes to claim, to look after and to end the sessions of `n` jobs, of which the store remembers 5."""
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(5)
        jobs = [await w.submit() for _ in range(n)]
        with counted(w) as claiming:
            held = await w.claim(1)
        with counted(w) as looking:
            assert (await w.store.standings(jobs)).keys() == set(jobs)
        with counted(w) as ending:
            await w.store.finish([Finish(one.work.session, one.work.fence, DONE) for one in held])
        assert [(await w.store.job(job)).status for job in jobs] == [Status.COMPLETED] * n
        return {"claim": len(claiming), "look after": len(looking), "end": len(ending)}


@pytest.mark.parametrize("what", ["claim", "look after", "end"])
async def test_more_jobs_take_no_more_statements(what: str) -> None:
    assert (await statements(40))[what] <= (await statements(10))[what]


_READS_SPEC = re.compile(r"select \*|returning \*|\bspec\b")


async def test_no_commit_of_outcomes_reads_the_specs_of_its_jobs() -> None:
    """A spec may have 1 MiB, and a commit the sessions of 512 jobs."""
    async with world("sqlite://") as w:
        await w.submit(extract={"goal": "a plain one"})
        await w.submit(webhook={"url": "https://me.example/"}, artifacts={"retention_days": 3})
        await w.submit(loop={"from": {"select": ".item"}, "concurrency": 2})
        held = await w.claim(1)
        with counted(w) as said:
            await w.finish(
                *((one, loop(links(5)) if one.work.spec.loop else DONE) for one in held),
            )
        assert [statement for statement in said if _READS_SPEC.search(statement)] == []


async def test_what_a_spec_asks_for_at_its_jobs_end_is_done_though_nobody_remembers_it() -> None:
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(1)
        asking = [
            await w.submit(webhook={"url": "https://me.example/"}, artifacts={"retention_days": n}, max_attempts=n)
            for n in (1, 2)
        ]
        plain = [await w.submit() for _ in range(3)]
        await w.run_out()
        w.clock.now += 1.5 * 86_400
        assert await w.store.expired(None) == asking[:1]
        w.clock.now += 86_400
        assert await w.store.expired(None) == asking
        told = await w.store.claim_deliveries(10, lease_s=60, each=10)
        assert sorted(one.job for one in told) == asking and not set(asking) & set(plain)


async def test_as_many_items_of_a_loop_begin_as_its_spec_says_though_nobody_remembers_it() -> None:
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(1)
        jobs = [await w.submit(loop={"from": {"select": ".item"}, "concurrency": n}) for n in (1, 2)]
        await w.finish(*((root, loop(links(5))) for root in await w.claim()))
        assert [len(await w.claim(job=job)) for job in jobs] == [1, 2]


async def test_a_lost_session_has_the_attempts_of_its_spec_though_nobody_remembers_it() -> None:
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(1)
        jobs = [await w.submit(max_attempts=n) for n in (1, 2)] + [await w.submit()]
        await w.claim(lease_s=1.0)
        w.clock.now += 2.0
        freed = await w.store.reap()
        assert {one.job: one.status for one in freed} == dict(
            zip(jobs, (Status.FAILED, Status.QUEUED, Status.QUEUED), strict=True)
        )
