"""Memory of this machine that further browser workers may take."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil

_CGROUP = Path("/sys/fs/cgroup")
"""Of this process, as a container sees it (Linux, cgroup v2: `memory.max`, `memory.current`)."""
_KEPT = 0.1
"""Part of the machine's memory that is left to everything else."""


def free_bytes(cgroup: Path = _CGROUP) -> float:
    """Memory that can be taken without swapping, less a tenth of all; a container has a limit of its own."""
    machine = psutil.virtual_memory()
    total, free = machine.total, machine.available
    with suppress(OSError, ValueError):  # no such group, or "max": no limit of its own
        limit = int((cgroup / "memory.max").read_text())
        if limit < total:
            used = int((cgroup / "memory.current").read_text())
            total, free = limit, min(free, limit - used)
    return max(0.0, float(free - _KEPT * total))
