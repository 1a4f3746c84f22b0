"""How often a dispatcher reads all lanes anew."""

from __future__ import annotations

import asyncio
from unittest.mock import AsyncMock

import pytest

from agent.spec import JobSpec
from agent.status import Status
from agent.testing import FakePage
from services.dispatch.board import Board
from services.dispatch.clock import loop_time
from services.dispatch.config import DispatchConfig
from services.dispatch.reader import Reader, rest_s
from services.errors import StoreAway
from services.store import lanes as store_lanes
from services.store.records import Lane, NewJob
from services.store.sql import open_store
from tests.cluster_world import world

URL = "http://shop.example/"
EXTRACT = {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}


def test_reading_takes_a_small_part_of_the_time_and_news_are_seen_within_seconds() -> None:
    assert rest_s(0.001, lanes=1) == pytest.approx(0.02)
    assert rest_s(0.1, lanes=10_000) == pytest.approx(2)
    assert rest_s(2.0, lanes=80_000) == 30, "what no news tells of is not left alone for longer"
    assert rest_s(1.0, lanes=1) == 1, "it was the database that was slow: another look soon, but claims in between"
    assert rest_s(60.0, lanes=1) == 30


async def test_news_is_read_while_all_lanes_are_not_to_be_read_again() -> None:
    async with world({URL: FakePage(read={"n": 1})}) as w:
        reader, board = w.dispatcher._reader, w.dispatcher._board
        await w.final(await w.submit(extract=EXTRACT))
        reader._all_after = loop_time() + 3600
        job = await w.submit(extract=EXTRACT)
        assert (await w.final(job)).status is Status.COMPLETED
        assert board.stale and reader._all_after > loop_time()


async def test_while_all_lanes_rest_nothing_is_due_until_something_happens() -> None:
    store = await open_store("sqlite://")
    board = Board.of(DispatchConfig())
    reader = Reader(store, board)
    await reader.read()
    assert reader.due_s(loop_time()) is None
    reader._all_after = loop_time() + 3600
    board.look_again()
    assert reader.due_s(loop_time()) == 0, "news can be read at once"
    await reader.read()
    due_s = reader.due_s(loop_time())
    assert due_s is not None and 3000 < due_s <= 3600, "there was none, and all lanes are still to be read"
    await store.close()


async def test_more_news_than_one_look_takes_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_lanes, "_EVENTS", 3)
    async with world({URL: FakePage(read={"n": 1})}) as w:
        await w.final(await w.submit(extract=EXTRACT))
        w.dispatcher._reader._all_after = loop_time() + 3600
        jobs = await w.store.submit([NewJob("t", JobSpec(url=URL, extract=EXTRACT), "shop.example")] * 20)
        for job in jobs:
            assert (await w.final(job.job)).status is Status.COMPLETED


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
                await w.dispatcher._reader.read()
        assert w.dispatcher._board.stale
