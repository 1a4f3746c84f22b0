"""Seconds that the parts of an embedded cluster may take to start on a machine as busy as this one."""

from __future__ import annotations

import os

_START_S = 180.0
"""Seconds that the workers, or the gateway, may take to start on an idle machine."""
_MOST_TIMES = 8.0
_BUSY = 2
"""Programs that want to run at once, for each core, from which on a machine is called busy."""


def load_and_cores() -> tuple[float, int]:
    """The load of the last minute, and how many cores it is shared by."""
    return os.getloadavg()[0], os.cpu_count() or 1


def start_limit_s() -> float:
    """Return how long a part may take to start now.
    A part that dies is told at once: only one that works on is waited for.
    """
    return limit_for(*load_and_cores())


def limit_for(load: float, cores: int) -> float:
    """The limit at such a load, in seconds: each program more for a core makes a start as much longer. Pure."""
    return _START_S * min(max(1.0, load / cores), _MOST_TIMES)


def start_advice(load: float, cores: int) -> str:
    """Return what to do when a part does not start at such a load on so many cores. Pure."""
    if load > _BUSY * cores:
        return (
            f"The machine is busy (load {load:.0f} on {cores} core{'' if cores == 1 else 's'}): "
            "end other programs, or start Shoal again when the load is lower"
        )
    return "`shoal doctor` says what is missing on this machine"
