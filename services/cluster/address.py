"""Where the embedded cluster of a data folder is found. Apart from `embedded`, so that asking does not load Ray."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path

ADDRESS_FILE = "cluster.json"
LOCK_FILE = "cluster.lock"


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
