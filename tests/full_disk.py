"""A small disk of one's own, which a test fills up. Needs the right to mount."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


def can_mount() -> bool:
    """Return whether this process may mount file systems."""
    asked = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    return (
        shutil.which("unshare") is not None and not subprocess.run(asked, capture_output=True, check=False).returncode
    )


class SmallDisk:
    """A mounted file system with room for a few MiB."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Takes all room that is left."""
        with self._filler.open("ab") as file, suppress(OSError):  # "no space left" is what is wanted
            while True:
                os.write(file.fileno(), bytes(4096))

    def empty(self) -> None:
        """Gives it back."""
        self._filler.unlink()


@contextmanager
def small_disk(path: Path, mib: int, *, programs: bool = True) -> Iterator[SmallDisk]:
    """A disk at `path` for as long as the context lasts; skips the test where none can be mounted.

    `programs`: whether files on it may be run.
    """
    path.mkdir(parents=True, exist_ok=True)
    how = f"size={mib}m" + ("" if programs else ",noexec")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", how, "tmpfs", str(path)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
