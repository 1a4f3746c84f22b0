"""Unsure sessions that their owner settles, and loops whose concurrency he changes."""

from __future__ import annotations

import pytest

from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, Outcome, Record
from shoal.services.errors import NotFound, WrongState
from shoal.services.store.records import Claimed
from tests.store_contract.fixtures import names
from tests.store_world import DONE, ERROR, World, links, loop

S = Status
DAY_S = 86_400.0
MARKED = Checkpoint(url="https://shop.example/pay", records=(Record({"n": 7}),), pending_action="click('pay')")


async def die_inside(w: World, held: Claimed) -> None:
    """The worker marks an action that must not be repeated, and dies."""
    assert await w.store.checkpoint(held.work.session, held.work.fence, MARKED)
    await w.store.expire_leases(owner="w1")


async def test_an_unsure_job_that_was_done_is_completed_with_what_it_had(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    await die_inside(w, held)
    assert (await w.store.job(job)).status is S.UNSURE
    settled = await w.store.resolve_unsure(held.work.session, "done", tenant="acme")
    assert settled.row.status is S.COMPLETED
    row = await w.check_sums(job)
    assert (row.status, row.error, row.counts.completed, row.counts.unsure) == (S.COMPLETED, None, 1, 0)
    (line,) = await w.store.results(job)
    assert line.status is S.COMPLETED and line.record == Record({"n": 7})
    assert "job.settled" in await names(w, job)
    with pytest.raises(WrongState, match=f"session s{held.work.session} is completed"):
        await w.store.resolve_unsure(held.work.session, "done")


async def test_an_unsure_job_that_is_tried_again_begins_before_the_action(w: World) -> None:
    job = await w.submit(deadline_s=100)
    held = await w.claim_one()
    await die_inside(w, held)
    w.clock.now += 90
    await w.store.resolve_unsure(held.work.session, "retry")
    again = await w.claim_one()
    assert again.work.checkpoint is not None
    assert (again.work.checkpoint.url, again.work.checkpoint.pending_action) == (MARKED.url, "")
    assert again.work.attempt == 1 and again.work.seconds_left == 100
    assert again.work.fence > held.work.fence
    await w.finish((again, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


@pytest.mark.parametrize("how", ["done", "retry"])
@pytest.mark.parametrize("dropped", [0, 1])
async def test_an_unsure_item_of_an_archived_job_stays_as_its_archive_says(w: World, how: str, dropped: int) -> None:
    job, _ = await w.open_loop(2, artifacts={"retention_days": 1})
    first, second = await w.claim()
    await w.finish((second, DONE))
    await die_inside(w, first)
    await w.run_out()
    (unsure,) = [row for row in (await w.store.sessions(job, statuses=[S.UNSURE]))[0] if row.depth]
    w.clock.now += DAY_S + 1
    assert await w.store.archived(job, "archive/x")
    before = (await w.store.job(job)).counts
    if dropped:  # its parent is gone first
        await w.store.drop(job, (await w.store.droppable(job, dropped)).sessions)
    with pytest.raises(WrongState, match=f"job j{job} is archived"):
        await w.store.resolve_unsure(unsure.id, how)
    assert (await w.store.job(job)).counts == before


async def test_an_unsure_item_waits_with_its_siblings_while_the_loop_runs(w: World) -> None:
    job, root = await w.open_loop(3, loop={"values": ["a"], "concurrency": 1})
    first = await w.claim_one()
    await die_inside(w, first)
    second = await w.claim_one()
    await w.store.resolve_unsure(first.work.session, "retry")
    assert await w.claim() == [], "the loop runs one item at a time"
    await w.finish((second, DONE))
    await w.check_sums(job)
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == 3
    assert await w.status(root) is S.COMPLETED


async def test_an_unsure_item_of_an_ended_job_opens_its_loops_again(w: World) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), loop(links(1))))
    await w.finish((await w.claim_one(), loop(links(2))))
    unsure, other = await w.claim()
    await w.finish((unsure, Outcome(S.UNSURE, error=ERROR, checkpoint=MARKED)), (other, DONE))
    await w.run_out()
    assert (await w.check_sums(job)).status is S.COMPLETED
    await w.store.resolve_unsure(unsure.work.session, "retry")
    row = await w.check_sums(job)
    assert (row.status, row.counts.final, row.counts.expected) == (S.QUEUED, 1, 2)
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 2)


async def test_an_item_is_not_tried_again_while_its_parent_sums_up(w: World) -> None:
    await w.open_loop(1)
    item = await w.claim_one()
    await die_inside(w, item)
    parent = await w.claim_one()
    with pytest.raises(WrongState, match="summing up"):
        await w.store.resolve_unsure(item.work.session, "retry")
    await w.store.resolve_unsure(item.work.session, "done")
    await w.finish((parent, DONE))


async def test_only_unsure_sessions_of_ones_own_are_settled(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    with pytest.raises(WrongState):
        await w.store.resolve_unsure(held.work.session, "done")
    with pytest.raises(NotFound, match=f"there is no session s{held.work.session}"):
        await w.store.resolve_unsure(held.work.session, "done", tenant="other")
    with pytest.raises(NotFound):
        await w.store.resolve_unsure(10**6, "retry")
    await w.store.cancel(job)
    await die_inside(w, held)
    with pytest.raises(WrongState, match="canceled"):
        await w.store.resolve_unsure(held.work.session, "retry")


async def test_a_running_loop_is_widened_narrowed_and_let_go(w: World) -> None:
    job, _ = await w.open_loop(10, loop={"values": ["a"], "concurrency": 2})
    running = await w.claim()
    assert len(running) == 2
    await w.store.set_concurrency(job, 5)
    running += await w.claim()
    assert len(running) == 5
    await w.store.set_concurrency(job, 3)
    await w.finish(*((one, DONE) for one in running[:2]))
    assert await w.claim() == [], "three still run"
    await w.finish((running[2], DONE))
    assert len(await w.claim()) == 1
    await w.store.set_concurrency(job, None)
    assert len(await w.claim()) == 4
    await w.check_sums(job)
    await w.store.expire_leases(owner="w1")
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 10)
    with pytest.raises(WrongState):
        await w.store.set_concurrency(job, 1)


async def test_a_loop_that_is_narrowed_holds_back_what_is_queued(w: World) -> None:
    job, _ = await w.open_loop(6)
    await w.store.set_concurrency(job, 2)
    held = await w.claim()
    assert len(held) == 2
    await w.finish((held[0], DONE))
    assert len(await w.claim()) == 1
    assert "job.changed" in await names(w, job)


async def test_a_concurrency_that_is_set_before_the_loop_begins_holds_for_it(w: World) -> None:
    job = await w.submit(loop={"values": ["a"], "concurrency": 4})
    await w.store.set_concurrency(job, 1)
    await w.finish((await w.claim_one(), loop(links(3))))
    assert len(await w.claim()) == 1


async def test_an_unsure_session_shows_what_it_was_about_to_do(w: World) -> None:
    await w.submit()
    held = await w.claim_one()
    assert (await w.store.session(held.work.session)).checkpoint is None
    await die_inside(w, held)
    known = (await w.store.session(held.work.session)).checkpoint
    assert known is not None and (known.pending_action, known.url) == ("click('pay')", "https://shop.example/pay")
