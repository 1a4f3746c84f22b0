"""One Ray node beside others on one machine; runs until SIGTERM, or until a part of it is gone.

`ray start` refuses a second node on a loopback address, and a new head while nodes of the old one still look for it;
this starts one as `ray.cluster_utils.Cluster` does, in a process of its own, which can be killed like a machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _chaos_ports import free_ports
from ray._private.node import Node
from ray._private.parameter import RayParams

from shoal.services.cluster.local_ray import vital_parts_only

_LOOK_S = 0.2


def main() -> int:
    """Ends with 0 after SIGTERM, with 1 when a part of the node died."""
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--gcs", metavar="ADDRESS", help="of the head's GCS: the node joins it")
    which.add_argument("--head", nargs=2, type=int, metavar=("GCS", "CLIENT"), help="it is the head, with these ports")
    parser.add_argument("--address", default="127.0.0.1", help="of this node")
    parser.add_argument("--resources", type=json.loads, default={}, help="what the node offers, as JSON")
    parser.add_argument("--folder", help="for Ray's sessions; only of a head")
    options = parser.parse_args()
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stop.append(number))
    signal.signal(signal.SIGINT, lambda number, _: stop.append(number))
    with vital_parts_only():
        node = Node(params(options), head=bool(options.head), shutdown_at_exit=False, spawn_reaper=False)
    print("up", flush=True)
    while not stop and not node.dead_processes():
        time.sleep(_LOOK_S)
    if stop:
        node._drain_node_before_shutdown()  # as `ray start --block` does, for RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S
    node.kill_all_processes(check_alive=False, allow_graceful=bool(stop), wait=True)
    return 0 if stop else 1


def params(options: argparse.Namespace) -> RayParams:
    """Return what a node of either kind is started with."""
    ports = free_ports(options.address, 4)
    sockets = Path(tempfile.gettempdir())  # nodes that start at once would take the same names in Ray's own folder
    ray = RayParams(
        node_ip_address=options.address,
        num_cpus=0,  # no task asks for a CPU; Ray starts that many idle workers ahead
        num_gpus=0,
        resources=options.resources,
        object_store_memory=80 * 1024 * 1024,
        min_worker_port=0,
        max_worker_port=0,
        node_manager_port=0,
        # Ports that are known before: a raylet gives up when its agent has not told them within 15 s.
        metrics_agent_port=ports[0],
        metrics_export_port=ports[1],
        dashboard_agent_listen_port=ports[2],
        runtime_env_agent_port=ports[3],
        include_log_monitor=False,
        plasma_store_socket_name=str(sockets / f"plasma-{os.getpid()}"),
        raylet_socket_name=str(sockets / f"raylet-{os.getpid()}"),
    )
    if options.head:
        gcs, client = options.head
        ray.update(gcs_server_port=gcs, ray_client_server_port=client, temp_dir=options.folder, include_dashboard=False)
    else:
        ray.update(gcs_address=options.gcs)
    return ray


if __name__ == "__main__":
    sys.exit(main())
