"""SQLite's news: every write of another process is heard of, and a file that rests costs no questions."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shoal.services.store.database import change_notifier
from shoal.services.store.database.change_notifier import PollingNotifier
from shoal.services.store.store import Store, open_store


@pytest.fixture(params=[True, False], ids=["told of writes", "looking"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Store]:
    if not request.param:
        monkeypatch.setattr(change_notifier, "watch_folder", lambda folder: None)
    one = await open_store(f"sqlite:///{tmp_path}/s.db")
    yield one
    await one.close()


async def test_every_write_of_another_process_is_heard_of(store: Store, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    other.execute("pragma wal_autocheckpoint=2")  # the log is begun anew all the time: its size says nothing
    other.execute("create table scratch (n int)")
    seen = await store.changed(0.2)
    for n in range(20):
        other.execute("insert into scratch values (?)", (n,))
        now = await store.changed(5.0, since=seen)
        assert now > seen, n
        seen = now
    other.close()


async def test_a_file_that_rests_is_not_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_notifier, "_UNASKED_S", 600.0)
    await store.put_state("known", {})  # a file that nothing has written to yet has no log to look at
    seen = await store.changed(0.3)
    asked: list[PollingNotifier] = []
    monkeypatch.setattr(PollingNotifier, "_look", lambda look, log_is: asked.append(look))
    assert await store.changed(0.5, since=seen) == seen
    assert asked == []


async def test_a_file_that_rests_is_looked_at_once_a_second(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    told = store._db.notifier._watch is not None  # type: ignore[attr-defined]
    await store.put_state("known", {})
    looks = 0
    look = PollingNotifier._settled_log

    def counted(notifier: PollingNotifier) -> tuple[int, int] | None:
        nonlocal looks
        looks += 1
        return look(notifier)

    seen = await store.changed(0.5)
    monkeypatch.setattr(PollingNotifier, "_settled_log", counted)
    await asyncio.gather(*(store.changed(1.9, since=seen) for _ in range(3)))
    assert looks <= 6 if told else looks > 6


async def test_a_write_whose_log_was_looked_at_before_it_could_be_seen_is_heard_of(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PollingNotifier, "_settled_log", lambda notifier: (1, 1))  # as it was at the last look
    other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    seen = await store.changed(0.3)
    other.execute("create table scratch (n int)")
    assert await store.changed(60.0, since=seen) > seen
    other.close()


async def test_a_look_that_its_waiter_gave_up_is_taken_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_notifier, "_SAME_TICK_S", 0.0)
    other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    other.execute("create table scratch (n int)")
    seen = await store.changed(0.3)
    freed = threading.Event()
    busy = asyncio.create_task(store._db.call(freed.wait))  # the look has to wait behind this
    other.execute("insert into scratch values (1)")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await store.changed(5.0, since=seen)
    freed.set()
    await busy
    assert await store.changed(2.0, since=seen) > seen
    other.close()
