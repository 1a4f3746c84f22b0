"""Seconds that the parts of an embedded cluster may take to start on a machine as busy as this one."""

from __future__ import annotations

from shoal.agent.support.busy import longer_s

_START_S = 180.0
"""Seconds that the workers, or the gateway, may take to start on an idle machine."""
_BUSY = 2
"""Programs that want to run at once, for each core, from which on a machine is called busy."""


def start_limit_s() -> float:
    """Return how long a part may take to start now.
    A part that dies is told at once: only one that works on is waited for.
    """
    return longer_s(_START_S)


def start_advice(load: float, cores: int) -> str:
    """Return what to do when a part does not start at such a load on so many cores. Pure."""
    if load > _BUSY * cores:
        return (
            f"The machine is busy (load {load:.0f} on {cores} core{'' if cores == 1 else 's'}): "
            "end other programs, or start Shoal again when the load is lower"
        )
    return "`shoal doctor` says what is missing on this machine"
