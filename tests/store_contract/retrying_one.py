"""One session that its owner tries again, alone: as fenced as a retry of its whole job."""

from __future__ import annotations

import pytest

from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, Outcome, Record
from shoal.services.errors import NotFound, WrongState
from shoal.services.events import JobEvent
from shoal.services.store.jobs import ending
from tests.store_contract.fixtures import sliced
from tests.store_contract.resolve_unsure import die_inside
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
DAY_S = 86_400.0


async def test_one_item_of_an_ended_job_is_tried_again_and_its_siblings_stay_as_they_are(w: World) -> None:
    job, root = await w.open_loop(3)
    one, two, three = await w.claim()
    kept = Checkpoint(url="https://shop.example/p", records=(Record({"n": 7}),))
    assert await w.store.checkpoint(one.work.session, one.work.fence, kept)
    await w.finish((one, BROKEN), (two, BROKEN), (three, DONE))
    await w.run_out()
    assert (await w.check_sums(job)).status is S.COMPLETED
    told = await w.store.retry_session(one.work.session, tenant="acme")
    assert told.row.status is S.QUEUED
    row = await w.check_sums(job)
    assert (row.status, row.counts.final, row.counts.failed) == (S.QUEUED, 2, 1)
    again = await w.claim_one()
    assert (again.work.session, again.work.attempt) == (one.work.session, 1)
    assert again.work.checkpoint == kept and again.work.fence > one.work.fence
    assert (await w.finish((one, DONE))).late == {one.work.session}, "what its first attempt says comes too late"
    await w.finish((again, DONE))
    last = await w.claim_one()
    assert last.work.session == root and last.work.children is not None and last.work.children.completed == 2
    assert (await w.finish((last, DONE))).finished_jobs == (job,)
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.failed) == (S.COMPLETED, 2, 1)
    (event,) = [event for event in await w.store.events(job=job) if event.name == JobEvent.RETRIED]
    assert (event.data["session"], event.data["sessions"]) == (one.work.session, 1)


async def test_one_item_is_tried_again_while_its_siblings_run_and_takes_its_turn(w: World) -> None:
    job, root = await w.open_loop(3, loop={"values": ["a"], "concurrency": 1})
    first = await w.claim_one()
    await w.finish((first, BROKEN))
    second = await w.claim_one()
    await w.store.retry_session(first.work.session)
    assert await w.claim() == [], "the loop runs one item at a time"
    await w.finish((second, DONE))
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == 3
    assert await w.status(root) is S.COMPLETED


async def test_an_item_of_a_loop_in_a_loop_opens_both_and_the_last_is_the_root(w: World) -> None:
    job, root = await w.open_loop(2)
    outer, other = await w.claim()
    await w.finish((outer, loop(links(2))), (other, DONE))
    inner, second = await w.claim()
    await w.finish((inner, BROKEN), (second, DONE))
    await w.run_out()
    await w.store.retry_session(inner.work.session)
    order = []
    while held := await w.claim():
        order += [one.work.session for one in held]
        await w.finish(*((one, DONE) for one in held))
        await w.check_sums(job)
    assert order == [inner.work.session, outer.work.session, root]
    assert (await w.check_sums(job)).counts.completed == 3


async def test_a_canceled_job_goes_on_with_the_one_session_alone(w: World) -> None:
    job, _ = await w.open_loop(3)
    held = (await w.claim(1))[0]
    await w.finish((held, BROKEN))
    await w.store.cancel(job)
    assert (await w.check_sums(job)).counts.canceled == 2
    await w.store.retry_session(held.work.session)
    again = await w.claim()
    assert [one.work.session for one in again] == [held.work.session]
    await w.finish((again[0], DONE))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.canceled) == (S.COMPLETED, 1, 2)


async def test_a_job_of_one_session_has_its_whole_deadline_again(w: World) -> None:
    job = await w.submit(deadline_s=100)
    held = await w.claim_one()
    await w.finish((held, BROKEN))
    w.clock.now += 200
    await w.store.retry_session(held.work.session)
    again = await w.claim_one()
    assert again.work.seconds_left == 100
    await w.finish((again, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_an_unsure_session_is_to_be_settled_first(w: World) -> None:
    await w.submit()
    held = await w.claim_one()
    await die_inside(w, held)
    with pytest.raises(WrongState, match=f"session s{held.work.session} is unsure: settle it first"):
        await w.store.retry_session(held.work.session)
    assert await w.status(held.work.session) is S.UNSURE and await w.claim() == []


@pytest.mark.parametrize("ended", [None, DONE])
async def test_what_runs_or_is_completed_is_not_tried_again(w: World, ended: Outcome | None) -> None:
    await w.submit()
    held = await w.claim_one()
    if ended is not None:
        await w.finish((held, ended))
    with pytest.raises(WrongState, match="completed and cannot be retried" if ended else "running and cannot"):
        await w.store.retry_session(held.work.session)


async def test_only_sessions_of_ones_own_are_tried_again(w: World) -> None:
    await w.submit()
    held = await w.claim_one()
    await w.finish((held, BROKEN))
    for session, tenant in ((held.work.session, "other"), (10**6, None)):
        with pytest.raises(NotFound, match=f"there is no session s{session}"):
            await w.store.retry_session(session, tenant=tenant)


async def test_a_session_of_an_archived_job_stays_as_its_archive_says(w: World) -> None:
    job, _ = await w.open_loop(2, artifacts={"retention_days": 1})
    one, two = await w.claim()
    await w.finish((one, BROKEN), (two, DONE))
    await w.run_out()
    w.clock.now += DAY_S + 1
    assert await w.store.archived(job, "archive/x")
    with pytest.raises(WrongState, match=f"job j{job} is archived"):
        await w.store.retry_session(one.work.session)


async def test_one_item_is_not_retried_while_its_parent_sums_up(w: World) -> None:
    await w.open_loop(1)
    item = await w.claim_one()
    await w.finish((item, BROKEN))
    parent = await w.claim_one()
    with pytest.raises(WrongState, match="summing up"):
        await w.store.retry_session(item.work.session)
    await w.finish((parent, DONE))
    await w.store.retry_session(item.work.session)


async def test_a_loop_goes_on_alone_once_none_of_its_items_is_to_be_tried_again(w: World) -> None:
    job, root = await w.open_loop(2)
    one, two = await w.claim()
    await w.finish((one, BROKEN), (two, DONE))
    await w.finish((await w.claim_one(), BROKEN))
    with pytest.raises(WrongState, match=f"session s{root} is a loop, and items of it are to be retried"):
        await w.store.retry_session(root)
    await w.store.retry_session(one.work.session)
    await w.finish((await w.claim_one(), DONE))
    await w.finish((await w.claim_one(), BROKEN))
    assert (await w.check_sums(job)).status is S.FAILED
    await w.store.retry_session(root)
    last = await w.claim_one()
    assert last.work.session == root and last.work.children is not None and last.work.children.completed == 2
    await w.finish((last, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


@sliced
async def test_what_a_retry_of_the_job_will_open_or_a_cancel_end_is_left_to_it(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SLICE", 1)
    job, _ = await w.open_loop(3)
    held = await w.claim()
    await w.finish(*((one, BROKEN) for one in held))
    await w.finish((await w.claim_one(), DONE))
    await w.store.retry(job)
    first, *_, last = sorted(one.work.session for one in held)
    with pytest.raises(WrongState, match=f"job j{job} is being retried, and session s{first} with it"):
        await w.store.retry_session(first)
    again = await w.claim_one()
    assert again.work.session == last
    await w.store.cancel(job)
    with pytest.raises(WrongState, match=f"job j{job} is being ended; retry session s{first} when it is over"):
        await w.store.retry_session(first)
