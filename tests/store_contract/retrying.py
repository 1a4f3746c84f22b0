"""Long jobs that are retried, too long for one transaction: open at once, and reopened slice by slice, by anybody."""

from __future__ import annotations

import asyncio

import pytest

from shoal.agent.status import FINAL, Status
from shoal.agent.types import Checkpoint, ChildrenSummary
from shoal.services.errors import WrongState
from shoal.services.events import JobEvent
from shoal.services.store.jobs import ending
from shoal.services.store.store import Store
from tests.store_contract.fixtures import SLICE, names, sliced
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
LONG = 30


async def failed(w: World, n: int = LONG, **fields: object) -> tuple[int, int]:
    """A job of which all items have failed, and its root, which made the best of it."""
    job, root = await w.open_loop(n, **fields)
    while (held := await w.claim()) and held[0].work.session != root:
        await w.finish(*((one, BROKEN) for one in held))
    await w.finish((held[0], DONE))
    assert (await w.check_sums(job)).counts.failed == n
    return job, root


async def reopen_all(store: Store) -> int:
    slices = 0
    while (await store.run_bulk_operations()).more:
        slices += 1
    return slices


@sliced
async def test_a_long_job_is_reopened_slice_by_slice_and_whole_after_each(w: World) -> None:
    job, root = await failed(w)
    row = await w.store.retry(job)
    assert (row.status, row.finished_at, row.counts.failed) == (S.QUEUED, None, LONG - SLICE)
    slices = 0
    while (swept := await w.store.run_bulk_operations()).more:
        assert 0 < swept.changed <= SLICE and [partition.job for partition in swept.ready] == [job]
        row = await w.check_sums(job)
        assert await w.status(root) is S.WAITING
        slices += 1
    assert slices == (LONG - 1) // SLICE and row.counts.final == 0
    held = await w.claim()
    assert len(held) == LONG and all(one.work.attempt == 1 for one in held)
    (told,) = [event for event in await w.store.events(job=job) if event.name == JobEvent.RETRIED]
    assert told.data["sessions"] == LONG


@sliced
async def test_a_job_is_not_over_before_all_that_failed_was_tried_again(w: World) -> None:
    job, root = await failed(w, webhook={"url": "https://me.example/"})
    await w.store.retry(job)
    slices = 0
    while job in await w.retried():
        for one in await w.claim():
            assert (await w.finish((one, DONE))).finished_jobs == ()
        row = await w.check_sums(job)
        assert row.status is S.RUNNING and await w.status(root) is S.WAITING, "its items are not all open again"
        assert (await w.store.run_bulk_operations()).more
        slices += 1
    assert slices == (LONG - 1) // SLICE
    await w.finish(*((one, DONE) for one in await w.claim()))
    again = await w.claim_one()
    assert again.work.session == root and again.work.children == ChildrenSummary(LONG, LONG, 0, ({"n": 1},) * 5)
    await w.finish((again, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED
    assert (await names(w, job)).count(JobEvent.FINISHED) == 2, "once before the retry, once behind it"


@sliced
async def test_what_fails_again_between_two_slices_is_not_tried_a_third_time(w: World) -> None:
    job, _ = await failed(w)
    await w.store.retry(job)
    tried: list[int] = []
    for _ in range(3 * LONG):
        held = await w.claim()
        tried += [one.work.session for one in held if one.work.depth]
        await w.finish(*((one, BROKEN if one.work.depth else DONE) for one in held))
        await w.check_sums(job)
        if not held and not (await w.store.run_bulk_operations()).more:
            break
    assert len(tried) == len(set(tried)) == LONG
    row = await w.check_sums(job)
    assert (row.status, row.counts.failed) == (S.COMPLETED, LONG)


@sliced
async def test_loops_within_loops_go_on_when_their_items_are_all_tried_again(w: World) -> None:
    job, root = await w.open_loop(3)
    outer = await w.claim()
    await w.finish(*((one, loop(links(6))) for one in outer))
    parents = [one.work.session for one in outer]
    while (held := await w.claim()) and held[0].work.session != root:
        await w.finish(*((one, DONE if one.work.session in parents else BROKEN) for one in held))
    await w.finish((held[0], DONE))
    await w.store.retry(job)
    order: list[int] = []
    for _ in range(100):
        held = await w.claim()
        for one in held:
            if one.work.children:
                order.append(one.work.session)
                assert one.work.children.completed == one.work.children.expected
        await w.finish(*((one, DONE) for one in held))
        row = await w.check_sums(job)
        if row.status in FINAL:
            break
        await w.store.run_bulk_operations()
    assert sorted(order[:-1]) == parents and order[-1] == root
    assert (row.status, row.counts.completed) == (S.COMPLETED, 18)


@sliced
async def test_parents_that_failed_behind_their_loops_go_on_from_there(w: World) -> None:
    job, root = await w.open_loop(10)
    outer = await w.claim()
    await w.finish(*((one, loop(links(2))) for one in outer))
    await w.finish(*((one, DONE) for one in await w.claim()))
    await w.finish(*((one, BROKEN) for one in await w.claim()))
    await w.finish((await w.claim_one(), BROKEN))
    assert (await w.check_sums(job)).counts.completed == 20
    await w.store.retry(job)
    seen: list[int] = []
    while (held := await w.claim()) or (await w.store.run_bulk_operations()).more:
        assert all(one.work.attempt == 1 for one in held)
        seen += [one.work.session for one in held]
        await w.finish(*((one, DONE) for one in held))
        await w.check_sums(job)
    assert seen[-1] == root and sorted(seen[:-1]) == [one.work.session for one in outer]
    assert (await w.check_sums(job)).status is S.COMPLETED


@sliced
async def test_a_retried_loop_keeps_its_concurrency_over_all_slices(w: World) -> None:
    job, _ = await failed(w, loop={"values": ["a"], "concurrency": 3})
    await w.store.retry(job)
    running: list[int] = []
    while (held := await w.claim()) or (await w.store.run_bulk_operations()).more:
        assert len(held) <= 3 and (await w.store.job(job)).counts.running <= 3
        running += [one.work.session for one in held if one.work.depth]
        await w.finish(*((one, DONE) for one in held))
        await w.check_sums(job)
    assert len(running) == LONG
    assert (await w.check_sums(job)).status is S.COMPLETED


@sliced
async def test_whoever_cancels_between_two_slices_has_the_last_word(w: World) -> None:
    job, _ = await failed(w)
    await w.store.retry(job)
    (held,) = await w.claim(1)
    assert (await w.store.cancel(job)).cancel_requested
    assert (await w.finish((held, DONE))).finished_jobs == (job,)
    await reopen_all(w.store)
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.canceled) == (S.CANCELED, 1, SLICE - 1)
    assert row.counts.failed == LONG - SLICE, "what was not open yet stays as it was"
    assert await w.retried() == set()
    await w.store.retry(job)
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, LONG)


@sliced
async def test_a_job_that_is_canceled_is_retried_when_that_is_done(w: World) -> None:
    job, _ = await w.open_loop(LONG)
    await w.store.cancel(job)
    with pytest.raises(WrongState, match="cannot be retried"):
        await w.store.retry(job)
    await reopen_all(w.store)
    await w.store.retry(job)
    for call in (w.store.retry, w.store.delete):
        with pytest.raises(WrongState):
            await call(job)
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == LONG


@sliced
async def test_a_deadline_that_passes_between_two_slices_ends_the_retry(w: World) -> None:
    job, _ = await failed(w, deadline_s=100.0)
    await w.store.retry(job)
    w.clock.now += 100.0
    assert await w.store.expire_deadlines() == [job]
    await reopen_all(w.store)
    row = await w.check_sums(job)
    assert (row.status, row.counts.failed) == (S.FAILED, LONG) and await w.retried() == set()


@sliced
async def test_a_loop_that_stops_again_leaves_what_was_not_reopened_as_it_was(w: World) -> None:
    job, root = await w.open_loop(LONG, stop=True)
    await w.finish(((await w.claim(1))[0], BROKEN))
    await reopen_all(w.store)
    await w.finish((await w.claim_one(), DONE))
    await w.store.retry(job)
    held = await w.claim()
    await w.finish((held[0], BROKEN), *((one, DONE) for one in held[1:]))
    await reopen_all(w.store)
    row = await w.check_sums(job)
    assert (row.counts.completed, row.counts.failed, row.counts.canceled) == (SLICE - 1, 2, LONG - SLICE - 1)
    assert (await w.claim_one()).work.session == root


@sliced
async def test_pause_settling_and_another_concurrency_come_between_slices(w: World) -> None:
    job, root = await w.open_loop(LONG, loop={"values": ["a"], "concurrency": 20})
    unsure = (await w.claim(1))[0]
    assert await w.store.checkpoint(unsure.work.session, unsure.work.fence, Checkpoint(pending_action="click('pay')"))
    await w.store.expire_leases(owner="w1")
    while (held := await w.claim()) and held[0].work.session != root:
        await w.finish(*((one, BROKEN) for one in held))
    await w.finish((held[0], DONE))
    await w.store.retry(job)
    await w.store.pause(job)
    assert (await w.store.run_bulk_operations()).more and await w.claim() == []
    await w.store.resolve_unsure(unsure.work.session, "retry")
    await w.store.set_concurrency(job, 2)
    await w.store.run_bulk_operations()
    await w.check_sums(job)
    await w.store.resume(job)
    assert len(await w.claim()) == 2
    await w.store.set_concurrency(job, None)
    await w.store.expire_leases(owner="w1")
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, LONG)


@sliced
async def test_dispatchers_that_die_or_come_at_once_reopen_each_session_once(w: World) -> None:
    job, _ = await failed(w)
    first, other = await w.another(), await w.another()
    await w.store.retry(job)
    assert (await first.run_bulk_operations()).more
    if first is not w.store:
        await first.close()
    await asyncio.gather(*(reopen_all(store) for store in (w.store, other, w.store)))
    await w.check_sums(job)
    held = await w.claim()
    assert len(held) == LONG
    await w.finish(*((one, DONE) for one in held))
    await w.run_out()
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_parent_that_was_held_when_it_was_retried_goes_on_though_its_loop_is_stopped(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has begun: the end of a loop cancels only those that have not."""
    monkeypatch.setattr(ending, "SLICE", 1)
    job, root = await w.open_loop(3, stop=True, loop={"values": ["a"], "concurrency": 2, "loop": {"values": ["b"]}})
    one, two = await w.claim()
    await w.finish((one, loop(links(1))), (two, loop(links(1))))
    await w.finish(*((inner, DONE) for inner in await w.claim()))
    await w.finish(*((parent, BROKEN) for parent in await w.claim()))
    await reopen_all(w.store)
    await w.finish((await w.claim_one(), DONE))
    await w.store.retry(job)  # the last one, which had not begun, is the first to have a seat
    await reopen_all(w.store)
    held = await w.claim()
    assert len(held) == 2 and one.work.session not in {each.work.session for each in held}
    await w.finish(*((each, DONE if each.work.session == two.work.session else BROKEN) for each in held))
    await reopen_all(w.store)
    again = await w.claim_one()
    assert again.work.session == one.work.session
    await w.finish((again, DONE))
    assert (await w.claim_one()).work.session == root
