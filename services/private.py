"""Folders and files that no other user of this machine may read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

FOLDER = 0o700
FILE = 0o600
_OF_OTHERS = 0o077


def make_folder(path: Path) -> None:
    """The folder, there from now on; it and its parents are this user's alone where they are made."""
    try:
        path.mkdir(mode=FOLDER, exist_ok=True)
    except FileNotFoundError:
        make_folder(path.parent)
        path.mkdir(mode=FOLDER, exist_ok=True)


def opener(path: str, flags: int) -> int:
    """For `open`: a file that is made is this user's alone."""
    return os.open(path, flags | os.O_CLOEXEC, FILE)


def make_file(path: Path) -> None:
    """An empty file that is this user's alone; one that is there is corrected."""
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, FILE))
    close_to_others([path])


def close_to_others(paths: Iterable[Path]) -> None:
    """Takes away what others may do with these, where they are there and this user's own; links are not followed."""
    for path in paths:
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        mode = stat.S_IMODE(status.st_mode)
        # A sticky folder, such as /tmp, is there for all users.
        if stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid() or mode & stat.S_ISVTX:
            continue
        if mode & _OF_OTHERS:
            path.chmod(mode & ~_OF_OTHERS)
