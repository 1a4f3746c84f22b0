"""The load of this machine, and limits of starts that grow with it."""

from __future__ import annotations

import os

_MOST_TIMES = 8.0


def load_and_cores() -> tuple[float, int]:
    """The load of the last minute, and how many cores it is shared by."""
    return os.getloadavg()[0], os.cpu_count() or 1


def longer_s(limit_s: float) -> float:
    """Return the limit now of a start that gets `limit_s` on an idle machine."""
    return limit_for(limit_s, *load_and_cores())


def limit_for(limit_s: float, load: float, cores: int) -> float:
    """Return the limit at such a load: each program more for a core makes a start as much longer. Pure."""
    return limit_s * min(max(1.0, load / cores), _MOST_TIMES)
