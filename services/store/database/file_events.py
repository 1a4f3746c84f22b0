"""Writes to the files of a folder, as Linux tells them (inotify)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

_MODIFY, _MOVED_TO, _CREATE = 0x2, 0x80, 0x100
_READ_BYTES = 1 << 16


def watch_folder(folder: Path) -> int | None:
    """A file descriptor that can be read once a file of `folder` was written; None where the system gives none."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    watch: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if watch < 0:  # this user has as many as one may have
        return None
    if libc.inotify_add_watch(watch, os.fsencode(folder), _MODIFY | _MOVED_TO | _CREATE) < 0:
        os.close(watch)
        return None
    return watch


def forget_events(watch: int) -> None:
    """Reads what the descriptor tells, so that only later writes make it readable."""
    with contextlib.suppress(BlockingIOError):
        while os.read(watch, _READ_BYTES):
            pass
