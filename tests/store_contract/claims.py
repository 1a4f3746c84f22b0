"""Claims and partitions."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from shoal.agent.spec import PolitenessSpec
from shoal.agent.status import Status
from shoal.services.events import JobEvent
from shoal.services.store.records import ClaimRequest, Finish
from tests.store_contract.fixtures import names
from tests.store_world import DONE, World, links, loop, spec

S = Status


async def test_a_claim_gives_all_that_a_worker_needs(w: World) -> None:
    job = await w.submit(deadline_s=100.0)
    held = await w.claim_one()
    work = held.work
    assert (work.job, work.tenant, work.attempt, work.depth, work.spec) == (job, "acme", 1, 0, spec(deadline_s=100.0))
    assert (work.item, work.checkpoint, work.children) == (None, None, None)
    assert work.seconds_left == 100
    assert held.host == "shop.example"
    row = (await w.store.session(work.session)).row
    assert (row.status, row.owner, row.attempt) == (S.RUNNING, "w1", 1)
    assert row.lease_until is not None and row.lease_until.timestamp() == w.clock.now + 60
    started = await w.check_sums(job)
    assert started.status is S.RUNNING and started.started_at is not None and started.counts.running == 1
    assert await names(w) == [JobEvent.SUBMITTED, JobEvent.STARTED]


async def test_each_partition_gives_its_lowest_ids_behind_its_cursor(w: World) -> None:
    job, _ = await w.open_loop(20, hosts=2, politeness={"per_domain": 3})
    partitions = await w.store.partitions()
    assert [(partition.job, partition.host) for partition in partitions] == [(job, "h0.example"), (job, "h1.example")]
    assert all(
        partition.politeness == PolitenessSpec(per_domain=3) and partition.tenant == "acme" for partition in partitions
    )
    held = (
        await w.store.claim("w1", [ClaimRequest(x.job, x.domain, x.cursor, 3) for x in partitions], lease_s=60)
    ).sessions
    assert [one.work.item.index for one in held if one.work.item] == [0, 1, 2, 3, 4, 5]
    first, second = (
        sorted(one.work.session for one in held if one.host == host) for host in ("h0.example", "h1.example")
    )
    takes = [
        ClaimRequest(job, partitions[0].domain, first[-1] + 2, 2),
        ClaimRequest(job, partitions[1].domain, second[-1], 1),
    ]
    held = (await w.store.claim("w1", takes, lease_s=60)).sessions
    assert [one.work.item.index for one in held if one.work.item] == [7, 8, 10]
    assert not (await w.store.claim("w1", [], lease_s=60)).sessions
    nothing = [ClaimRequest(job, 999, 0, 5), ClaimRequest(999, partitions[0].domain, 0, 5)]
    assert not (await w.store.claim("w1", nothing, lease_s=60)).sessions


async def test_an_item_is_not_sent_the_values_of_the_loops_that_it_belongs_to(w: World) -> None:
    """A job with 40,000 values would be a MiB with each of as many sessions."""
    plain, rows = [f"v{i}" for i in range(5_000)], [f"v{i}" for i in range(5_000)] + ['{"name": "Ann"}']
    inner = {"values": ["x", "y"], "concurrency": 1}
    for values, may_repeat in ((plain, True), (rows, False)):
        job = await w.submit(loop={"values": values, "on_error": "stop", "loop": inner})
        (root,) = await w.claim(job=job)
        assert root.work.spec.loop is not None and root.work.spec.loop.values == tuple(values)
        await w.finish((root, loop(links(2))))
        (held, other) = await w.claim(job=job)
        asked = held.work.spec
        assert asked.may_repeat is may_repeat is root.work.spec.may_repeat
        assert asked.loop is not None and asked.loop.on_error == "stop" and len(pickle.dumps(held.work)) < 10_000
        assert asked.loop_at(1) == root.work.spec.loop_at(1)
        await w.finish((held, loop(links(1))), (other, DONE))
        (leaf,) = await w.claim(job=job)
        assert leaf.work.depth == 2 and leaf.work.spec.loop_at(2) is None and leaf.work.spec.may_repeat is may_repeat
        (again,) = await w.store.running([leaf.work.session])
        assert again.work.spec == leaf.work.spec
        await w.finish((leaf, DONE))


async def test_one_claim_serves_several_workers_in_the_order_that_it_names(w: World) -> None:
    job, _ = await w.open_loop(5)
    (partition,) = await w.store.partitions()
    held = (await w.store.claim(["a", "b", "a", "c"], [ClaimRequest(job, partition.domain, 0, 4)], lease_s=60)).sessions
    assert [one.owner for one in held] == ["a", "b", "a", "c"]
    assert [(await w.store.session(one.work.session)).row.owner for one in held] == ["a", "b", "a", "c"]
    assert {one.session for one in (await w.store.expire_leases(owner="a")).sessions} == {
        held[0].work.session,
        held[2].work.session,
    }
    last = (
        await w.store.claim(
            ["d", "e", "f", "g"], [ClaimRequest(job, partition.domain, held[3].work.session, 4)], lease_s=60
        )
    ).sessions
    assert [one.owner for one in last] == ["d"]
    with pytest.raises(ValueError, match="more than 1 places"):
        await w.store.claim(["a"], [ClaimRequest(job, partition.domain, 0, 2)], lease_s=60)


async def test_two_claimers_never_get_the_same_session(w: World) -> None:
    job, _ = await w.open_loop(300, hosts=3)
    other = await w.another()
    takes = [ClaimRequest(partition.job, partition.domain, 0, 7) for partition in await w.store.partitions()]
    seen: list[int] = []

    async def work(store: Any, owner: str) -> None:
        while held := (await store.claim(owner, takes, lease_s=60)).sessions:
            seen.extend(one.work.session for one in held)
            await store.finish([Finish(one.work.session, one.work.fence, DONE) for one in held])

    await asyncio.gather(*(work(store, f"w{i}") for i, store in enumerate((w.store, other, w.store, other))))
    assert len(seen) == len(set(seen)) == 300
    assert (await w.check_sums(job)).counts.completed == 300


async def test_partitions_go_by_job_and_domain_and_leave_out_jobs_that_may_not_run(w: World) -> None:
    jobs = [await w.submit(priority=i) for i in range(4)]
    await w.store.pause(jobs[1])
    await w.store.cancel(jobs[2])
    assert [(partition.job, partition.priority) for partition in await w.store.partitions()] == [
        (jobs[0], 0),
        (jobs[3], 3),
    ]
    domain = (await w.store.partitions())[0].domain
    held = (await w.store.claim("w1", [ClaimRequest(job, domain, 0, 1) for job in jobs], lease_s=60)).sessions
    assert [one.work.job for one in held] == [jobs[0], jobs[3]]


async def test_ready_sessions_are_counted_no_further_than_asked(w: World) -> None:
    job, _ = await w.open_loop(5)
    assert await w.store.ready_count(100) == 5
    assert await w.store.ready_count(3) == 3
    await w.store.pause(job)
    assert await w.store.ready_count(100) == 0


async def test_jobs_whose_sessions_are_to_be_stopped_are_told(w: World) -> None:
    runs, paused, canceled = [(await w.open_loop(1))[0] for _ in range(3)]
    await w.store.pause(paused)
    await w.store.cancel(canceled)
    found = await w.store.job_controls({runs, paused, canceled, 10**6})
    assert {job: standing.wanted for job, standing in found.items()} == {runs: True, paused: False, canceled: False}
    assert await w.store.job_controls(()) == {}
