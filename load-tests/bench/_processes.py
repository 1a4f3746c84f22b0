"""What processes take of the machine."""

from __future__ import annotations

from collections.abc import Iterable

import psutil


def cpu_s(processes: Iterable[psutil.Process]) -> float:
    """CPU seconds so far, with those of children that ended: a renderer lives for a page or a few."""
    total = 0.0
    for one in processes:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
