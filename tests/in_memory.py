"""A place in memory for what databases write in tests: on a disk each commit waits for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOM = 2 * 1024**3
"""Bytes that have to be free there: a container may have 64 MiB in all."""


def folder() -> Path | None:
    """Return where such files lie; None: where temporary files lie otherwise, since memory has no room."""
    roomy = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
    return _MEMORY if roomy else None
