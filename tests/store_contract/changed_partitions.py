"""News: what makes sessions ready without the dispatcher's doing is told without reading all partitions."""

from __future__ import annotations

from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.store.records import ChangedPartitions, ClaimRequest, JobChanges, Partition
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status


async def changed_since(w: World, since: ChangedPartitions) -> dict[int, tuple[Partition, ...]]:
    """The partitions of each job that was told of since; what the next look would tell is nothing."""
    news = await w.store.changed_partitions(since.seq)
    assert (await w.store.changed_partitions(news.seq)).ready == ()
    return {
        job: tuple(partition for partition in news.ready if partition.job == job)
        for job in {partition.job for partition in news.ready}
    }


async def test_a_new_job_is_told_once_with_all_that_a_partition_has(w: World) -> None:
    known = await w.submit()
    before = await w.store.changed_partitions(None)
    assert before.ready == () and not before.more
    job = await w.submit(priority=7, politeness={"delay_s": 2.0})
    both = {partition.job: partition for partition in await w.store.partitions()}
    assert await changed_since(w, before) == {job: (both[job],)} and both[job].priority == 7
    assert {known, job} == both.keys()


async def test_a_resumed_job_is_told_of_and_a_paused_one_is_not(w: World) -> None:
    job, _ = await w.open_loop(4, hosts=3)
    before = await w.store.changed_partitions(None)
    await w.store.pause(job)
    assert await changed_since(w, before) == {}
    await w.store.resume(job)
    assert await changed_since(w, before) == {job: tuple(await w.store.partitions())}
    assert len(await w.store.partitions()) == 3


async def test_a_job_that_its_owner_changed_is_told_of_as_it_is_now(w: World) -> None:
    job = await w.submit()
    before = await w.store.changed_partitions(None)
    await w.store.change(job, JobChanges(frozenset({"priority"}), priority=5))
    assert [partition.priority for partition in (await changed_since(w, before))[job]] == [5]


async def test_what_is_retried_or_settled_is_told_of(w: World) -> None:
    failed, unsure = await w.submit(), await w.submit()
    one, two = sorted(await w.claim(), key=lambda held: held.work.job)
    await w.finish((one, BROKEN), (two, Outcome(S.UNSURE)))
    before = await w.store.changed_partitions(None)
    await w.store.retry(failed)
    await w.store.resolve_unsure(two.work.session, "retry")
    assert (await changed_since(w, before)).keys() == {failed, unsure}


async def test_sessions_whose_delay_is_over_are_told_of(w: World) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), Outcome(S.QUEUED)), ready_in_s=10.0)
    before = await w.store.changed_partitions(None)
    assert await changed_since(w, before) == {}
    w.clock.now += 11
    assert await changed_since(w, before) == {job: tuple(await w.store.partitions())}


async def test_a_claim_tells_of_other_sessions_whose_delay_was_over(w: World) -> None:
    late, other = await w.submit(), await w.submit()
    one, two = sorted(await w.claim(), key=lambda held: held.work.job)
    await w.finish((one, Outcome(S.QUEUED)), ready_in_s=10.0)
    await w.finish((two, Outcome(S.QUEUED)))
    (partition,) = await w.store.partitions()
    assert partition.job == other
    w.clock.now += 11
    claims = await w.store.claim("w1", [ClaimRequest(partition.job, partition.domain, partition.cursor, 1)], lease_s=60)
    assert [claimed.work.job for claimed in claims.sessions] == [other]
    assert list(claims.woken) == await w.store.partitions() and [partition.job for partition in claims.woken] == [late]


async def test_a_lost_workers_sessions_are_told_of_by_whoever_ends_its_leases(w: World) -> None:
    await w.open_loop(4, hosts=2)
    await w.claim()
    reaped = await w.store.expire_leases(owner="w1")
    assert len(reaped.sessions) == 4
    assert list(reaped.ready) == await w.store.partitions() and len(reaped.ready) == 2


async def test_another_dispatchers_loop_is_told_of(w: World) -> None:
    other = await w.another()
    job = await w.submit()
    held = await w.claim_one()
    before = await other.changed_partitions(None)
    await w.finish((held, loop(links(3))))
    assert [partition.job for partition in (await other.changed_partitions(before.seq)).ready] == [job]


async def test_sessions_that_end_are_no_news(w: World) -> None:
    job, _ = await w.open_loop(4)
    before = await w.store.changed_partitions(None)
    await w.finish(*((held, DONE) for held in await w.claim(2, job=job)))
    after = await w.store.changed_partitions(before.seq)
    assert after.ready == () and after.seq > before.seq
