"""Server-sent events: everything once, in order, from any point on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

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
    async with asyncio.timeout(10):
        while metric._value.get() < 3:  # all three are connected
            await asyncio.sleep(0.01)
        await here.run(loop_of(["a", "b", "c"], lambda work: completed({"x": 1})))
        streams = await asyncio.gather(*following)
    assert streams[0] == streams[1] == streams[2] == await read(here, job, "?follow=false")
    assert streams[0][-1].data["counts"]["completed"] >= 3
    assert metric._value.get() == 0


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
