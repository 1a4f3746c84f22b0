"""The node that a worker runs on, whether it is about to end, and the nodes beside it."""

from __future__ import annotations

import asyncio
import time

import ray
from ray._private.state import state


def node_addresses() -> tuple[str, ...]:
    """The addresses of the cluster's nodes, as many as there are now."""
    nodes = ray.nodes()  # type: ignore[no-untyped-call]
    return tuple(node["NodeManagerAddress"] for node in nodes if node["Alive"])


async def ends_in_s() -> float | None:
    """Seconds until this process's node ends; None while it was not asked to end.

    A node is asked by SIGTERM (`RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S` is the time), by Ray's autoscaler, or by
    `ray drain-node`. Ray has no public call for it; Ray Serve and Ray Train look at the same place.

    Ray tells the end as a moment by the clock of the asking process, and nothing of that clock: it is read by this
    node's. A clock that is behind the asker's by more than a drain's last seconds has sessions end with their leases
    instead.
    """
    draining = await asyncio.to_thread(state.get_draining_nodes)
    until_ms = draining.get(ray.get_runtime_context().get_node_id())
    if until_ms is None:
        return None
    return max(0.0, until_ms / 1000 - time.time()) if until_ms else float("inf")
