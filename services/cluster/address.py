"""The data folder, and where its embedded cluster is found. Apart from `embedded`, so that asking does not load Ray."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path

from shoal.services.errors import BadSetting
from shoal.services.private import close_to_others, make_folder

ADDRESS_FILE = "cluster.json"
LOCK_FILE = "cluster.lock"


_OWN = (
    "shoal.db",
    "shoal.db-wal",
    "shoal.db-shm",
    ADDRESS_FILE,
    LOCK_FILE,
    "artifacts",
    "waiting-uploads",
    "uploads",
    "secrets",
)
"""Names of the files and folders that Shoal keeps in its data folder."""


def make_data_folder(data_dir: Path) -> None:
    """The data folder, there from now on, closed to other users with all that Shoal keeps in it.

    A folder that is there and holds nothing of Shoal's stays as open as it is: it may be for other things, too.

    Raises:
        BadSetting: it cannot be made.
    """
    try:
        make_folder(data_dir)
        own = [path for name in _OWN if (path := data_dir / name).exists()]
        close_to_others([data_dir, *own] if own else [])
    except OSError as error:
        why = error.strerror or error
        raise BadSetting(
            f"the data folder {data_dir} cannot be made ({why}): name another with SHOAL_DATA_DIR"
        ) from error


def running_cluster(data_dir: Path) -> str | None:
    """Address of the embedded cluster that uses this data folder now; None when there is none."""
    try:
        lock = os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with suppress(OSError, ValueError, KeyError):
            return str(json.loads((data_dir / ADDRESS_FILE).read_text())["url"])
        return None
    finally:
        os.close(lock)
    return None
