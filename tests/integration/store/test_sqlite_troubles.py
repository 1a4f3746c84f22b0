"""Faults of a SQLite file are told with the place and the remedy, and those that no waiting mends are told from the
rest.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx
import pytest

from shoal.services.artifacts.files import FileArtifacts
from shoal.services.cli.commands.cluster.watching import heed
from shoal.services.cluster.serving import listening, served
from shoal.services.errors import StoreAway, StoreBroken
from shoal.services.store.database import database
from shoal.services.store.records import NewJob
from shoal.services.store.store import Store, open_store
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps
from tests.full_disk import small_disk
from tests.store_world import spec


@asynccontextmanager
async def store_at(path: Path) -> AsyncIterator[Store]:
    store = await open_store(f"sqlite:///{path}")
    try:
        yield store
    finally:
        await store.close()


async def submit(store: Store) -> None:
    await store.submit([NewJob("t", spec(goal="x" * 2000), "shop.example")])


async def test_a_damaged_file_is_broken_and_not_away(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    async with store_at(path) as store:
        await submit(store)
    path.write_bytes(b"no database at all " * 1000)
    with pytest.raises(StoreBroken, match=f"{path} is damaged.*backup"):
        await open_store(f"sqlite:///{path}")


async def test_a_file_that_is_damaged_while_it_is_open_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    async with store_at(path) as store:
        await submit(store)
        with closing(sqlite3.connect(path)) as other:
            other.execute("pragma wal_checkpoint(truncate)")
        with path.open("r+b") as file:
            file.write(b"\x5a" * path.stat().st_size)
        with pytest.raises(StoreBroken, match="is damaged"):
            for _ in range(20):
                await submit(store)


async def test_damage_is_seen_though_the_connection_that_writes_has_the_pages_in_its_cache(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    async with store_at(path) as store:
        await store.check()
        with closing(sqlite3.connect(path)) as other:
            other.execute("pragma wal_checkpoint(truncate)")
        await store.check()
        path.write_bytes(b"\x5a" * path.stat().st_size)
        with pytest.raises(StoreBroken, match="is damaged"):
            await store.check()


async def test_a_file_that_is_cut_off_with_its_log_while_it_is_open_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    async with store_at(path) as store, store_at(path) as other:
        for one in (store, other, store):
            await submit(one)
        size = path.stat().st_size
        path.write_bytes(b"\x5a" * size)
        path.with_name("shoal.db-wal").write_bytes(b"")
        with pytest.raises(StoreBroken, match="is damaged"):
            for _ in range(20):
                await other.check()
                await submit(store)


async def test_a_file_that_is_removed_while_it_is_open_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    async with store_at(path) as store:
        await submit(store)
        path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StoreBroken, match="was moved or removed"):
            await store.check()


async def test_a_full_disk_is_said_and_passes(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4) as disk:
        async with store_at(disk.path / "shoal.db") as store:
            await store.check()
            disk.fill()
            with pytest.raises(StoreAway, match=r"disk of .*shoal\.db is full: make room"):
                await store.check()
            with pytest.raises(StoreAway, match=r"disk of .*shoal\.db is full: make room"):
                for _ in range(2000):
                    await submit(store)
            disk.empty()
            await store.check()
            await submit(store)


async def test_readiness_says_that_nothing_can_be_written_though_all_can_be_read(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4) as disk:
        async with store_at(disk.path / "shoal.db") as store:
            deps = GatewayDeps(store, FileArtifacts(disk.path / "artifacts"))
            with listening("127.0.0.1", 0) as listener:
                async with served(create_app(deps), listener, "gateway") as url, httpx.AsyncClient() as client:
                    assert (await client.get(f"{url}/readyz")).json()["checks"]["store"] == "ok"
                    disk.fill()
                    got = await client.get(f"{url}/readyz")
                    assert got.status_code == 503
                    assert "is full: make room" in got.json()["checks"]["store"]
                    assert "No space left" in got.json()["checks"]["artifacts"]
                    disk.empty()
                    assert (await client.get(f"{url}/readyz")).status_code == 200


async def test_a_lock_of_another_program_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY_TIMEOUT_MS", 200)
    path = tmp_path / "shoal.db"
    async with store_at(path) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("begin immediate")
            with pytest.raises(StoreAway, match="is locked: another program") as caught:
                await store.check()
            assert not isinstance(caught.value, StoreBroken)
            other.execute("rollback")
        await store.check()


async def test_probes_that_are_asked_for_beside_each_other_are_one(tmp_path: Path) -> None:
    """Each may wait long for a lock, in the one thread that writes."""
    path = tmp_path / "shoal.db"
    async with store_at(path) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("begin immediate")
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await store.check()
            assert store._db._writing._work_queue.qsize() == 0, "none waits behind the first"
            other.execute("rollback")


async def test_who_watches_is_told_once_what_is_wrong_and_when_it_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.cli.commands.cluster.watching.CHECK_EVERY_S", 0.001)
    found: list[StoreAway | None] = [None, StoreAway("full"), StoreAway("full"), None, StoreBroken("damaged")]
    said: list[str] = []

    async def check() -> None:
        one = found.pop(0) if len(found) > 1 else found[0]
        if one is not None:
            raise one

    with pytest.raises(StoreBroken):
        async with asyncio.timeout(60):
            await heed(check, said.append)
    assert said == ["full", "that is mended: sessions go on", "damaged"]
