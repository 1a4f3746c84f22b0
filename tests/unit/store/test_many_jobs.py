"""Thousands of small jobs at once cost no statement each."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from shoal.agent.status import Status
from shoal.agent.types import ChildrenSummary
from shoal.services.store.database.cache import Recent
from shoal.services.store.records import Finish, JobChanges
from tests.store_world import BROKEN, DONE, World, links, loop, world


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
    """Return how many it takes to claim, to look after and to end the sessions of `n` jobs,
    of which the store remembers 5.
    """
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(5)
        jobs = [await w.submit() for _ in range(n)]
        with counted(w) as claiming:
            held = await w.claim(1)
        with counted(w) as looking:
            assert (await w.store.job_controls(jobs)).keys() == set(jobs)
        with counted(w) as ending:
            await w.store.finish([Finish(one.work.session, one.work.fence, DONE) for one in held])
        assert [(await w.store.job(job)).status for job in jobs] == [Status.COMPLETED] * n
        return {"claim": len(claiming), "look after": len(looking), "end": len(ending)}


@pytest.mark.parametrize("what", ["claim", "look after", "end"])
async def test_more_jobs_take_no_more_statements(what: str) -> None:
    assert (await statements(40))[what] <= (await statements(10))[what]


async def test_jobs_with_one_deadline_do_not_end_in_one_transaction() -> None:
    """Each takes some statements, while nobody else may write."""
    async with world("sqlite://") as w:
        jobs = [await w.submit(deadline_s=1.0) for _ in range(120)]
        w.clock.now += 2.0
        assert await w.store.expire_deadlines() == jobs[:50]
        assert await w.store.expire_deadlines() == jobs[50:100]
        while (await w.store.run_bulk_operations()).more:
            pass
        assert [(await w.store.job(job)).status for job in jobs] == [Status.FAILED] * len(jobs)


@asynccontextmanager
async def resumed(n: int, **fields: Any) -> AsyncIterator[list[str]]:
    """The statements of a claim of `n` parents of which the loops are over, a child each completed."""
    async with world("sqlite://") as w:
        for _ in range(n):
            await w.open_loop(3, **fields)
        children = await w.claim()
        await w.finish(*((one, BROKEN if i % 3 else DONE) for i, one in enumerate(children)))
        with counted(w) as said:
            held = await w.claim(1)
        told = ("https://h0.example/1: it broke", "https://h0.example/2: it broke")
        assert [one.work.children for one in held] == [ChildrenSummary(3, 1, 2, ({"n": 1},), told)] * n
        yield said


async def test_more_resumed_parents_take_no_more_statements() -> None:
    async with resumed(2) as few, resumed(8) as many:
        assert len(few) == len(many)


async def test_the_items_of_a_job_s_only_loop_are_not_counted_again_for_its_root() -> None:
    """It may have a million of them, and the claim holds what others wait for; the job's own counters say as much."""
    async with resumed(2, loop={"from": {"select": ".item"}}) as said:
        assert not [statement for statement in said if "count(*)" in statement and " between " in statement]
    async with resumed(2) as said:
        assert [statement for statement in said if "count(*)" in statement and " between " in statement]


async def test_a_slice_takes_no_more_statements_however_much_it_changes() -> None:
    async def changed(n: int) -> list[int]:
        """Statements of the commands to a loop of `n` items, each one slice."""
        async with world("sqlite://") as w:
            job, _ = await w.open_loop(n)
            commands = (
                lambda: w.store.set_concurrency(job, 2),
                lambda: w.store.set_concurrency(job, None),
                lambda: w.store.cancel(job),
                lambda: w.store.retry(job),
                lambda: w.store.cancel(job),
                lambda: w.store.delete(job),
                lambda: w.store.droppable(job),
                lambda: w.store.drop(job, range(1, n + 2)),
            )
            counts = []
            for command in commands:
                with counted(w) as said:
                    await command()
                counts.append(len(said))
            assert await w.store.deleted() == []
            return counts

    many = await changed(200)
    assert many == await changed(5) and max(many) < 25


async def test_a_slice_of_a_retry_takes_no_more_statements_for_more_parents() -> None:
    async def reopened(n: int) -> int:
        """Statements that it takes to reopen `n` loops within a loop, one item of each."""
        async with world("sqlite://") as w:
            await w.open_loop(n)
            outer = await w.claim()
            await w.finish(*((one, loop(links(2))) for one in outer))
            inner = await w.claim()
            await w.finish(*((one, BROKEN if i % 2 else DONE) for i, one in enumerate(inner)))
            await w.run_out(DONE)
            with counted(w) as said:
                row = await w.store.retry(1)
            assert (row.counts.failed, row.counts.completed, row.counts.expected) == (0, n, 2 * n)
            return len(said)

    assert await reopened(20) == await reopened(3) < 25


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


async def test_who_looks_after_jobs_again_and_again_reads_none_of_their_specs_twice() -> None:
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(1)
        asked = (5, None, 7, None)
        jobs = [await w.submit(budget={"job_tokens": n} if n else {}) for n in asked]
        await w.claim(1)
        for reads in (True, False):
            with counted(w) as said:
                found = await w.store.job_controls(jobs)
            assert [found[job].limits.job_tokens for job in jobs] == list(asked)
            assert any(_READS_SPEC.search(statement) for statement in said) is reads
        await w.store.change(jobs[0], JobChanges(frozenset({"job_tokens"}), job_tokens=9))
        assert (await w.store.job_controls(jobs))[jobs[0]].limits.job_tokens == 9


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


async def test_lost_sessions_are_tried_again_whatever_the_attempts_of_their_specs() -> None:
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(1)
        jobs = [await w.submit(max_attempts=n) for n in (1, 2)] + [await w.submit()]
        await w.claim(lease_s=1.0)
        w.clock.now += 2.0
        freed = await w.store.expire_leases()
        assert {one.job: one.status for one in freed.sessions} == dict.fromkeys(jobs, Status.QUEUED)


async def messages_of(n: int) -> list[str]:
    """The statements of a commit that ends `n` jobs and their items, of which the owners want to be told."""
    async with world("sqlite://") as w:
        for _ in range(n):
            await w.submit(webhook={"url": "https://me.example/", "events": ["job.finished", "session.finished"]})
        held = await w.claim(1)
        with counted(w) as said:
            await w.finish(*((one, DONE) for one in held))
        told = await w.store.claim_deliveries(5 * n, lease_s=60, each=5 * n)
        in_order = [one.event for one in sorted(told, key=lambda one: one.id)]
        assert in_order == ["session.finished"] * n + ["job.finished"] * n
        return said


async def test_more_messages_take_no_more_statements() -> None:
    assert len(await messages_of(40)) == len(await messages_of(10))
