"""Configuration of the dispatcher; made from the settings at the entry point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.services.inference.admission import AdmissionConfig


@dataclass(frozen=True, slots=True)
class DispatchConfig:
    """Configuration of one dispatcher."""

    name: str = "main"  # of its shard; names its snapshot in the store
    workers: int = 1  # browser workers; where `most_workers` is higher, the least of them
    most_workers: int = 0  # as the backlog wants; at or below `workers`: their number is fixed
    one_machine: bool = False  # all workers share this machine's memory: no more are started than it holds
    idle_worker_s: float = 60.0  # a worker beyond the wanted ones that held nothing for so long is ended
    tenant_weights: Mapping[str, float] = field(default_factory=dict)  # shares of slots; 1 for those not named
    tenant_share: float = 1.0  # part of the slots that one tenant may hold at once
    ahead_s: float = 1.0  # work that a worker holds beyond its slots, so that they never run dry
    prefetch: float = 3.0  # upper bound of that, as a share of its slots
    run_width: int = 16  # documents of a run under way at once, where the site's limits allow as many
    run_ahead_s: float = 2.0  # of a run a worker holds what it reads in so long,
    least_in_run: int = 16  # and at least so many
    most_in_run: int = 256
    lease_s: float = 60.0
    per_domain: int = 8  # sessions on one domain at once
    max_attempts: int = 10  # upper bound for what jobs ask for
    group: int = 512  # outcomes of one commit at most
    group_bytes: int = 16 * 1024**2  # of them, unless a single one is larger
    group_s: float = 0.01  # how long a commit waits for company
    drain_s: float = 20.0  # what running sessions get to end when the dispatcher stops
    admission: AdmissionConfig | None = None  # the model servers whose queue is heeded; None: none is
    has_model: bool | None = None  # workers ask a model; None: it is not known
    held_reports: int = 20_000  # outcomes kept in memory while the store is away
    held_bytes: int = 64 * 1024**2  # and their bytes, as they came; what pulls under way bring comes on top
