"""Other users of the machine read neither the database nor the evidence."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.artifacts.open import open_artifacts
from shoal.services.artifacts.spill import SpillingArtifacts
from shoal.services.cluster.address import make_data_folder
from shoal.services.store.store import open_store


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """New files are readable by all, unless their maker says otherwise."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    """All in a folder, itself included, that another user may do something with."""
    found = [folder, *folder.rglob("*")]
    return [str(path.relative_to(folder)) for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077]


async def fill(data: Path) -> None:
    """Everything that Shoal keeps there."""
    make_data_folder(data)
    store = await open_store(f"sqlite:///{data / 'shoal.db'}")
    await store.create_key("ci", "acme", ["read"], "hash")
    artifacts = open_artifacts(str(data / "artifacts"))
    await artifacts.put("acme/1/2/1-a.jpg", b"evidence", "image/jpeg")
    await artifacts.check()
    behind = MemoryArtifacts()
    behind.away = True
    waiting = SpillingArtifacts(behind, data / "waiting-uploads", 1000)
    await waiting.put("acme/1/2/1-b.jpg", b"evidence", "image/jpeg")
    assert {path.name for path in data.iterdir()} >= {"shoal.db", "shoal.db-wal", "artifacts", "waiting-uploads"}
    assert [path for path in (data / "waiting-uploads").rglob("*") if path.name.isdigit()]
    try:
        assert readable_by_others(data) == []
        assert stat.S_IMODE(data.stat().st_mode) == 0o700
        assert stat.S_IMODE((data / "shoal.db").stat().st_mode) == 0o600
    finally:
        await waiting.close()
        await artifacts.close()
        await store.close()


async def test_what_is_made_is_closed_to_others(tmp_path: Path) -> None:
    await fill(tmp_path / "somewhere" / "data")


async def test_what_is_there_is_corrected(tmp_path: Path) -> None:
    data = tmp_path / "data"
    await fill(data)
    for path in (data, *data.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert readable_by_others(data)
    make_data_folder(data)
    assert readable_by_others(data) == []


def test_a_folder_of_other_things_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("x")
    tmp_path.chmod(0o755)
    make_data_folder(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    (tmp_path / "shoal.db").touch(0o644)
    (tmp_path / "artifacts").symlink_to("/tmp")
    make_data_folder(tmp_path)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path, tmp_path / "shoal.db")] == [0o700, 0o600]
    assert stat.S_IMODE((tmp_path / "letter.txt").stat().st_mode) == 0o644
    assert stat.S_IMODE(Path("/tmp").stat().st_mode) & 0o077
    tmp_path.chmod(0o1777)  # as /tmp is
    make_data_folder(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
