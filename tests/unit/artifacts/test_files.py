"""Artifacts in a folder: nothing leaves it, nothing half-written stays, faults say what to do."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from shoal.services.artifacts.files import FileArtifacts
from shoal.services.errors import ArtifactStoreAway


def everything(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


async def test_a_put_leaves_one_file_under_its_key(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path, durable=True)
    await store.put("t/1/a.jpg", b"x", "image/jpeg")
    assert everything(tmp_path) == ["t/1/a.jpg"]


async def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    root = tmp_path / "artifacts"
    root.mkdir()
    (root / "t").symlink_to(outside)
    store = FileArtifacts(root)
    with pytest.raises(ArtifactStoreAway, match="leads out"):
        await store.get("t/secret")
    with pytest.raises(ArtifactStoreAway, match="leads out"):
        await store.put("t/new", b"x", "text/plain")
    with pytest.raises(ArtifactStoreAway, match="leads out"):
        await store.delete("t/secret")
    assert await store.delete("t") == 1, "the link itself goes, not what it leads to"
    assert everything(outside) == ["secret"]


async def test_a_key_cannot_be_file_and_folder(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    await store.put("a", b"x", "text/plain")
    with pytest.raises(ValueError, match="file and folder"):
        await store.put("a/b", b"x", "text/plain")
    await store.put("c/d", b"x", "text/plain")
    with pytest.raises(ValueError, match="file and folder"):
        await store.put("c", b"x", "text/plain")
    assert everything(tmp_path) == ["a", "c/d"]


async def test_delete_leaves_no_empty_folders(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    await store.put("t/1/2/a", b"x", "text/plain")
    assert await store.delete("t/1/2/a") == 1
    assert not (tmp_path / "t").exists()


async def test_a_folder_deleted_under_a_put_is_made_again(tmp_path: Path) -> None:
    """Two jobs of one tenant: one is deleted, which drops the emptied folder, while the other writes its first file."""
    store = FileArtifacts(tmp_path)

    async def write(number: int) -> None:
        await store.put(f"t/j/{number}", b"x", "text/plain")

    for number in range(100):
        await asyncio.gather(write(number), store.delete(f"t/j/{number - 1}"))
    assert everything(tmp_path) == ["t/j/99"]


async def test_check_names_the_folder_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArtifactStoreAway, match=r"cannot write .*file/artifacts: Not a directory"):
        await FileArtifacts(tmp_path / "file" / "artifacts").check()


async def test_check_removes_what_dead_writers_left_long_ago(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    await store.put("a", b"x", "text/plain")
    (left,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    for name, age_s in (("old", 2 * 86400), ("young", 10)):
        (left / name).write_text("half")
        os.utime(left / name, (time.time() - age_s,) * 2)
    await store.check()
    assert [path.name for path in left.iterdir()] == ["young"]
