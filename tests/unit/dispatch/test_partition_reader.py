"""Times at which a dispatcher reads all partitions anew."""

from __future__ import annotations

import asyncio
from unittest.mock import AsyncMock

import pytest

from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.support.moments import loop_time
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.dispatch.scheduling.partition_reader import PartitionReader, rest_s
from shoal.services.errors import StoreAway
from shoal.services.store.records import NewJob, Partition
from shoal.services.store.sessions import partitions as store_partitions
from shoal.services.store.store import open_store
from tests.cluster_world import world
from tests.doubles import FakePage

URL = "http://shop.example/"
EXTRACT = {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}


def test_reading_takes_a_small_part_of_the_time_and_news_are_seen_within_seconds() -> None:
    assert rest_s(0.001, partitions=1) == pytest.approx(0.02)
    assert rest_s(0.1, partitions=10_000) == pytest.approx(2)
    assert rest_s(2.0, partitions=80_000) == 30, "what no news tells of is not left alone for longer"
    assert rest_s(1.0, partitions=1) == 1, "it was the database that was slow: another look soon, but claims in between"
    assert rest_s(60.0, partitions=1) == 30


async def test_news_is_read_while_all_partitions_are_not_to_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read_all = PartitionReader._read_all

    async def read_all_once(reader: PartitionReader) -> None:
        await read_all(reader)
        reader._all_after = loop_time() + 3600

    monkeypatch.setattr(PartitionReader, "_read_all", read_all_once)
    async with world({URL: FakePage(read={"n": 1})}) as w:
        reader, state = w.dispatcher._reader, w.dispatcher._state
        await w.final(await w.submit(extract=EXTRACT))
        job = await w.submit(extract=EXTRACT)
        assert (await w.final(job)).status is Status.COMPLETED
        assert state.signals.all_partitions and reader._all_after > loop_time()


async def test_while_all_partitions_rest_nothing_is_due_until_something_happens() -> None:
    store = await open_store("sqlite://")
    state = DispatchState.of(DispatchConfig())
    reader = PartitionReader(store, state)
    await reader.read()
    assert reader.due_s(loop_time()) is None
    reader._all_after = loop_time() + 3600
    state.signals.store_changed()
    assert reader.due_s(loop_time()) == 0, "news can be read at once"
    await reader.read()
    due_s = reader.due_s(loop_time())
    assert due_s is not None and 3000 < due_s <= 3600, "there was none, and all partitions are still to be read"
    await store.close()


async def test_more_news_than_one_look_takes_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_partitions, "_EVENTS", 3)
    async with world({URL: FakePage(read={"n": 1})}) as w:
        await w.final(await w.submit(extract=EXTRACT))
        w.dispatcher._reader._all_after = loop_time() + 3600
        jobs = await w.store.submit([NewJob("t", JobSpec(url=URL, extract=EXTRACT), "shop.example")] * 20)
        for job in jobs:
            assert (await w.final(job.job)).status is Status.COMPLETED


async def test_one_slow_answer_of_the_database_keeps_no_job_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world({URL: FakePage(read={"n": 1})}) as w:
        read, slow = w.store.partitions, [1.2, 1.2]

        async def partitions() -> list[Partition]:
            if slow:
                await asyncio.sleep(slow.pop())
            return await read()

        monkeypatch.setattr(w.store, "partitions", partitions)
        while slow:
            await w.final(await w.submit(extract=EXTRACT))
        job = await w.final(await w.submit(extract=EXTRACT))  # within 20 s: it was found after 24
        assert job.status is Status.COMPLETED


async def test_partitions_that_could_not_be_read_are_still_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world({URL: FakePage(read={"n": 1})}) as w:
        monkeypatch.setattr(w.store, "partitions", AsyncMock(side_effect=StoreAway("it is starting")))
        with pytest.raises(StoreAway):
            while True:
                w.dispatcher._state.signals.store_changed()
                await w.dispatcher._reader.read()
        assert w.dispatcher._state.signals.all_partitions
