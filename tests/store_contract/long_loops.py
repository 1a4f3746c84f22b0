"""Loops that are too long for one transaction: durable at once, stored piece by piece, claimed meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest
from sqlalchemy import func, select

from shoal.agent.compressed_items import LoopPiece, compress_items
from shoal.agent.status import Status
from shoal.agent.types import LoopItem, Outcome
from shoal.services.errors import WrongState
from shoal.services.store.database.tables import staged
from shoal.services.store.records import Finish
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
FIRST, PART = 5, 10
LONG = FIRST + 2 * PART + 7


async def open_long(w: World, *, stop: bool = False, **fields: object) -> int:
    """A job whose root has just fanned out, in pieces of a few children; nothing but the first of them is stored."""
    w.first, w.part = FIRST, PART
    job = await w.submit(**fields)
    root = await w.claim_one()
    items = (*links(LONG - 1, hosts=3), LoopItem(LONG - 1, "last", is_link=False))
    written = await w.report(Finish(root.work.session, root.work.fence, loop(items, stop=stop)))
    assert written.pending_children
    return job


async def unfold_all(w: World) -> int:
    stored = 0
    while (piece := await w.store.materialize()).more:
        stored += piece.stored
    return stored


async def test_the_first_children_run_while_later_ones_are_not_stored(w: World) -> None:
    job = await open_long(w)
    held = await w.claim()
    assert [one.work.item.index for one in held if one.work.item] == list(range(FIRST))
    await w.finish(*((one, DONE) for one in held))
    row = await w.store.job(job)
    assert (row.status, row.counts.expected, row.counts.completed) == (S.RUNNING, LONG, FIRST)
    assert (await w.store.counts_by_status())["acme", S.QUEUED] == LONG - FIRST
    piece = await w.store.materialize()
    assert piece.stored == PART and piece.more
    assert {partition.host for partition in piece.ready} == {"h0.example", "h1.example", "h2.example"}
    assert len(await w.claim()) == PART


async def test_all_children_are_stored_once_in_order_by_several_dispatchers(w: World) -> None:
    job = await open_long(w)
    other = await w.another()

    async def help_out(store: object) -> int:
        return await unfold_all(w)

    done = await asyncio.gather(*(help_out(store) for store in (w.store, other, w.store, other)))
    assert sum(done) == LONG - FIRST
    rows, _ = await w.store.sessions(job, limit=10_000)
    children = rows[1:]
    assert [row.item.index for row in children if row.item] == list(range(LONG))
    assert [row.index for row in children] == list(range(LONG))
    assert all(a.id + 1 == b.id for a, b in pairwise(children))
    assert children[-1].domain == "shop.example", "an item that is no link begins where its loop was found"
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, LONG)


async def test_a_loop_is_not_over_before_its_last_children_are_stored(w: World) -> None:
    job = await open_long(w)
    await w.run_out()
    assert (await w.store.job(job)).counts.completed == FIRST
    assert await w.claim() == []
    await unfold_all(w)
    await w.run_out()
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_the_loop_s_concurrency_holds_for_children_that_are_stored_later(w: World) -> None:
    job = await open_long(w, loop={"values": ["a"], "concurrency": FIRST + 4})
    first = await w.claim()
    assert len(first) == FIRST
    await w.store.materialize()
    assert len(await w.claim()) == 4
    await unfold_all(w)
    await w.finish(*((one, DONE) for one in first[:3]))
    assert len(await w.claim()) == 3
    await w.check_sums(job)


@pytest.mark.parametrize("how", ["cancel", "deadline", "stop"])
async def test_a_loop_that_ends_early_counts_the_children_that_were_not_stored_yet(w: World, how: str) -> None:
    job = await open_long(w, stop=how == "stop", deadline_s=100)
    held = (await w.claim())[0]
    if how == "cancel":
        await w.store.cancel(job)
    elif how == "deadline":
        w.clock.now += 101
        assert await w.store.expire_deadlines() == [job]
    else:
        await w.finish((held, BROKEN))
    await w.store.expire_leases(owner="w1")
    assert (await w.store.materialize()).more is False
    await w.run_out()
    row = await w.check_sums(job)
    assert row.counts.expected == row.counts.final == LONG
    assert row.counts.failed == {"cancel": 0, "deadline": LONG, "stop": 1}[how]


async def test_a_canceled_long_loop_is_retried_whole(w: World) -> None:
    job = await open_long(w)
    await w.store.cancel(job)
    await w.store.retry(job)
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == LONG


# --- items that come while the loop is still being found -------------------------------------------------


def piece(at: int, n: int) -> LoopPiece:
    """`n` items from index `at` on, in parts of three."""
    return LoopPiece(at, tuple(compress_items(links(at + n)[at:], 3)))


def opening(later: int) -> Outcome:
    """A session ends with a loop of three items, and so many that it had handed on."""
    whole = loop(links(3))
    assert whole.fan_out is not None
    return replace(whole, fan_out=replace(whole.fan_out, later=later))


async def test_items_that_were_handed_on_become_children_behind_the_first(w: World) -> None:
    job = await w.submit()
    root = await w.claim_one()
    own = (root.work.session, root.work.fence)
    assert await w.store.stage(*own, piece(3, 7))
    assert await w.store.stage(*own, piece(10, 2))
    assert await w.store.stage(*own, piece(3, 7)), "a dispatcher that died has not said that it has it"
    assert (await w.store.job(job)).counts.expected == 1, "they are nothing before the loop is opened"

    await w.finish((root, opening(9)))

    rows, _ = await w.store.sessions(job, limit=100)
    assert [row.item.value for row in rows[1:] if row.item] == [item.value for item in links(12)]
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == 12


async def test_items_of_a_lease_that_is_another_s_are_refused(w: World) -> None:
    await w.submit()
    lost = await w.claim_one()
    await w.store.expire_leases(owner="w1")
    assert not await w.store.stage(lost.work.session, lost.work.fence, piece(3, 1))
    again = await w.claim_one()
    assert not await w.store.stage(lost.work.session, lost.work.fence, piece(3, 1))
    assert await w.store.stage(again.work.session, again.work.fence, piece(3, 1))


async def test_what_an_attempt_that_died_had_found_is_no_part_of_the_loop(w: World) -> None:
    job = await w.submit()
    lost = await w.claim_one()
    assert await w.store.stage(lost.work.session, lost.work.fence, piece(3, 50))
    await w.store.expire_leases(owner="w1")
    again = await w.claim_one()
    assert await w.store.stage(again.work.session, again.work.fence, piece(3, 4))
    await w.finish((again, opening(4)))
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == 7


async def test_a_loop_of_which_items_are_missing_is_not_opened(w: World) -> None:
    job = await w.submit()
    root = await w.claim_one()
    assert await w.store.stage(root.work.session, root.work.fence, piece(3, 4))
    with pytest.raises(WrongState, match="5 more items belong to its loop; 4 are kept"):
        await w.store.finish([Finish(root.work.session, root.work.fence, opening(5))])
    row = await w.check_sums(job)
    assert (row.status, row.counts.expected) == (S.RUNNING, 1)


@pytest.mark.parametrize("how", ["delete", "drop"])
async def test_items_that_no_loop_took_go_with_their_job(w: World, how: str) -> None:
    job = await w.submit()
    root = await w.claim_one()
    assert await w.store.stage(root.work.session, root.work.fence, piece(3, 4))
    await w.finish((root, BROKEN))
    assert await staged_rows(w) == 2
    if how == "delete":
        await w.store.delete(job)
    else:
        await w.store.archived(job, "somewhere")
    assert not await w.store.drop(job, (await w.store.droppable(job)).sessions)
    assert await staged_rows(w) == 0


async def staged_rows(w: World) -> int:
    return await w.store._db.read(
        lambda tx: int(tx.conn.execute(select(func.count()).select_from(staged)).scalar_one())
    )
