"""SQLite's news: every write of another process is heard of, and a file that rests costs no questions."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.store.pulse import PollPulse
from services.store.sql import SqlStore, open_store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    one = await open_store(f"sqlite:///{tmp_path}/s.db")
    yield one
    await one.close()


async def test_every_write_of_another_process_is_heard_of(store: SqlStore, tmp_path: Path) -> None:
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


async def test_a_file_that_rests_is_not_asked(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = await store.changed(0.3)
    asked: list[PollPulse] = []
    monkeypatch.setattr(PollPulse, "_look", asked.append)
    assert await store.changed(0.5, since=seen) == seen
    assert asked == []
