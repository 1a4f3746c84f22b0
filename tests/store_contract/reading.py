"""Reads for callers: results, sessions, jobs, events."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.status import Status
from shoal.agent.types import Outcome, Record, Usage
from shoal.services.errors import BadInput, NotFound
from shoal.services.store.read.feed import FeedPage
from shoal.services.store.records import JobFilter, NewJob, SessionRow
from shoal.services.store.waiting_causes import WaitingCause
from tests.store_world import BROKEN, DONE, ERROR, World, links, loop, spec

S = Status


async def test_results_have_a_line_per_record_or_one_for_an_item_without(w: World) -> None:
    job, _ = await w.open_loop(4)
    held = await w.claim()
    many = Outcome(
        S.COMPLETED,
        records=tuple(Record(i, url=f"https://x/{i}", at=f"t{i}") for i in range(3)),
        url="https://end",
        at="t",
        seconds=2.0,
        screenshot="s",
    )
    await w.finish((held[3], many), (held[1], BROKEN), (held[0], DONE))
    lines = await w.store.results(job)
    assert [
        (line.item.index if line.item else None, line.status, line.record.value if line.record else None)
        for line in lines
    ] == [
        (0, S.COMPLETED, {"n": 1}),
        (1, S.FAILED, None),
        (3, S.COMPLETED, 0),
        (3, S.COMPLETED, 1),
        (3, S.COMPLETED, 2),
    ]
    assert (lines[1].error, lines[1].attempts) == (ERROR, 1)
    assert (lines[2].url, lines[2].at, lines[2].seconds, lines[2].screenshot) == ("https://x/0", "t0", 2.0, "s")
    paged, after = [], None
    while page := await w.store.results(job, after=after, limit=2):
        assert len(page) <= 2
        paged += page
        after = page[-1].cursor
    assert paged == lines == [line async for line in w.store.stream_results(job)]
    for given, line in enumerate(lines, 1):
        assert lines[given:] == [rest async for rest in w.store.stream_results(job, after=line.cursor)]
    with pytest.raises(BadInput):
        await w.store.results(job, after="nonsense")
    with pytest.raises(BadInput):
        _ = [line async for line in w.store.stream_results(job, after="nonsense")]


async def test_what_the_lines_of_a_session_cost_is_together_what_it_cost_over_all_its_attempts(w: World) -> None:
    job, _ = await w.open_loop(2)
    held = await w.claim()
    three = Outcome(
        S.COMPLETED,
        records=tuple(Record(i) for i in range(3)),
        usage=Usage(model_calls=1, prompt_tokens=1_000, completion_tokens=50),
        usage_before=Usage(model_calls=1, prompt_tokens=400, completion_tokens=0),
    )
    gave_none = replace(BROKEN, usage=Usage(1, 70, 7), usage_before=Usage(2, 30, 3))
    await w.finish((held[1], three), (held[0], gave_none))
    none, *lines = await w.store.results(job)
    assert none.usage == Usage(3, 100, 10)
    assert sum((line.usage for line in lines), Usage()) == Usage(2, 1_400, 50)
    assert [line.usage.prompt_tokens for line in lines] == [467, 467, 466]
    assert [line.usage.model_calls for line in lines] == [1, 1, 0]


async def test_a_job_without_a_loop_has_its_root_as_item(w: World) -> None:
    job = await w.submit()
    assert await w.store.results(job) == []
    await w.run_out()
    (line,) = await w.store.results(job)
    assert line.item is None and line.record == Record({"n": 1})
    assert await w.store.results(job, after=line.cursor) == []


async def test_a_long_result_is_streamed_page_by_page(w: World) -> None:
    job, _ = await w.open_loop(1_203)
    held = await w.claim(2_000)
    await w.finish(
        *(
            (one, Outcome(S.COMPLETED, records=(Record(one.work.item.index if one.work.item else None),)))
            for one in held
        )
    )
    assert [line.record.value async for line in w.store.stream_results(job) if line.record] == list(range(1_203))
    with pytest.raises(NotFound):
        _ = [line async for line in w.store.stream_results(job + 1)]


async def test_sessions_are_paged_in_item_order_and_filtered(w: World) -> None:
    job, root = await w.open_loop(7)
    held = await w.claim(3)
    await w.finish((held[0], DONE))
    seen: list[int] = []
    after = None
    while True:
        page, after = await w.store.sessions(job, after=after, limit=3)
        seen += [session.id for session in page]
        if after is None:
            break
    assert seen == [root, *sorted(seen[1:])] and len(seen) == 8
    by_status = {
        status: len((await w.store.sessions(job, statuses=[status]))[0])
        for status in (S.QUEUED, S.RUNNING, S.WAITING, S.COMPLETED, S.PAUSED)
    }
    assert by_status == {S.QUEUED: 4, S.RUNNING: 2, S.WAITING: 1, S.COMPLETED: 1, S.PAUSED: 0}
    assert len((await w.store.sessions(job, statuses=[S.RUNNING, S.WAITING]))[0]) == 3
    waiting = (await w.store.session(root)).row
    assert waiting.waiting_for is WaitingCause.CHILDREN


async def test_jobs_are_listed_newest_first_and_filtered(w: World) -> None:
    a = await w.submit(labels={"team": "x", "kind": "1"})
    b = await w.submit(labels={"team": "x"})
    c = await w.submit(tenant="other", labels={"team": "y"})
    await w.store.cancel(b)

    async def ids(**wanted: Any) -> list[int]:
        return [row.id for row in await w.store.jobs(JobFilter(**wanted))]

    assert await ids() == [c, b, a]
    assert await ids(limit=2) == [c, b]
    assert await ids(before=c) == [b, a]
    assert await ids(tenant="acme") == [b, a]
    assert await ids(statuses=(S.CANCELED,)) == [b]
    assert await ids(statuses=(S.QUEUED, S.RUNNING)) == [c, a]
    assert await ids(statuses=(S.QUEUED, S.CANCELED)) == [c, b, a]
    assert await ids(labels={"team": "x"}) == [b, a]
    assert await ids(labels={"team": "x", "kind": "1"}) == [a]
    assert await ids(tenant="other", labels={"team": "x"}) == []


async def test_events_go_on_behind_the_last_one_seen(w: World) -> None:
    job, other = await w.submit(), await w.submit(tenant="other")
    await w.run_out()
    every = await w.store.events()
    assert [event.seq for event in every] == sorted({event.seq for event in every})
    assert await w.store.events(after=every[3].seq) == every[4:]
    assert await w.store.events(limit=2) == every[:2]
    assert {event.job for event in await w.store.events(job=job)} == {job}
    assert {event.job for event in await w.store.events(tenant="other")} == {other}


async def test_the_feed_gives_events_of_some_jobs_and_how_far_it_was_looked_through(w: World) -> None:
    begin = await w.store.feed(None, ())
    job, other, third = await w.submit(), await w.submit(tenant="other"), await w.submit()
    await w.run_out()
    every = await w.store.events()
    newest = every[-1].seq
    assert (begin.events, begin.seq) == ((), 0)
    assert await w.store.feed(None, (job,)) == FeedPage((), newest)
    mine = tuple(event for event in every if event.job in (job, third))
    assert await w.store.feed(0, (job, third)) == FeedPage(mine, newest)
    assert await w.store.feed(0, (job, third), limit=2) == FeedPage(mine[:2], mine[1].seq)
    assert await w.store.feed(mine[1].seq, (job, third)) == FeedPage(mine[2:], newest)
    assert await w.store.feed(0, ()) == FeedPage((), newest)
    assert await w.store.feed(newest, (job, other)) == FeedPage((), newest)
    await w.store.delete(job)
    left = tuple(event for event in await w.store.events() if event.job == third)
    assert (await w.store.feed(0, (job, third))).events == left


async def test_no_reader_of_events_misses_one_while_many_write(w: World) -> None:
    other = await w.another()
    stores = [w.store, other]
    stop = asyncio.Event()
    seen: list[int] = []

    async def read() -> None:
        after = 0
        while True:
            ended = stop.is_set()
            page = await w.store.events(after=after)
            seen.extend(event.seq for event in page)
            after = seen[-1] if seen else 0
            if ended and not page:
                return

    async def write(index: int) -> None:
        for n in range(10):
            await stores[index % 2].submit([NewJob("acme", spec(goal=f"{index} {n}"), f"h{n}.example")] * 2)

    reader = asyncio.create_task(read())
    await asyncio.gather(*(write(index) for index in range(8)))
    stop.set()
    await reader
    assert seen == [event.seq for event in await w.store.events(limit=10_000)]
    assert len(seen) == 160


async def test_whoever_waits_is_woken_by_a_change(w: World) -> None:
    seen = await w.store.changed(0.0)
    await w.submit()
    # It happened before we waited: `since` tells at once.
    later = await asyncio.wait_for(w.store.changed(300.0, since=seen), 60)
    assert later > seen
    waiting = asyncio.create_task(w.store.changed(300.0, since=later))
    await asyncio.sleep(0)
    await w.submit()
    assert await asyncio.wait_for(waiting, 60) > later


async def test_whoever_waits_is_woken_by_another_process(w: World) -> None:
    other = await w.another()
    known = await other.changed(0.3)  # the listener is there once the first wait is over
    waiting = asyncio.create_task(other.changed(300.0, since=known))
    await asyncio.sleep(0)
    await w.submit()
    assert await asyncio.wait_for(waiting, 60) > known


LISTED = (
    *((status,) for status in S),
    (S.FAILED, S.TERMINATED, S.UNSURE),
    (S.RUNNING, S.WAITING),
    (S.FAILED, S.COMPLETED),
)


async def test_a_list_by_status_is_the_whole_list_without_the_others(w: World) -> None:
    job, _ = await w.open_loop(24, hosts=4)
    held = await w.claim(5)
    ends = (DONE, BROKEN, Outcome(S.TERMINATED), Outcome(S.UNSURE), loop(links(3)), Outcome(S.QUEUED, error=ERROR))
    await w.finish(*zip(held[:18], ends * 3, strict=True), ready_in_s=60.0)
    (other, *_) = await w.open_loop(3)
    await w.finish(*((one, BROKEN) for one in await w.claim(job=other)))
    whole, _ = await w.store.sessions(job, limit=1_000)
    assert {row.status for row in whole} == set(S) - {S.PAUSED, S.CANCELED}
    for paused in (False, True):
        if paused:
            await w.store.pause(job)
            whole, _ = await w.store.sessions(job, limit=1_000)
        for statuses in LISTED:
            wanted = [row for row in whole if row.status in statuses]
            for limit in (1, 2, max(1, len(wanted)), 1_000):
                assert await pages(w, job, statuses, limit) == wanted, statuses


async def test_a_root_has_its_place_in_lists_by_status(w: World) -> None:
    job, root = await w.open_loop(2)
    assert [row.id for row in (await w.store.sessions(job, statuses=[S.WAITING]))[0]] == [root]
    await w.run_out(BROKEN)
    failed = await pages(w, job, (S.FAILED,), 1)
    assert [row.id for row in failed] == [row.id for row in (await w.store.sessions(job))[0]]
    assert failed[0].id == root and len(failed) == 3


async def pages(w: World, job: int, statuses: tuple[Status, ...], limit: int) -> list[SessionRow]:
    """A list, read page by page."""
    rows, after = await w.store.sessions(job, statuses=statuses, limit=limit)
    while after is not None:
        assert len(rows) % limit == 0
        more, after = await w.store.sessions(job, statuses=statuses, after=after, limit=limit)
        assert more, "a cursor with nothing behind it"
        rows += more
    return rows
