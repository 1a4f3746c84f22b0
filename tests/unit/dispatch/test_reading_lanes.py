"""How often a dispatcher reads all lanes anew."""

from __future__ import annotations

import asyncio
from unittest.mock import AsyncMock

import pytest

from agent.status import Status
from agent.testing import FakePage
from services.dispatch.claimer import rest_s
from services.errors import StoreAway
from services.store.records import Lane
from tests.cluster_world import world

URL = "http://shop.example/"
EXTRACT = {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}


def test_reading_takes_a_small_part_of_the_time_and_news_are_seen_within_seconds() -> None:
    assert rest_s(0.001, lanes=1) == pytest.approx(0.02)
    assert rest_s(0.1, lanes=10_000) == pytest.approx(2)
    assert rest_s(2.0, lanes=80_000) == 10, "a job that is resumed is not left alone for longer"
    assert rest_s(1.0, lanes=1) == 1, "it was the database that was slow: another look soon, but claims in between"
    assert rest_s(30.0, lanes=1) == 10


async def test_one_slow_answer_of_the_database_keeps_no_job_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world({URL: FakePage(read={"n": 1})}) as w:
        read, slow = w.store.lanes, [1.2, 1.2]

        async def lanes() -> list[Lane]:
            if slow:
                await asyncio.sleep(slow.pop())
            return await read()

        monkeypatch.setattr(w.store, "lanes", lanes)
        while slow:
            await w.final(await w.submit(extract=EXTRACT))
        job = await w.final(await w.submit(extract=EXTRACT))  # within 20 s: it was found after 24
        assert job.status is Status.COMPLETED


async def test_lanes_that_could_not_be_read_are_still_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world({URL: FakePage(read={"n": 1})}) as w:
        monkeypatch.setattr(w.store, "lanes", AsyncMock(side_effect=StoreAway("it is starting")))
        with pytest.raises(StoreAway):
            while True:
                w.dispatcher._board.look_again()
                await w.dispatcher._claimer.read_lanes()
        assert w.dispatcher._board.stale
