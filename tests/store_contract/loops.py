"""Loops: fan-outs, their children, concurrency and stopping."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, ChildrenSummary, LoopItem, Outcome, Record
from shoal.services.events import JobEvent
from shoal.services.store.records import ClaimRequest, Finish
from tests.store_world import BROKEN, DONE, ERROR, World, links, loop

S = Status


async def test_a_fan_out_stores_its_children_in_order_and_gives_the_slot_back(w: World) -> None:
    job = await w.submit()
    root = await w.claim_one()
    items = (*links(3, hosts=2), LoopItem(3, "red shoes", is_link=False, label="Red"))
    written = await w.finish((root, loop(items, storage_state={"cookies": [1]})))
    assert {(partition.job, partition.host) for partition in written.ready} == {
        (job, "h0.example"),
        (job, "h1.example"),
        (job, "shop.example"),
    }
    row = await w.check_sums(job)
    assert (row.status, row.counts.expected) == (S.RUNNING, 4)
    parent = (await w.store.session(root.work.session)).row
    assert (parent.status, parent.children, parent.pending_children, parent.owner) == (S.WAITING, 4, 4, None)
    held = await w.claim()
    assert [one.work.item for one in held] == list(items)
    assert [one.work.session for one in held] == sorted(one.work.session for one in held)
    assert all(one.work.depth == 1 and one.work.attempt == 1 for one in held)
    # The children begin with the parent's storage state and nothing of its history.
    assert all(one.work.checkpoint == Checkpoint(storage_state={"cookies": [1]}) for one in held)
    assert [one.host for one in held] == ["h0.example", "h1.example", "h0.example", "shop.example"]
    sessions, _ = await w.store.sessions(job)
    assert [(one.depth, one.index) for one in sessions] == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)]
    fanned = [event for event in await w.store.events() if event.name == JobEvent.FANNED_OUT]
    assert [(event.data["session"], event.data["items"]) for event in fanned] == [(root.work.session, 4)]


async def test_items_begin_with_the_fields_that_their_parent_agreed_on(w: World) -> None:
    await w.submit()
    root = await w.claim_one()
    outcome = loop(links(2))
    assert outcome.fan_out is not None
    agreed = replace(outcome.fan_out.checkpoint, proposed={"type": "object"}, url="https://shop.example/")
    await w.finish((root, replace(outcome, fan_out=replace(outcome.fan_out, checkpoint=agreed))))
    assert [one.work.checkpoint for one in await w.claim()] == [Checkpoint(proposed={"type": "object"})] * 2


async def test_a_fan_out_is_accepted_once(w: World) -> None:
    job = await w.submit()
    root = await w.claim_one()
    other = await w.another()
    report = Finish(root.work.session, root.work.fence, loop(links(5)))
    written = await asyncio.gather(w.store.finish([report]), other.finish([report]))
    assert sorted(len(one.accepted) for one in written) == [0, 1]
    assert (await w.finish((root, loop(links(5))))).late == {root.work.session}
    assert (await w.check_sums(job)).counts.expected == 5


async def test_the_last_child_makes_the_parent_go_on_with_a_summary(w: World) -> None:
    job, root = await w.open_loop(4)
    held = await w.claim()
    record = Outcome(S.COMPLETED, records=(Record({"a": 1}), Record({"a": 2})))
    assert (await w.finish((held[0], record), (held[1], BROKEN), (held[2], Outcome(S.UNSURE)))).ready == ()
    assert await w.status(root) is S.WAITING
    written = await w.finish((held[3], DONE))
    assert [(partition.job, partition.host) for partition in written.ready] == [(job, "shop.example")]
    again = await w.claim_one()
    assert again.work.session == root and again.work.attempt == 1
    assert again.work.checkpoint == Checkpoint(url="https://shop.example/list")
    assert again.work.children == ChildrenSummary(
        4, 2, 2, ({"a": 1}, {"a": 2}, {"n": 1}), ("https://h0.example/1: it broke",)
    )
    assert (await w.finish((again, DONE))).finished_jobs == (job,)
    row = await w.check_sums(job)
    assert (row.counts.expected, row.counts.completed, row.counts.failed, row.counts.unsure) == (4, 2, 1, 1)


async def test_the_last_two_children_ending_at_once_make_the_parent_ready_once(w: World) -> None:
    other = await w.another()
    for _ in range(5):
        job, root = await w.open_loop(2)
        one, two = await w.claim(job=job)
        written = await asyncio.gather(
            w.store.finish([Finish(one.work.session, one.work.fence, DONE)]),
            other.finish([Finish(two.work.session, two.work.fence, DONE)]),
        )
        assert sum(len(part.ready) for part in written) == 1
        (again,) = await w.claim(job=job)
        assert again.work.session == root
        await w.finish((again, DONE))
        assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_parent_goes_on_even_when_every_child_failed(w: World) -> None:
    job, root = await w.open_loop(2)
    await w.finish(*((one, BROKEN) for one in await w.claim()))
    again = await w.claim_one()
    assert again.work.session == root and again.work.children == ChildrenSummary(
        2, 0, 2, failures=("https://h0.example/0: it broke", "https://h0.example/1: it broke")
    )
    await w.finish((again, BROKEN))
    row = await w.check_sums(job)
    assert (row.status, row.counts.failed, row.error) == (S.FAILED, 2, ERROR)


async def test_loops_nest_and_results_come_in_item_order(w: World) -> None:
    job, _ = await w.open_loop(3)
    outer = await w.claim()
    await w.finish((outer[2], loop(links(2))), (outer[0], loop(links(3))))
    assert (await w.check_sums(job)).counts.expected == 6
    await w.finish((outer[1], Outcome(S.COMPLETED, records=(Record("outer 1"),))))
    inner = await w.claim()
    assert {one.work.depth for one in inner} == {2}
    parents = {outer[0].work.session: 0, outer[2].work.session: 2}
    ends = []
    for one in inner:
        row = (await w.store.session(one.work.session)).row
        ends.append((one, Outcome(S.COMPLETED, records=(Record(f"inner {parents[row.parent or 0]}.{row.index}"),))))
    await w.finish(*reversed(ends))
    resumed = await w.claim()
    assert [one.work.session for one in resumed] == sorted(parents)
    assert resumed[0].work.children == ChildrenSummary(3, 3, 0, ("inner 0.0", "inner 0.1", "inner 0.2"))
    await w.run_out()  # nothing else is ready yet
    await w.finish(*((one, DONE) for one in resumed))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 6)
    values = [line.record.value for line in await w.store.results(job) if line.record]
    assert values == ["inner 0.0", "inner 0.1", "inner 0.2", "outer 1", "inner 2.0", "inner 2.1"]


async def test_a_session_may_loop_again(w: World) -> None:
    job, root = await w.open_loop(2)
    await w.finish(*((one, DONE) for one in await w.claim()))
    await w.finish((await w.claim_one(), loop(links(3))))
    assert (await w.check_sums(job)).counts.expected == 5
    await w.finish(*((one, BROKEN) for one in await w.claim()))
    again = await w.claim_one()
    assert again.work.session == root and again.work.children == ChildrenSummary(
        3, 0, 3, failures=tuple(f"https://h0.example/{i}: it broke" for i in range(3))
    )
    await w.finish((again, DONE))
    row = await w.check_sums(job)
    assert (row.counts.completed, row.counts.failed) == (2, 3)


async def test_a_loop_without_items_is_over_at_once(w: World) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), loop(())))
    again = await w.claim_one()
    assert again.work.children == ChildrenSummary(0, 0, 0) and again.work.attempt == 1
    await w.finish((again, DONE))
    row = await w.check_sums(job)
    assert (row.status, row.counts.expected, row.counts.completed) == (S.COMPLETED, 1, 1)


async def test_no_more_children_run_than_the_loop_allows(w: World) -> None:
    job, root = await w.open_loop(7, loop={"values": ["a"], "concurrency": 2})
    ran = 0
    while (held := await w.claim()) and held[0].work.session != root:
        assert len(held) == 2 or ran == 6
        ran += len(held)
        sessions, _ = await w.store.sessions(job, statuses=[S.RUNNING])
        assert len(sessions) == len(held) <= 2
        assert (await w.claim()) == []
        if ran == 2:  # a child that waits for another try keeps its seat
            await w.finish((held[0], Outcome(S.QUEUED)), ready_in_s=10)
            await w.finish((held[1], DONE))
            one = await w.claim_one()
            assert await w.claim() == []
            w.clock.now += 10
            retried = await w.claim_one()
            written = await w.finish((one, BROKEN), (retried, DONE))
            assert [(partition.job, partition.host) for partition in written.ready] == [(job, "h0.example")]
            ran += 1
        else:
            await w.finish(*((one, DONE) for one in held))
    assert ran == 7
    children = held[0].work.children
    assert children is not None and len(children.failures) == 1 and children.failures[0].endswith(": it broke")
    assert replace(children, failures=()) == ChildrenSummary(7, 6, 1, ({"n": 1},) * 5)
    await w.finish((held[0], DONE))
    await w.check_sums(job)


async def test_a_failed_child_stops_a_loop_that_asks_for_it(w: World) -> None:
    job, root = await w.open_loop(10, stop=True)
    partition = (await w.store.partitions())[0]
    one, two, three = (
        await w.store.claim("w1", [ClaimRequest(partition.job, partition.domain, 0, 3)], lease_s=60)
    ).sessions
    await w.finish((one, DONE))
    await w.finish((two, BROKEN))
    assert await w.claim() == []
    row = await w.check_sums(job)
    assert (row.counts.completed, row.counts.failed, row.counts.canceled, row.counts.running) == (1, 1, 7, 1)
    # The one that still ran may not try again.
    await w.finish((three, Outcome(S.QUEUED)))
    again = await w.claim_one()
    assert again.work.session == root
    assert again.work.children == ChildrenSummary(
        10,
        1,
        9,
        ({"n": 1},),
        (
            "https://h0.example/1: it broke",
            "https://h0.example/2: it ended without a reason",
            *(f"https://h0.example/{i}: it did not run" for i in range(3, 6)),
        ),
    )
    await w.finish((again, DONE))
    assert (await w.check_sums(job)).counts.canceled == 8


async def test_a_loop_that_stops_lets_no_held_child_go(w: World) -> None:
    job, root = await w.open_loop(5, stop=True, loop={"values": ["a"], "concurrency": 1})
    await w.finish((await w.claim_one(), BROKEN))
    assert (await w.claim_one()).work.session == root
    assert (await w.check_sums(job)).counts.canceled == 4
