"""Loops that are too long for one transaction: durable at once, stored piece by piece, claimed meanwhile."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from agent.status import Status
from agent.types import LoopItem
from services.store import fanout
from services.store.records import Finish
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
short = pytest.mark.usefixtures("short_pieces")
FIRST, PART = 5, 10
LONG = FIRST + 2 * PART + 7


@pytest.fixture
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few children, so that a loop of 32 is a long one."""
    monkeypatch.setattr(fanout, "FIRST", FIRST)
    monkeypatch.setattr(fanout, "PART", PART)


async def open_long(w: World, *, stop: bool = False, **fields: object) -> int:
    """A job whose root has just fanned out; nothing but its first children is stored."""
    job = await w.submit(**fields)
    root = await w.claim_one()
    items = (*links(LONG - 1, hosts=3), LoopItem(LONG - 1, "last", is_link=False))
    written = await w.store.finish([Finish(root.work.session, root.work.fence, loop(items, stop=stop))])
    assert written.unborn
    return job


async def unfold_all(w: World) -> int:
    stored = 0
    while (piece := await w.store.unfold()).more:
        stored += piece.stored
    return stored


@short
async def test_the_first_children_run_while_later_ones_are_not_stored(w: World) -> None:
    job = await open_long(w)
    held = await w.claim()
    assert [one.work.item.index for one in held if one.work.item] == list(range(FIRST))
    await w.finish(*((one, DONE) for one in held))
    row = await w.store.job(job)
    assert (row.status, row.counts.expected, row.counts.completed) == (S.RUNNING, LONG, FIRST)
    assert (await w.store.counts_by_status())["acme", S.QUEUED] == LONG - FIRST
    piece = await w.store.unfold()
    assert piece.stored == PART and piece.more
    assert {lane.host for lane in piece.ready} == {"h0.example", "h1.example", "h2.example"}
    assert len(await w.claim()) == PART


@short
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


@short
async def test_a_loop_is_not_over_before_its_last_children_are_stored(w: World) -> None:
    job = await open_long(w)
    await w.run_out()
    assert (await w.store.job(job)).counts.completed == FIRST
    assert await w.claim() == []
    await unfold_all(w)
    await w.run_out()
    assert (await w.check_sums(job)).status is S.COMPLETED


@short
async def test_the_loop_s_concurrency_holds_for_children_that_are_stored_later(w: World) -> None:
    job = await open_long(w, loop={"values": ["a"], "concurrency": FIRST + 4})
    first = await w.claim()
    assert len(first) == FIRST
    await w.store.unfold()
    assert len(await w.claim()) == 4
    await unfold_all(w)
    await w.finish(*((one, DONE) for one in first[:3]))
    assert len(await w.claim()) == 3
    await w.check_sums(job)


@short
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
    await w.store.reap(owner="w1")
    assert (await w.store.unfold()).more is False
    await w.run_out()
    row = await w.check_sums(job)
    assert row.counts.expected == row.counts.final == LONG
    assert row.counts.failed == {"cancel": 0, "deadline": LONG, "stop": 1}[how]


@short
async def test_a_canceled_long_loop_is_retried_whole(w: World) -> None:
    job = await open_long(w)
    await w.store.cancel(job)
    await w.store.retry(job)
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == LONG
