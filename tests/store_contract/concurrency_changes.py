"""Loops that get another concurrency, too long for one transaction: it holds at once, and is done slice by slice."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from sqlalchemy import func, select

from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.store.database.states import State
from shoal.services.store.database.tables import session
from shoal.services.store.records import Claimed, JobRow
from shoal.services.store.store import Store
from tests.store_contract.fixtures import SLICE, sliced
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
LONG = 40


async def sweep_out(store: Store) -> int:
    """Does all that is left of commands; gives how many slices that took."""
    slices = 0
    while (await store.run_bulk_operations()).more:
        slices += 1
    return slices


async def states(w: World, job: int) -> Counter[State]:
    """Return how many items of a job are in each state."""
    columns = session.c.state, func.count().label("n")
    asked = select(*columns).where(session.c.job == job, session.c.children == 0).group_by(session.c.state)
    rows = await w.store._db.read(lambda tx: tx.conn.execute(asked).all())
    return Counter({State(row.state): row.n for row in rows})


async def whole(w: World, job: int, root: int) -> JobRow:
    """The job, whose counts are what its sessions say, and whose loop has as many seats taken as children are out."""
    (row,) = await w.store._db.read(lambda tx: tx.rows("loops", ids=tx.many([root])))
    found = await states(w, job)
    assert row.seats == found[State.QUEUED] + found[State.RUNNING] + found[State.DELAYED]
    return await w.check_sums(job)


@sliced
async def test_a_long_loop_is_narrowed_slice_by_slice_and_its_first_items_stay_next(w: World) -> None:
    job, root = await w.open_loop(LONG, hosts=3)
    await w.store.set_concurrency(job, 3)
    slices = 0
    while (swept := await w.store.run_bulk_operations()).more:
        assert 0 < swept.changed <= 2 * SLICE
        slices += 1
        await whole(w, job, root)
    assert slices >= (LONG - 3) // SLICE - 1
    assert await states(w, job) == {State.QUEUED: 3, State.HELD: LONG - 3}
    assert [one.work.session - root for one in sorted(await w.claim(), key=lambda one: one.work.session)] == [1, 2, 3]


@sliced
async def test_no_more_run_than_the_new_limit_says_while_thousands_are_still_ready(w: World) -> None:
    job, _ = await w.open_loop(LONG, hosts=3)
    await w.store.set_concurrency(job, 5)
    assert (await states(w, job))[State.QUEUED] > SLICE, "the command did a slice, and answered"
    held: list[Claimed] = []
    while (await w.store.job(job)).status is not S.COMPLETED:
        held = [*await w.claim(), *held]
        assert len(held) <= 5
        await w.finish((held.pop(), DONE))
        await w.store.run_bulk_operations()
        await w.check_sums(job)
    assert (await w.store.job(job)).counts.completed == LONG


@sliced
async def test_what_a_claim_may_not_begin_is_as_if_it_had_not_been_claimed(w: World) -> None:
    job, root = await w.open_loop(LONG)
    await w.store.set_concurrency(job, 2)
    assert len(await w.claim()) == 2 and await w.claim() == []
    rows, _ = await w.store.sessions(job, limit=100, statuses=[S.QUEUED])
    assert len(rows) == LONG - 2 and all((row.attempt, row.owner, row.lease_until) == (0, None, None) for row in rows)
    await whole(w, job, root)


@sliced
async def test_those_that_wait_for_another_try_or_their_own_loops_keep_their_seats(w: World) -> None:
    job, _ = await w.open_loop(LONG, loop={"values": ["a"], "loop": {"values": ["b"]}})
    tried, begun, *others = await w.claim(6)
    await w.finish((begun, loop(links(2))))
    await w.finish((tried, Outcome(S.QUEUED)), ready_in_s=30.0)
    await w.finish(*((one, DONE) for one in others))
    await w.store.set_concurrency(job, 3)
    inner = await w.claim()
    assert sorted(one.work.depth for one in inner) == [1, 2, 2], "one seat is left beside those two"
    await sweep_out(w.store)
    assert await w.claim() == []
    w.clock.now += 30.0
    assert [one.work.session for one in await w.claim()] == [tried.work.session]
    await w.store.expire_leases(owner="w1")
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == LONG + 1


@sliced
async def test_a_long_loop_is_let_go_slice_by_slice_from_its_first_item_on(w: World) -> None:
    job, root = await w.open_loop(LONG, loop={"values": ["a"], "concurrency": 2})
    await w.store.set_concurrency(job, None)
    assert await states(w, job) == {State.QUEUED: 2 + SLICE, State.HELD: LONG - 2 - SLICE}
    while (swept := await w.store.run_bulk_operations()).more:
        assert swept.changed <= SLICE and (not swept.changed or [partition.job for partition in swept.ready] == [job])
        await whole(w, job, root)
    assert await states(w, job) == {State.QUEUED: LONG}


@sliced
async def test_a_raised_limit_is_filled_and_no_more(w: World) -> None:
    job, root = await w.open_loop(LONG, loop={"values": ["a"], "concurrency": 2})
    held = await w.claim()
    await w.store.set_concurrency(job, 15)
    await w.finish((held[0], DONE))  # its seat, and a slice of the others
    await whole(w, job, root)
    assert await sweep_out(await w.another()) > 1
    assert await states(w, job) == {State.COMPLETED: 1, State.RUNNING: 1, State.QUEUED: 14, State.HELD: LONG - 16}
    await whole(w, job, root)


@sliced
@pytest.mark.parametrize("limits", [(3, None), (None, 3), (3, 20), (20, 3), (3, None, 3)])
async def test_the_last_of_commands_that_cross_holds(w: World, limits: tuple[int | None, ...]) -> None:
    job, root = await w.open_loop(LONG, hosts=2, loop={"values": ["a"], "concurrency": 10})
    for limit in limits:
        await w.store.set_concurrency(job, limit)
        await w.store.run_bulk_operations()
        await whole(w, job, root)
    out = LONG if limits[-1] is None else limits[-1]
    assert len(await w.claim()) <= out
    await sweep_out(w.store)
    await w.claim()
    row = await whole(w, job, root)
    assert row.counts.running == out
    found = await states(w, job)
    assert (found[State.HELD], found[State.QUEUED]) == (LONG - out, 0)


@sliced
async def test_a_dispatcher_that_dies_between_slices_leaves_the_rest_to_another(w: World) -> None:
    job, root = await w.open_loop(LONG)
    first, second = await w.another(), await w.another()
    await w.store.set_concurrency(job, 1)
    assert (await first.run_bulk_operations()).more
    if first is not w.store:
        await first.close()
    assert await sweep_out(second) > 1
    assert await states(w, job) == {State.QUEUED: 1, State.HELD: LONG - 1}
    await whole(w, job, root)


@sliced
async def test_a_paused_job_is_narrowed_as_well(w: World) -> None:
    job, root = await w.open_loop(LONG)
    await w.store.pause(job)
    await w.store.set_concurrency(job, 2)
    await sweep_out(w.store)
    assert await w.claim() == []
    await w.store.resume(job)
    assert len(await w.claim()) == 2
    await whole(w, job, root)


@sliced
@pytest.mark.parametrize("limit", [1, None])
async def test_a_job_that_is_canceled_while_its_loop_changes_ends_whole(w: World, limit: int | None) -> None:
    job, _ = await w.open_loop(LONG, loop={"values": ["a"], "concurrency": 20})
    await w.store.set_concurrency(job, limit)
    await w.store.cancel(job)
    assert await w.claim() == []
    await sweep_out(w.store)
    row = await w.check_sums(job)
    assert (row.status, row.counts.canceled) == (S.CANCELED, LONG)
    await w.store.retry(job)
    await sweep_out(w.store)
    assert len(await w.claim()) == (limit or LONG)
    await w.store.expire_leases(owner="w1")
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == LONG


@sliced
async def test_a_limit_that_a_canceled_job_was_given_holds_when_it_is_retried(w: World) -> None:
    job, _ = await w.open_loop(LONG, loop={"values": ["a"], "concurrency": 20})
    await w.store.cancel(job)
    await w.store.set_concurrency(job, 3)
    await sweep_out(w.store)
    row = await w.store.retry(job)
    await sweep_out(w.store)
    assert len(await w.claim()) == row.concurrency == 3


@sliced
async def test_a_loop_that_stops_while_it_is_narrowed_ends_and_its_parent_goes_on(w: World) -> None:
    job, root = await w.open_loop(LONG, stop=True)
    one, *_ = await w.claim(1)
    await w.store.set_concurrency(job, 1)
    await w.finish((one, BROKEN))
    assert await w.claim() == []
    await sweep_out(w.store)
    assert (await w.claim_one()).work.session == root
    assert (await w.check_sums(job)).counts.canceled == LONG - 1


@sliced
async def test_several_sweepers_and_commands_at_once_leave_a_loop_as_the_last_said(w: World) -> None:
    job, root = await w.open_loop(LONG, hosts=2)
    other = await w.another()
    for limit in (2, None, 7):
        await asyncio.gather(w.store.set_concurrency(job, limit), *(sweep_out(store) for store in (w.store, other)))
    await sweep_out(w.store)
    await whole(w, job, root)
    assert len(await w.claim()) == 7
