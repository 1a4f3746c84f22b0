"""An owner's commands to a job: cancel, pause, resume, retry, delete."""

from __future__ import annotations

import pytest

from shoal.agent.status import Status
from shoal.agent.types import ArtifactRef, Checkpoint, ChildrenSummary, Outcome, Task
from shoal.services.errors import NotFound, WrongState
from shoal.services.events import JobEvent
from shoal.services.store.records import ClaimRequest, JobFilter
from tests.store_contract.dropping import drop_all, rows_left
from tests.store_contract.fixtures import names
from tests.store_world import BROKEN, DONE, ERROR, World, links, loop

S = Status


async def test_canceling_what_has_not_begun_is_done_at_once(w: World) -> None:
    job = await w.submit()
    row = await w.store.cancel(job, tenant="acme")
    assert (row.status, row.counts.canceled, row.cancel_requested) == (S.CANCELED, 1, True)
    assert await w.claim() == [] and await w.store.partitions() == []
    assert await names(w) == [JobEvent.SUBMITTED, JobEvent.CANCELED, JobEvent.FINISHED]
    with pytest.raises(WrongState, match="canceled"):
        await w.store.cancel(job)
    await w.check_sums(job)


async def test_canceling_a_loop_waits_for_the_children_that_run(w: World) -> None:
    job, root = await w.open_loop(10)
    partition = (await w.store.partitions())[0]
    one, two, three = (
        await w.store.claim("w1", [ClaimRequest(partition.job, partition.domain, 0, 3)], lease_s=60)
    ).sessions
    row = await w.store.cancel(job)
    assert (row.status, row.cancel_requested, row.counts.canceled, row.counts.running) == (S.RUNNING, True, 7, 3)
    assert await w.status(root) is S.CANCELED
    assert (await w.store.cancel(job)).cancel_requested  # asking again changes nothing
    assert (await w.finish((one, Outcome(S.CANCELED)), (two, DONE))).finished_jobs == ()
    # It wanted to try again, or to fan out: no more.
    assert (await w.finish((three, loop(links(5))))).finished_jobs == (job,)
    row = await w.check_sums(job)
    assert (row.status, row.counts.expected, row.counts.canceled, row.counts.completed) == (S.CANCELED, 10, 9, 1)
    assert (await names(w)).count(JobEvent.FINISHED) == 1


async def test_a_canceled_job_whose_worker_dies_is_over(w: World) -> None:
    job = await w.submit()
    await w.claim_one()
    assert (await w.store.cancel(job)).status is S.RUNNING
    (freed,) = (await w.store.expire_leases(owner="w1")).sessions
    assert freed.status is S.CANCELED
    assert (await w.check_sums(job)).status is S.CANCELED


async def test_a_root_that_completes_while_it_is_canceled_is_completed(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    await w.store.cancel(job)
    await w.finish((held, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_paused_job_is_not_claimed_and_goes_on_after_resume(w: World) -> None:
    job, _ = await w.open_loop(4)
    partition = (await w.store.partitions())[0]
    one, two = (await w.store.claim("w1", [ClaimRequest(partition.job, partition.domain, 0, 2)], lease_s=60)).sessions
    row = await w.store.pause(job)
    assert row.status is S.PAUSED
    assert await w.claim() == [] and await w.store.partitions() == []
    assert not (await w.store.claim("w1", [ClaimRequest(partition.job, partition.domain, 0, 2)], lease_s=60)).sessions
    # One worker stops as asked, the other one had finished: both reports count, neither makes anything ready.
    kept = Checkpoint(url="https://h0.example/half")
    written = await w.finish((one, Outcome(S.CANCELED, checkpoint=kept)), (two, DONE))
    assert len(written.accepted) == 2 and written.ready == ()
    paused, _ = await w.store.sessions(job, statuses=[S.PAUSED])
    assert len(paused) == 3 and all(session.status is S.PAUSED for session in paused)
    assert (await w.store.sessions(job, statuses=[S.QUEUED]))[0] == []
    with pytest.raises(WrongState, match="paused"):
        await w.store.pause(job)
    assert (await w.store.resume(job)).status is S.RUNNING
    with pytest.raises(WrongState, match="running"):
        await w.store.resume(job)
    held = await w.claim()
    assert (held[0].work.session, held[0].work.attempt, held[0].work.checkpoint) == (one.work.session, 1, kept)
    await w.finish(*((child, DONE) for child in held))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 4)
    assert [name for name in await names(w) if name in (JobEvent.PAUSED, JobEvent.RESUMED)] == [
        "job.paused",
        "job.resumed",
    ]


async def test_a_job_that_is_paused_before_it_began_is_queued_when_resumed(w: World) -> None:
    job = await w.submit()
    await w.store.pause(job)
    assert (await w.store.resume(job)).status is S.QUEUED
    await w.run_out()
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_paused_job_can_be_canceled_and_its_root_can_end(w: World) -> None:
    job = await w.submit()
    await w.store.pause(job)
    assert (await w.store.cancel(job)).status is S.CANCELED
    job = await w.submit()
    held = await w.claim_one()
    await w.store.pause(job)
    await w.finish((held, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_final_job_can_be_neither_paused_nor_resumed(w: World) -> None:
    job = await w.submit()
    await w.run_out()
    for call in (w.store.pause, w.store.resume, w.store.cancel):
        with pytest.raises(WrongState, match="completed"):
            await call(job)


@pytest.mark.parametrize("status", [S.FAILED, S.TERMINATED])
async def test_a_retried_job_runs_again_with_fresh_attempts(w: World, status: Status) -> None:
    job = await w.submit(deadline_s=50.0)
    await w.finish((await w.claim_one(), Outcome(status, error=ERROR)))
    w.clock.now += 100
    row = await w.store.retry(job)
    assert (row.status, row.error, row.finished_at, row.counts.final) == (S.QUEUED, None, None, 0)
    held = await w.claim_one()
    assert held.work.attempt == 1 and held.work.seconds_left == 50
    await w.finish((held, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED
    assert JobEvent.RETRIED in await names(w)


async def test_retry_wants_a_final_job_with_something_to_retry(w: World) -> None:
    job = await w.submit()
    with pytest.raises(WrongState, match="queued"):
        await w.store.retry(job)
    await w.run_out()
    with pytest.raises(WrongState, match="nothing"):
        await w.store.retry(job)
    unsure = await w.submit()
    await w.run_out(Outcome(S.UNSURE))
    with pytest.raises(WrongState, match="nothing to retry but 1 unsure: settle"):
        await w.store.retry(unsure)


async def test_retry_runs_only_the_failed_items_and_their_parents_wait_again(w: World) -> None:
    job, root = await w.open_loop(3)
    outer = await w.claim()
    await w.finish((outer[0], loop(links(3))), (outer[1], DONE), (outer[2], Outcome(S.UNSURE)))
    inner = await w.claim()
    await w.finish((inner[0], DONE), (inner[1], BROKEN), (inner[2], Outcome(S.TERMINATED)))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.final) == (S.COMPLETED, 2, 5)
    row = await w.store.retry(job)
    assert (row.status, row.counts.completed, row.counts.unsure, row.counts.final) == (S.QUEUED, 2, 1, 3)
    assert await w.status(root) is S.WAITING and await w.status(outer[0].work.session) is S.WAITING
    again = await w.claim()
    assert [one.work.session for one in again] == [inner[1].work.session, inner[2].work.session]
    assert all(one.work.attempt == 1 for one in again)
    await w.check_sums(job)
    await w.finish(*((one, DONE) for one in again))
    middle = await w.claim_one()
    assert middle.work.session == outer[0].work.session
    assert middle.work.children == ChildrenSummary(3, 3, 0, ({"n": 1},) * 3)
    await w.finish((middle, DONE))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.unsure) == (S.COMPLETED, 4, 1)


async def test_a_canceled_loop_can_be_retried_within_its_concurrency(w: World) -> None:
    job, _ = await w.open_loop(6, loop={"values": ["a"], "concurrency": 2})
    held = await w.claim()
    await w.store.cancel(job)
    await w.finish((held[0], Outcome(S.CANCELED)), (held[1], DONE))
    assert (await w.check_sums(job)).status is S.CANCELED
    assert (await w.store.retry(job)).counts.canceled == 0
    while held := await w.claim():
        assert len(held) <= 2
        await w.finish(*((one, DONE) for one in held))
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 6)


async def test_a_stopped_loop_that_is_retried_may_stop_again(w: World) -> None:
    job, _ = await w.open_loop(4, stop=True, loop={"values": ["a"], "concurrency": 1})
    await w.finish((await w.claim_one(), BROKEN))
    await w.finish((await w.claim_one(), BROKEN))  # the parent
    assert (await w.store.retry(job)).counts.final == 0
    for _ in range(2):
        await w.finish((await w.claim_one(), DONE))  # one after the other, as before
    again = await w.claim_one()
    await w.finish((again, Outcome(S.QUEUED)))  # the loop runs again, so a child may try again
    await w.finish((await w.claim_one(), BROKEN))
    await w.finish((await w.claim_one(), BROKEN))
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.failed, row.counts.canceled) == (S.FAILED, 2, 1, 1)


async def test_a_retried_item_that_waits_for_its_own_loop_keeps_its_seat(w: World) -> None:
    nested = {"values": ["a"], "concurrency": 2, "loop": {"values": ["b"]}}
    job, root = await w.open_loop(5, loop=nested)
    one, two = await w.claim()
    await w.finish((one, loop(links(2))), (two, BROKEN))
    while (held := await w.claim()) and held[0].work.session != root:
        await w.finish(*((child, BROKEN) for child in held))
    await w.finish((held[0], BROKEN))
    await w.store.retry(job)
    held = await w.claim()
    # Both items of the inner loop, and one of the outer one: the other seat is the inner loop's.
    assert sorted(child.work.depth for child in held) == [1, 2, 2]
    await w.finish(*((child, DONE) for child in held if child.work.depth == 2))
    resumed = await w.claim_one()
    assert resumed.work.session == one.work.session
    await w.finish((resumed, DONE), *((child, DONE) for child in held if child.work.depth == 1))
    assert len(await w.claim(1_000, owner="w2")) == 2
    await w.store.expire_leases(owner="w2")
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 6)


async def test_a_parent_that_failed_after_its_loop_goes_on_from_there_when_retried(w: World) -> None:
    job, root = await w.open_loop(2)
    await w.finish(*((one, DONE) for one in await w.claim()))
    await w.finish((await w.claim_one(), BROKEN))
    assert (await w.store.job(job)).status is S.FAILED
    await w.store.retry(job)
    again = await w.claim_one()
    assert again.work.session == root and again.work.children == ChildrenSummary(2, 2, 0, ({"n": 1},) * 2)
    assert again.work.checkpoint == Checkpoint(url="https://shop.example/list")
    await w.finish((again, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_deleted_job_is_gone_with_all_its_rows(w: World) -> None:
    mine, shared = (
        ArtifactRef("a" * 32, "page", "k1", "text/html", 1),
        ArtifactRef("b" * 32, "page", "k2", "text/html", 1),
    )
    again = ArtifactRef("c" * 32, "page", "k2", "text/html", 1)
    job, other = await w.submit(labels={"a": "b"}), await w.submit()
    task = Task("navigate", "go", S.COMPLETED)
    with pytest.raises(WrongState, match="queued"):
        await w.store.delete(job)
    one, two = await w.claim()
    await w.finish((one, Outcome(S.COMPLETED, artifacts=(mine, shared), tasks=(task,))))
    await w.finish((two, Outcome(S.COMPLETED, artifacts=(again,))))
    await w.store.delete(job, tenant="acme")
    for call in (w.store.job(job), w.store.session(one.work.session), w.store.artifact("b" * 32), w.store.delete(job)):
        with pytest.raises(NotFound):
            await call
    assert await w.store.events(job=job) == []
    assert [row.id for row in await w.store.jobs(JobFilter())] == [other]
    assert [row.id for row in (await w.store.droppable(job)).artifacts] == ["a" * 32], "the other one is not its alone"
    await drop_all(w, job)
    await w.store.delete(other)
    assert [row.id for row in (await w.store.droppable(other)).artifacts] == ["c" * 32]
    await drop_all(w, other)
    assert await rows_left(w) == {"domain", "counter", "total"}
    assert await w.submit() > other  # no id is used twice


async def test_a_deadline_inside_an_action_that_must_not_be_repeated_leaves_it_unsure(w: World) -> None:
    job, _ = await w.open_loop(3, deadline_s=100.0)
    held = await w.claim(2)
    marked = held[0].work
    assert await w.store.checkpoint(marked.session, marked.fence, Checkpoint(pending_action="click('pay')"))
    w.clock.now += 100
    assert await w.store.expire_deadlines() == [job]
    row = await w.check_sums(job)
    assert (row.status, row.counts.unsure, row.counts.failed) == (S.FAILED, 1, 2)
    assert (await w.store.session(marked.session)).row.status is S.UNSURE
    assert (await w.finish((held[0], DONE))).late == {marked.session}


async def test_a_job_of_one_session_that_its_deadline_leaves_unsure_is_unsure(w: World) -> None:
    job = await w.submit(deadline_s=100.0)
    held = await w.claim_one()
    pending = Checkpoint(pending_action="click('pay')")
    assert await w.store.checkpoint(held.work.session, held.work.fence, pending)
    w.clock.now += 100
    assert await w.store.expire_deadlines() == [job]
    row = await w.check_sums(job)
    assert row.status is S.UNSURE and row.finished_at is not None
    assert await w.store.expire_deadlines() == []


async def test_a_job_ends_when_its_deadline_passes(w: World) -> None:
    job, _ = await w.open_loop(5, deadline_s=100.0)
    held = await w.claim(2)
    await w.finish((held[0], DONE))
    assert await w.store.expire_deadlines() == []
    w.clock.now += 100
    assert await w.claim() == []
    assert await w.store.expire_deadlines() == [job]
    assert await w.store.expire_deadlines() == []
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.failed) == (S.FAILED, 1, 4)
    assert row.error is not None and row.error.code == "deadline_passed"
    assert (await w.finish((held[1], DONE))).late == {held[1].work.session}
    lines = await w.store.results(job)
    assert [line.error.code if line.error else None for line in lines] == [None, *["deadline_passed"] * 4]
