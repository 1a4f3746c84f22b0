"""Number of browser workers to run: a pure function of the load."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """The work to do, and the means to do it with."""

    ready: int  # sessions that could start now if there were slots: their domains have room
    running: int  # leased sessions
    workers: int  # that run or are being started
    slots: int  # of one worker
    worker_bytes: float = 0.0  # memory of a busy worker, as measured; 0: not known yet
    free_bytes: float | None = None  # memory that further workers may take; None: the cluster finds it, or says no
    model_places: int | None = None  # sessions that the model servers admit in all; None: as many as there are
    model_share: float = 0.0  # part of the sessions that ask the model


@dataclass(frozen=True, slots=True)
class SizingBounds:
    """The operator's bounds on the number of workers."""

    least: int = 1  # workers
    most: int = 1
    headroom: float = 0.1  # slots beyond the demand, as a share of it, so that new work does not wait for a start
    slack: float = 0.2  # workers beyond the wanted ones that are kept, as a share: sizes must not swing


@dataclass(frozen=True, slots=True)
class Size:
    """The number of workers to run, and the cause that bounds it."""

    workers: int
    why: str


def share(ready: int, *, mine: int, elsewhere: int) -> int:
    """One dispatcher's part of what is ready in the store, which all of them see.

    Args:
        ready: sessions that could start now if there were slots.
        mine: slots that it may still fill, those of workers that it may still start included.
        elsewhere: the same of all others together.
    """
    return ready if not elsewhere else math.ceil(ready * mine / (mine + elsewhere))


def desired(load: Load, bounds: SizingBounds) -> Size:
    """The size of the pool.

    Demand is what runs and what could run; more workers than that would idle. A model that admits fewer sessions than
    there are slots makes further slots useless to the share of sessions that ask it.
    """
    demand = load.ready + load.running
    why = "the backlog"
    if load.model_places is not None and load.model_places < demand * load.model_share:
        demand, why = math.floor(load.model_places / load.model_share), "the model server"
    workers = math.ceil(round(demand * (1 + bounds.headroom) / load.slots, 6))
    if load.free_bytes is not None and load.worker_bytes > 0 and workers > load.workers:
        affordable = load.workers + max(0, math.floor(load.free_bytes / load.worker_bytes))
        if affordable < workers:
            workers, why = affordable, "memory"
    if workers < load.workers <= math.ceil(workers * (1 + bounds.slack)) and demand > 0:
        workers, why = load.workers, "slack"
    if workers > bounds.most:
        return Size(bounds.most, "the operator's limit")
    if workers < bounds.least:
        return Size(bounds.least, "the operator's least")
    return Size(workers, why)
