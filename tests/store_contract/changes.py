"""An owner's changes of a job while it runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from shoal.agent.status import Status
from shoal.agent.types import Usage
from shoal.agent.worker_messages import JobLimits
from shoal.services.errors import NotFound, WrongState
from shoal.services.store.records import JobChanges
from tests.store_contract.fixtures import names
from tests.store_world import DONE, World, links, loop


def changes(**given: object) -> JobChanges:
    return JobChanges(frozenset(given), **given)  # type: ignore[arg-type]


async def test_a_deadline_that_is_moved_counts_from_now(w: World) -> None:
    job = await w.submit(deadline_s=10)
    held = await w.claim_one()
    assert held.work.seconds_left == 10
    w.clock.now += 8
    row = await w.store.change(job, changes(deadline_s=100.0), tenant="acme")
    assert (await w.store.job_controls({job}))[job].limits.seconds_left == 100
    assert row.deadline_at is not None and row.deadline_at - row.created_at == timedelta(seconds=108)
    w.clock.now += 50
    assert await w.store.expire_deadlines() == []
    await w.store.change(job, changes(deadline_s=1.0))
    w.clock.now += 2
    assert await w.store.expire_deadlines() == [job]
    row = await w.check_sums(job)
    assert row.status is Status.FAILED and row.error is not None and row.error.code == "deadline_passed"


async def test_a_deadline_can_be_taken_away(w: World) -> None:
    job = await w.submit(deadline_s=10)
    assert (await w.store.change(job, changes(deadline_s=None))).deadline_at is None
    w.clock.now += 1_000
    assert await w.store.expire_deadlines() == []


async def test_a_token_limit_holds_for_what_is_claimed_from_now_on_and_is_told_to_what_runs(w: World) -> None:
    job, _ = await w.open_loop(3, budget={"job_tokens": 100})
    assert (await w.store.job(job)).token_limit == 100
    first = (await w.claim(1))[0]
    assert first.work.spec.budget.job_tokens == 100
    await w.finish((first, replace(DONE, usage=Usage(1, 30, 3))))
    assert (await w.store.job_controls({job}))[job].limits == JobLimits(None, 100, 33)
    assert (await w.store.change(job, changes(job_tokens=500))).token_limit == 500
    assert (await w.store.job_controls({job}))[job].limits == JobLimits(None, 500, 33)
    second = (await w.claim(1))[0]
    assert second.work.spec.budget.job_tokens == 500
    assert (await w.store.change(job, changes(job_tokens=None))).token_limit is None
    third = (await w.claim(1))[0]
    assert third.work.spec.budget.job_tokens is None
    assert (await w.store.job_controls({job}))[job].limits.job_tokens is None
    assert (await w.store.job(job)).spec.budget.job_tokens == 100  # what was asked stays readable


async def test_priority_reaches_the_partitions_and_several_things_change_at_once(w: World) -> None:
    job, _ = await w.open_loop(4, priority=1)
    row = await w.store.change(job, changes(priority=7, concurrency=2, job_tokens=9))
    assert (row.priority, row.concurrency, row.token_limit) == (7, 2, 9)
    assert {partition.priority for partition in await w.store.partitions()} == {7}
    assert len(await w.claim()) == 2
    assert (await names(w, job)).count("job.changed") == 2


async def test_what_a_commit_makes_ready_carries_the_priority_that_holds_now(w: World) -> None:
    job = await w.submit(priority=10)
    await w.store.change(job, changes(priority=50))
    written = await w.finish((await w.claim_one(), loop(links(3))))
    assert (
        {partition.priority for partition in written.ready}
        == {50}
        == {partition.priority for partition in await w.store.partitions()}
    )


async def test_a_job_that_is_over_or_anothers_is_not_changed(w: World) -> None:
    job = await w.submit()
    with pytest.raises(NotFound):
        await w.store.change(job, changes(priority=2), tenant="other")
    await w.run_out()
    for change in (changes(priority=2), changes(concurrency=2)):
        with pytest.raises(WrongState, match="nothing of it runs"):
            await w.store.change(job, change)
