"""Server-sent events: everything once, in order, from any point on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from shoal.services.errors import StoreAway
from shoal.services.store import ids
from shoal.services.store.read.feed import FeedPage
from shoal.services.store.store import Store
from shoal.services.web.live import event_feed
from shoal.services.web.live.event_feed import EventFeed, Follower, StreamedEvent
from tests.gateway_world import World, api_world, completed, failed, loop_of


@dataclass
class Event:
    id: int
    name: str
    data: dict[str, Any]


def parse(text: str) -> list[Event]:
    events = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "data" in fields:
            events.append(Event(int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return events


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with api_world() as made:
        yield made


def here_id(job: str) -> int:
    return ids.parse_job(job)


@pytest.fixture(autouse=True)
def _woken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The feed is woken by what happens, or a test waits in vain."""
    monkeypatch.setattr(event_feed, "LOOK_S", 300.0)


async def read(here: World, job: str, query: str = "", **headers: str) -> list[Event]:
    got = await here.client.get(f"/v1/jobs/{job}/events{query}", headers=headers)
    assert got.status_code == 200, got.text
    assert got.headers["content-type"].startswith("text/event-stream")
    return parse(got.text)


async def test_what_is_there_can_be_read_without_waiting(here: World) -> None:
    job = await here.submit()
    events = await read(here, job, "?follow=false")
    assert [event.name for event in events] == ["job.submitted"]
    assert events[0].data["job"] == job
    assert events[0].data["counts"]["expected"] == 1
    assert events[0].data["seq"] == events[0].id


async def test_a_stream_goes_on_after_the_last_event_that_was_seen(here: World) -> None:
    job = await here.submit()
    await here.run(loop_of(["a", "b"], lambda work: completed({"x": 1})))
    whole = await read(here, job, "?follow=false")
    assert whole[-1].name == "job.finished"
    assert len(whole) >= 4
    for place, event in enumerate(whole[:-1]):
        assert await read(here, job, "?follow=false", **{"Last-Event-ID": str(event.id)}) == whole[place + 1 :]
        assert await read(here, job, f"?follow=false&after={event.id}") == whole[place + 1 :]
    assert await read(here, job) == whole, "following a final job ends by itself"


async def test_a_job_that_is_over_tells_browsers_to_stay_away(here: World) -> None:
    job = await here.submit()
    await here.run(lambda work: failed())
    last = (await read(here, job, "?follow=false"))[-1]
    got = await here.client.get(f"/v1/jobs/{job}/events", headers={"Last-Event-ID": str(last.id)})
    assert got.status_code == 204


async def test_followers_get_events_as_they_happen_and_the_end(here: World) -> None:
    job = await here.submit()
    following = [asyncio.create_task(read(here, job)) for _ in range(3)]
    metric = here.deps.metrics.event_streams
    async with asyncio.timeout(60):
        while metric._value.get() < 3:  # all three are connected
            await asyncio.sleep(0.01)
        await here.run(loop_of(["a", "b", "c"], lambda work: completed({"x": 1})))
        streams = await asyncio.gather(*following)
    assert streams[0] == streams[1] == streams[2] == await read(here, job, "?follow=false")
    assert streams[0][-1].data["counts"]["completed"] >= 3
    assert metric._value.get() == 0


async def connected(here: World, n: int) -> None:
    """Returns when so many streams are open."""
    async with asyncio.timeout(60):
        while here.deps.metrics.event_streams._value.get() < n:
            await asyncio.sleep(0.01)


async def test_the_feed_is_looked_at_once_for_all_streams(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, real = [], Store.feed

    async def counted(self: Store, after: int | None, jobs: Any, *, limit: int = 500) -> FeedPage:
        page = await real(self, after, jobs, limit=limit)
        looks.append(len(page.events))
        return page

    jobs = [await here.submit() for _ in range(10)]
    monkeypatch.setattr(Store, "feed", counted)
    following = [asyncio.create_task(read(here, job)) for job in jobs for _ in range(5)]
    await connected(here, 50)
    await here.run(loop_of(["a", "b"], lambda work: completed({"x": 1})))
    streams = await asyncio.wait_for(asyncio.gather(*following), 60)
    for place, job in enumerate(jobs):
        whole = await read(here, job, "?follow=false")
        assert all(stream == whole for stream in streams[5 * place : 5 * place + 5])
    assert sum(looks) <= sum(len(stream) for stream in streams[::5]), "each event was asked for once"
    assert len(looks) < 30


async def test_a_slow_reader_reads_again_what_it_could_not_keep(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = await here.submit()
    feed = EventFeed(here.store)
    monkeypatch.setattr(event_feed, "_MOST_PENDING", 2)
    async with feed.following(here_id(job)) as follower:
        await here.run(loop_of(["a", "b", "c"], lambda work: completed({"x": 1})))
        async with asyncio.timeout(60):
            while not follower.overrun:
                await asyncio.sleep(0.01)
        assert follower.pending == []
    follower = Follower()
    follower.tell([StreamedEvent(1, "a", b""), StreamedEvent(2, "b", b"")])
    follower.tell([StreamedEvent(3, "c", b"")])
    assert follower.overrun
    assert await follower.next(1) == []
    following = asyncio.create_task(read(here, job))
    assert await asyncio.wait_for(following, 60) == await read(here, job, "?follow=false")


async def test_slow_streams_tell_every_event_once(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_feed, "_MOST_PENDING", 0)  # each event has to be read again
    job = await here.submit()
    following = asyncio.create_task(read(here, job))
    await connected(here, 1)
    await here.run(loop_of(["a", "b", "c"], lambda work: completed({"x": 1})))
    assert await asyncio.wait_for(following, 60) == await read(here, job, "?follow=false")


async def test_who_begins_to_follow_while_the_feed_is_looked_at_misses_nothing(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await here.submit(), await here.submit()
    feed, real = EventFeed(here.store), Store.feed
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(self: Store, after: int | None, jobs: Any, *, limit: int = 500) -> FeedPage:
        if after is not None and not asked.is_set():
            asked.set()
            await go_on.wait()
        return await real(self, after, jobs, limit=limit)

    monkeypatch.setattr(Store, "feed", slow)
    async with feed.following(here_id(first)):
        await asyncio.wait_for(asked.wait(), 60)  # a look that knows of the first job only
        entering = feed.following(here_id(second))
        entered = asyncio.create_task(entering.__aenter__())
        await asyncio.sleep(0)
        await here.client.post(f"/v1/jobs/{second}/pause")
        go_on.set()
        await asyncio.wait_for(entered, 60)
        there = [event.name for event in await here.store.events(job=here_id(second))]
        assert there[-1] == "job.paused", "what the look passed over was in the store before the follower was let in"
        await entering.__aexit__(None, None, None)


async def test_streams_end_with_a_store_that_is_away(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = await here.submit()
    following = asyncio.create_task(read(here, job))
    await connected(here, 1)

    async def away(*given: Any, **more: Any) -> FeedPage:
        raise StoreAway

    monkeypatch.setattr(Store, "feed", away)
    await here.submit()  # wakes the feed
    events = await asyncio.wait_for(following, 60)
    assert [event.name for event in events] == ["job.submitted"]
    assert here.deps.metrics.event_streams._value.get() == 0


async def test_only_the_jobs_own_events_are_told(here: World) -> None:
    one, two = await here.submit(), await here.submit()
    assert {event.data["job"] for event in await read(here, one, "?follow=false")} == {one}
    assert {event.data["job"] for event in await read(here, two, "?follow=false")} == {two}


@pytest.mark.parametrize("bad", ["x", "-1", "1.5", "9" * 30])
async def test_a_strange_event_id_is_refused(here: World, bad: str) -> None:
    job = await here.submit()
    got = await here.client.get(f"/v1/jobs/{job}/events", headers={"Last-Event-ID": bad})
    assert got.status_code == 400
    assert got.json()["errors"] == [{"field": "Last-Event-ID", "reason": "is not a number"}]
