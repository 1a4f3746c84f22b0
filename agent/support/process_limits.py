"""Limits of a process for reading something that may be meant to harm it. It imports nothing heavy."""

from __future__ import annotations

import resource


def limit_this_process(*, memory_bytes: int, cpu_s: int) -> None:
    """No more memory and CPU time than that, and no core file."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
