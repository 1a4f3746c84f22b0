"""Jobs and loops that end early, too long for one transaction: marked at once, ended slice by slice, by anybody."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from shoal.agent.status import FINAL, Status
from shoal.agent.types import Checkpoint, Outcome
from shoal.services.errors import WrongState
from shoal.services.events import JobEvent
from shoal.services.store.records import Finish, JobChanges, JobRow, Partition
from shoal.services.store.store import Store
from tests.store_contract.fixtures import SLICE, names
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
in_parts = pytest.mark.usefixtures("short_parts", "short_slices")
FIRST, PART = 5, 10
LONG = FIRST + 3 * PART


@pytest.fixture
def short_parts(w: World) -> None:
    """Pieces of a few children, so that a loop of 35 takes several."""
    w.first, w.part = FIRST, PART


async def open_long(w: World, *, stop: bool = False, **fields: object) -> tuple[int, int]:
    """A job whose root has just fanned out, and its root; nothing but its first children is stored."""
    job = await w.submit(**fields)
    (root,) = await w.claim(job=job)
    await w.report(Finish(root.work.session, root.work.fence, loop(links(LONG), stop=stop)))
    return job, root.work.session


async def sums(w: World, job: int) -> JobRow:
    """The job, whose counts are what its sessions say, those that are not stored included."""
    rows, _ = await w.store.sessions(job, limit=10_000)
    children = Counter(row.parent for row in rows)
    return await w.check_sums(job, {row.id: row.children - children[row.id] for row in rows})


async def sweep_all(store: Store) -> list[int]:
    """Ends all that is being ended; how many sessions each slice took."""
    slices = []
    while (swept := await store.run_bulk_operations()).more:
        slices.append(swept.changed)
    return slices


@in_parts
async def test_a_canceled_job_ends_slice_by_slice_and_its_root_last(w: World) -> None:
    job, root = await open_long(w)
    row = await w.store.cancel(job)
    assert row.cancel_requested and 0 < row.counts.canceled <= SLICE
    slices = 0
    while (row := await sums(w, job)).status not in FINAL:
        assert await w.status(root) is S.WAITING and row.counts.canceled < LONG
        swept = await w.store.run_bulk_operations()
        assert 0 < swept.changed < SLICE + PART and swept.more
        slices += 1
    assert slices > 2
    assert (row.status, row.counts.canceled, await w.status(root)) == (S.CANCELED, LONG, S.CANCELED)
    assert (await w.store.run_bulk_operations()).more is False
    assert len(await w.store.results(job)) == LONG
    told = await names(w, job)
    assert told.count(JobEvent.CANCELED) == told.count(JobEvent.FINISHED) == 1


@in_parts
async def test_what_its_caller_left_when_he_died_is_canceled_by_any_dispatcher(w: World) -> None:
    job, _ = await open_long(w)
    await w.store.cancel(job)  # and nothing more is heard of who asked for it
    assert sum(await sweep_all(await w.another())) > SLICE
    row = await sums(w, job)
    assert (row.status, row.counts.canceled) == (S.CANCELED, LONG)


@in_parts
async def test_nothing_of_a_job_that_is_being_canceled_begins(w: World) -> None:
    job, _ = await open_long(w, loop={"values": ["a"], "concurrency": 2})
    await w.store.cancel(job)
    for _ in range(3):
        assert await w.claim() == [] and await w.store.partitions() == []
        assert (await w.store.materialize()).more is False
        await w.store.run_bulk_operations()


@in_parts
async def test_others_are_claimed_and_end_between_slices(w: World) -> None:
    job, _ = await open_long(w)
    await w.store.cancel(job)
    other = await w.submit()
    assert (await w.store.run_bulk_operations()).more
    held = await w.claim_one()
    assert held.work.job == other
    assert (await w.store.run_bulk_operations()).more
    assert (await w.finish((held, DONE))).finished_jobs == (other,)
    assert (await w.store.job(job)).status is S.RUNNING


@in_parts
@pytest.mark.parametrize("status", [S.COMPLETED, S.FAILED, S.QUEUED, S.WAITING])
async def test_an_outcome_between_two_slices_is_counted_and_ends_nothing_early(w: World, status: Status) -> None:
    job, root = await open_long(w)
    one, two = (await w.claim())[:2]
    await w.store.cancel(job)
    outcome = loop(links(3)) if status is S.WAITING else Outcome(status)
    assert (await w.finish((one, outcome))).finished_jobs == ()
    row = await sums(w, job)
    assert row.counts.expected == LONG and await w.status(root) is S.WAITING
    assert await w.status(one.work.session) is (status if status in FINAL else S.CANCELED)
    await sweep_all(w.store)
    assert (await sums(w, job)).status is S.RUNNING, "others still run"
    assert await w.status(two.work.session) is S.RUNNING
    await w.store.expire_leases(owner="w1")
    row = await sums(w, job)
    assert (row.status, row.counts.final) == (S.CANCELED, LONG)
    assert (await names(w, job)).count(JobEvent.FINISHED) == 1


@in_parts
async def test_loops_within_a_canceled_loop_end_with_it(w: World) -> None:
    nested = {"values": ["a"], "concurrency": 3, "loop": {"values": ["b"], "concurrency": 2}}
    job, _ = await open_long(w, loop=nested)
    held = await w.claim()
    await w.report(*(Finish(one.work.session, one.work.fence, loop(links(12))) for one in held))
    tried, running, *_ = await w.claim()
    await w.finish((tried, Outcome(S.QUEUED)), ready_in_s=30.0)
    await w.store.cancel(job)
    await sums(w, job)
    while (await w.store.run_bulk_operations()).more:
        await sums(w, job)
    assert (await w.finish((running, DONE))).finished_jobs == () and await w.claim() == []
    await w.store.expire_leases(owner="w1")
    row = await sums(w, job)
    assert (row.status, row.counts.completed) == (S.CANCELED, 1)


@in_parts
async def test_a_job_that_is_being_canceled_takes_no_other_command(w: World) -> None:
    job, root = await open_long(w, loop={"values": ["a"], "concurrency": 1})
    held = await w.claim_one()
    assert await w.store.checkpoint(held.work.session, held.work.fence, Checkpoint(pending_action="click('pay')"))
    await w.store.cancel(job)
    await w.store.expire_leases(owner="w1")
    for call in (w.store.pause, w.store.resume, w.store.retry, w.store.delete):
        with pytest.raises(WrongState):
            await call(job)
    with pytest.raises(WrongState, match="canceled"):
        await w.store.resolve_unsure(held.work.session, "retry")
    before = (await w.store.job(job)).counts
    assert (await w.store.cancel(job)).counts == before, "asking again changes nothing"
    await w.store.set_concurrency(job, None)
    assert await w.claim() == [] and await w.status(root) is S.WAITING
    await w.store.resolve_unsure(held.work.session, "done")
    await sweep_all(w.store)
    row = await sums(w, job)
    assert (row.status, row.counts.completed, row.counts.canceled) == (S.CANCELED, 1, LONG - 1)
    await w.store.retry(job)
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == LONG


@in_parts
async def test_a_long_loop_whose_deadline_passes_fails_slice_by_slice(w: World) -> None:
    job, root = await open_long(w, deadline_s=100)
    held = await w.claim(2)
    pending = Checkpoint(pending_action="click('pay')")
    assert await w.store.checkpoint(held[0].work.session, held[0].work.fence, pending)
    w.clock.now += 100
    assert await w.store.expire_deadlines() == [job]
    row = await sums(w, job)
    assert (row.status, row.counts.unsure, row.counts.running) == (S.RUNNING, 1, 0), "workers are told at once"
    assert 0 < row.counts.failed <= SLICE and await w.status(root) is S.WAITING
    assert await w.store.partitions() == [] and (await w.store.materialize()).more is False
    for call in (w.store.change(job, JobChanges(frozenset({"deadline_s"}))), w.store.set_concurrency(job, 1)):
        with pytest.raises(WrongState, match="deadline"):
            await call
    assert (await w.finish((held[1], DONE))).late == {held[1].work.session}
    assert len(await sweep_all(await w.another())) > 2
    row = await sums(w, job)
    assert (row.status, row.counts.unsure, row.counts.failed) == (S.FAILED, 1, LONG - 1)
    assert row.error is not None and row.error.code == "deadline_passed"
    codes = Counter(line.error.code if line.error else None for line in await w.store.results(job))
    assert codes == {"action_unconfirmed": 1, "deadline_passed": LONG - 1}
    assert await w.store.expire_deadlines() == []
    assert (await names(w, job)).count(JobEvent.FINISHED) == 1


@in_parts
async def test_what_is_canceled_and_late_is_canceled(w: World) -> None:
    job, _ = await open_long(w, deadline_s=100)
    await w.claim(1)
    await w.store.cancel(job)
    w.clock.now += 100
    await sweep_all(w.store)
    row = await sums(w, job)
    assert (row.status, row.counts.canceled, row.error) == (S.CANCELED, LONG, None)


@in_parts
async def test_the_parent_of_a_stopped_loop_goes_on_when_the_last_child_is_canceled(w: World) -> None:
    job, root = await open_long(w, stop=True)
    one, two = await w.claim(2)
    written = await w.finish((one, BROKEN))
    assert written.stopped and written.ready == ()
    row = await sums(w, job)
    assert row.counts.failed == 1 and 0 < row.counts.canceled < SLICE + PART
    assert await w.claim() == [] and (await w.store.materialize()).more is False
    slices = 0
    while (await w.store.run_bulk_operations()).more:
        await sums(w, job)
        slices += 1
    assert slices > 1 and await w.status(root) is S.WAITING, "one child still runs"
    assert (await w.finish((two, Outcome(S.QUEUED)))).ready != ()
    row = await sums(w, job)
    assert (row.counts.failed, row.counts.canceled) == (1, LONG - 1)
    again = await w.claim_one()
    assert again.work.session == root and again.work.children is not None
    assert (again.work.children.expected, again.work.children.failed) == (LONG, LONG)
    await w.finish((again, DONE))
    assert (await sums(w, job)).status is S.COMPLETED


@in_parts
async def test_the_last_slice_of_a_stopped_loop_makes_its_parent_ready(w: World) -> None:
    job, root = await open_long(w, stop=True)
    await w.finish(((await w.claim(1))[0], BROKEN))
    ready: tuple[Partition, ...] = ()
    while (swept := await w.store.run_bulk_operations()).more:
        assert not ready
        ready = swept.ready
    assert [partition.job for partition in ready] == [job]
    assert (await w.claim_one()).work.session == root


@in_parts
async def test_a_claim_gives_out_no_child_of_a_loop_that_was_stopped(w: World) -> None:
    job, _ = await open_long(w, stop=True, loop={"values": ["a"], "loop": {"values": ["b"]}})
    await w.store.materialize()
    broken, begun = await w.claim(2)
    await w.finish((begun, loop(links(2))))
    await w.finish((broken, BROKEN))
    held = await w.claim()
    # Children of another loop are given out; those that had not begun are not, and their attempts do not count.
    assert [one.work.depth for one in held] == [2, 2]
    rows, _ = await w.store.sessions(job, limit=100, statuses=[S.QUEUED])
    assert len(rows) > SLICE and all((row.attempt, row.owner) == (0, None) for row in rows)
    await sums(w, job)
    await sweep_all(w.store)
    await sums(w, job)
    assert (await w.store.sessions(job, limit=100, statuses=[S.QUEUED]))[0] == []
    await w.finish(*((one, DONE) for one in held))
    assert (await w.claim_one()).work.session == begun.work.session, "who has begun goes on after his own loop"


@in_parts
async def test_an_item_of_a_loop_that_is_being_stopped_is_tried_again_when_that_is_done(w: World) -> None:
    job, _ = await open_long(w, stop=True)
    one, two = await w.claim(2)
    await w.finish((one, Outcome(S.UNSURE)))
    with pytest.raises(WrongState, match="stops this loop"):
        await w.store.resolve_unsure(one.work.session, "retry")
    await sweep_all(w.store)
    await w.store.resolve_unsure(one.work.session, "retry")
    again = await w.claim_one()
    assert again.work.session == one.work.session
    await w.finish((again, DONE), (two, DONE))
    row = await sums(w, job)
    assert (row.counts.completed, row.counts.canceled) == (2, LONG - 2)


@in_parts
async def test_several_sweepers_end_each_session_once(w: World) -> None:
    jobs = [(await open_long(w))[0] for _ in range(3)]
    for job in jobs:
        await w.store.cancel(job)
    other = await w.another()
    await asyncio.gather(*(sweep_all(store) for store in (w.store, other, w.store, other)))
    await sweep_all(w.store)
    for job in jobs:
        row = await sums(w, job)
        assert (row.status, row.counts.canceled) == (S.CANCELED, LONG)
        assert (await names(w, job)).count(JobEvent.FINISHED) == 1
