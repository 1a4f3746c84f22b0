"""The memory that processes hold."""

from __future__ import annotations

from collections.abc import Iterable

import psutil


def memory_in_use(processes: Iterable[psutil.Process]) -> int:
    """The memory that some related processes hold together, in bytes.

    What is theirs alone, and once what the one that shares most shares: Chromium's processes share their program, its
    data and pictures. A sum of resident memory would count that for each; with 16 pages it says 3.0 GiB of 1.1. The
    exact figure (`smaps_rollup`) is some 8 % more than this one, and asking the kernel for it takes 60 ms, not 0.2.
    """
    own, most_shared = 0, 0
    for process in processes:
        try:
            memory = process.memory_info()
        except psutil.Error:
            continue
        shared = getattr(memory, "shared", 0)  # Linux alone tells
        own += memory.rss - shared
        most_shared = max(most_shared, shared)
    return own + most_shared
