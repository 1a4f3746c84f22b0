"""Uploads while the store is away: taken, kept in order, bounded, brought there later, also by another process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.artifacts.spill import SpillingArtifacts, longest_s
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway
from tests.patience import soon


def spilling(behind: MemoryArtifacts, folder: Path, limit_bytes: int = 10_000) -> SpillingArtifacts:
    return SpillingArtifacts(behind, folder, limit_bytes, first_pause_s=0.01, longest_pause_s=0.02)


async def until(condition: Callable[[], bool]) -> None:
    async with soon(28):
        while not condition():
            await asyncio.sleep(0.005)


async def test_uploads_of_an_outage_arrive_after_it(tmp_path: Path) -> None:
    behind = MemoryArtifacts()
    store = spilling(behind, tmp_path)
    behind.away = True
    await asyncio.gather(*(store.put(f"t/{n}", b"%d" % n, "text/plain") for n in range(5)))
    assert store.waiting == 5
    assert await store.get("t/3") == b"3"
    assert await store.url("t/3", "text/plain") is None
    behind.away = False
    await until(lambda: store.waiting == 0)
    assert [await behind.get(f"t/{n}") for n in range(5)] == [b"0", b"1", b"2", b"3", b"4"]
    await store.put("t/5", b"5", "text/plain")
    assert await behind.get("t/5") == b"5"
    await store.close()
    assert list(tmp_path.iterdir()) == []


async def test_a_later_put_waits_behind_an_earlier_one_and_wins(tmp_path: Path) -> None:
    behind = MemoryArtifacts()
    store = spilling(behind, tmp_path)
    behind.away = True
    await store.put("t/1", b"old", "text/plain")
    behind.away = False
    await store.put("t/1", b"new", "text/plain")
    assert await store.get("t/1") == b"new"
    await until(lambda: store.waiting == 0)
    assert await behind.get("t/1") == b"new"
    await store.close()


class OneHangs(MemoryArtifacts):
    """A store whose service never answers the put of one key, until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.hanging, self.most, self._open = "t/0", 0, 0

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        self._open += 1
        self.most = max(self.most, self._open)
        try:
            if key == self.hanging:
                await asyncio.Event().wait()
            await super().put(key, data, content_type)
        finally:
            self._open -= 1


async def test_an_upload_that_hangs_holds_up_no_other(tmp_path: Path) -> None:
    behind = OneHangs()
    store = SpillingArtifacts(behind, tmp_path, 10_000, first_pause_s=0.01, longest_pause_s=0.02, upload_s=0.2)
    behind.away = True
    await asyncio.gather(*(store.put(f"t/{n}", b"%d" % n, "text/plain") for n in range(1, 30)))
    behind.away = False
    await store.put("t/0", b"0", "text/plain")
    await until(lambda: store.waiting == 1)
    assert not await behind.has("t/0") and await store.has("t/0") and await store.get("t/0") == b"0"
    assert 1 < behind.most <= 6, "some at once, and not all"
    await store.put("t/new", b"n", "text/plain")
    await until(lambda: store.waiting == 1)  # on a slow machine it is spilled, too, and goes on by itself
    assert await behind.has("t/new"), "a new upload waits behind no other key"
    behind.hanging = ""
    await until(lambda: store.waiting == 0)
    assert await behind.get("t/0") == b"0"
    await store.close()


def test_a_large_upload_gets_longer() -> None:
    assert longest_s(0) == 60 and longest_s(64 << 20) == 60 + 256


async def test_the_disk_is_not_filled_beyond_the_limit(tmp_path: Path) -> None:
    behind = MemoryArtifacts()
    store = spilling(behind, tmp_path, limit_bytes=2_000)
    behind.away = True
    results = await asyncio.gather(
        *(store.put(f"t/{n}", bytes(500), "text/plain") for n in range(10)), return_exceptions=True
    )
    refused = [result for result in results if result is not None]
    assert len(refused) == 7 and all(isinstance(error, ArtifactStoreAway) for error in refused)
    assert "SHOAL_ARTIFACT_SPILL_MIB" in str(refused[0])
    behind.away = False
    await until(lambda: store.waiting == 0)
    await store.put("t/10", bytes(5000), "text/plain")
    assert len(behind.keys) == 4, "three waited, and afterwards there is no limit"
    await store.close()


@pytest.mark.parametrize("by", ["prefix", "keys"])
async def test_what_is_deleted_while_it_waits_never_arrives(tmp_path: Path, by: str) -> None:
    behind = MemoryArtifacts()
    store = spilling(behind, tmp_path)
    behind.away = True
    for key in ("t/1/a", "t/1/b", "t/2/a"):
        await store.put(key, b"x", "text/plain")
    behind.away = False
    if by == "prefix":
        assert await store.delete("t/1") == 2
    else:
        await store.delete_many(["t/1/a", "t/1/b", "t/1/c"])
    await until(lambda: store.waiting == 0)
    assert behind.keys == ["t/2/a"]
    with pytest.raises(ArtifactMissing):
        await store.get("t/1/a")
    await store.close()


async def test_the_next_process_brings_what_the_last_one_could_not(tmp_path: Path) -> None:
    away = MemoryArtifacts()
    first = spilling(away, tmp_path)
    away.away = True
    await first.put("t/1", b"one", "text/plain")
    await first.put("t/2", b"two", "text/plain")
    await first.close()

    back = MemoryArtifacts()
    second = spilling(back, tmp_path)
    with pytest.raises(ArtifactMissing):
        await second.get("t/none")
    await until(lambda: second.waiting == 0)
    assert (await back.get("t/1"), await back.get("t/2")) == (b"one", b"two")
    await second.close()
    assert list(tmp_path.iterdir()) == []


async def test_nobody_takes_over_from_a_process_that_lives(tmp_path: Path) -> None:
    away = MemoryArtifacts()
    first = spilling(away, tmp_path)
    away.away = True
    await first.put("t/1", b"one", "text/plain")

    other = MemoryArtifacts()
    second = spilling(other, tmp_path)
    await second.put("t/2", b"two", "text/plain")
    await second.close()
    assert other.keys == ["t/2"]
    assert first.waiting == 1
    away.away = False
    await until(lambda: first.waiting == 0)
    assert away.keys == ["t/1"]
    await first.close()


async def test_a_file_that_a_power_cut_emptied_stops_nobody(tmp_path: Path) -> None:
    left = tmp_path / "dead"
    left.mkdir(parents=True)
    (left / "000000000001").write_bytes(b"")
    (left / "000000000002").write_bytes(b'["t/2", "text/plain"]\ntwo')
    (left / "000000000003.part").write_bytes(b'["t/3"')
    behind = MemoryArtifacts()
    store = spilling(behind, tmp_path)
    await store.put("t/9", b"nine", "text/plain")
    await until(lambda: store.waiting == 0)
    assert behind.keys == ["t/2", "t/9"]
    await store.close()
