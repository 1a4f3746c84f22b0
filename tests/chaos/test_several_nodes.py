"""A Ray cluster of several nodes: browsers are spread over them, and the end of a node is the end of nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.embedded import ROOT, wait_until

sys.path.insert(0, str(ROOT / "load-tests"))

from _chaos_cluster import ChaosCluster

pytestmark = pytest.mark.timeout(600)  # three nodes have to start

NAME = {"schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
DRAIN_S = 40
"""Seconds that a node gets to end in order, of which its workers keep 15 s for themselves."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[ChaosCluster]:
    with ChaosCluster(nodes=2) as one:
        yield one
        leave_while_a_worker_starts(one)
    assert one.left == [], "processes outlived the cluster"


def leave_while_a_worker_starts(cluster: ChaosCluster) -> None:
    """Ends head and nodes at once while a worker is being started anew: that lives on longest without them."""
    for worker in [one for node in ("node0", "node1") for one in browsers_on(cluster, node)]:
        worker.kill()

    def starts() -> bool:
        """It has a process group of its own, so it does not end with its node's."""
        with suppress(ProcessLookupError):
            return any("default_worker.py" in line and os.getpgid(one.pid) == one.pid for one, line in cluster.tree())
        return False

    wait_until(starts, 60, "a worker is being started")
    for part in ("head", "node0", "node1"):
        cluster.parts[part].end_group()


def browsers_on(cluster: ChaosCluster, node: str) -> list[psutil.Process]:
    return [process for process, line in cluster.tree(node) if "ray::BrowserWorkerActor" in line]


def kill_node(cluster: ChaosCluster, node: str) -> None:
    """Everything on it ends at once, and it does not come back."""
    cluster.parts[node].not_before = float("inf")
    for process, _ in cluster.tree(node):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def come_back(cluster: ChaosCluster, node: str) -> None:
    """Starts a node that was taken away; returns once Ray has it."""
    part = cluster.parts[node]
    before = part.log.read_text().splitlines().count("up")
    part.not_before = 0.0
    cluster.keep_running()
    wait_until(lambda: part.log.read_text().splitlines().count("up") > before, 60, f"{node} is back")


def loop_over(cluster: ChaosCluster, n: int, *, slow: bool = False, attempts: int = 5) -> tuple[str, list[str]]:
    """A loop over `n` products, some of them again and again; its id, and their names. Slow ones take 1.5 s."""
    every = [p for p in cluster.site("/_truth/products.json") if not p["discontinued"] and p["slow"] is slow]
    wanted = [every[i % len(every)] for i in range(n)]
    spec = {
        "url": f"{cluster.shop}/",
        "loop": {"values": [f"{cluster.shop}{p['path']}?visit={i}" for i, p in enumerate(wanted)], "is_link": True},
        "extract": NAME,
        "artifacts": {"screenshots": "none"},
        "politeness": {"robots": False},
        "max_attempts": attempts,
    }
    return cluster.submit(spec), [p["name"] for p in wanted]


def done(cluster: ChaosCluster, job: str) -> int:
    return int(cluster.get(f"/v1/jobs/{job}")["counts"]["completed"])


def test_a_node_that_dies_takes_nothing_with_it(cluster: ChaosCluster) -> None:
    wait_until(lambda: browsers_on(cluster, "node0") and browsers_on(cluster, "node1"), 30, "each node has a worker")
    job, names = loop_over(cluster, 60)
    wait_until(lambda: done(cluster, job) >= 8, 60, "some items are done")
    kill_node(cluster, "node0")
    killed = time.monotonic()

    wait_until(lambda: len(browsers_on(cluster, "node1")) == 2, 60, "its worker has a successor on the other node")
    wait_until(lambda: cluster.get(f"/v1/jobs/{job}")["finished_at"], 120, "the loop is over")
    rows = cluster.results(job)
    assert [row["record"]["name"] for row in rows] == names
    assert Counter(row["status"] for row in rows) == {"completed": 60}
    assert len({row["session"] for row in rows}) == 60
    again = [row for row in rows if row["attempts"] > 1]
    assert 1 <= len(again) <= 2 * cluster.slots + 6, "what ran there, or waited there for a slot, ran again elsewhere"
    assert time.monotonic() - killed < 60
    assert cluster.tree("node0") == []


def drain(cluster: ChaosCluster, node: str, deadline_s: int) -> None:
    """Drain a machine as the autoscaler does before it takes it away,
    and a script that hears of a spot machine's end.
    """
    (raylet,) = cluster.parts[node].below("raylet")
    told = dict(word.lstrip("-").split("=", 1) for word in raylet.cmdline() if word.startswith("--") and "=" in word)
    reason = ("--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "the machine is taken away")
    where = ("--address", told["gcs-address"], "--node-id", told["node_id"])
    ray = str(Path(sys.executable).with_name("ray"))
    subprocess.run(
        [ray, "drain-node", *where, *reason, "--deadline-remaining-seconds", str(deadline_s)],
        env=dict(cluster.parts[node].environment),
        check=True,
        capture_output=True,
    )


def take_no_attempt(cluster: ChaosCluster, job: str, names: list[str]) -> None:
    """Every item is there once, and the first attempt of each was the only one that counted."""
    wait_until(lambda: cluster.get(f"/v1/jobs/{job}")["finished_at"], 90, "the loop is over")
    rows = cluster.results(job)
    assert [(row["status"], row["attempts"]) for row in rows] == [("completed", 1)] * len(names), rows
    assert [row["record"]["name"] for row in rows] == names


@pytest.mark.parametrize("deadline_s", [40, 16], ids=["sessions can end", "sessions are given back"])
def test_a_node_that_is_drained_loses_no_attempt(cluster: ChaosCluster, deadline_s: int) -> None:
    """All browsers are on one node, which goes when the other one has come: `max_attempts` allows no second try."""
    leaving, other = ("node1", "node0") if browsers_on(cluster, "node1") else ("node0", "node1")
    come_back(cluster, other)
    job, names = loop_over(cluster, 40, slow=True, attempts=1)
    wait_until(lambda: done(cluster, job) >= 4, 60, "some items are done")
    cluster.parts[leaving].not_before = float("inf")
    drain(cluster, leaving, deadline_s)
    began = time.monotonic()
    wait_until(lambda: not browsers_on(cluster, leaving), deadline_s, "its workers have ended in time")
    wait_until(lambda: browsers_on(cluster, other), 30, "they have successors on the other node")
    take_no_attempt(cluster, job, names)
    wait_until(lambda: cluster.tree(leaving) == [], 30, "nothing is left of the node")
    assert not cluster.parts[leaving].runs
    assert time.monotonic() - began < 90


def test_a_node_that_is_told_to_end_by_sigterm_loses_no_attempt(cluster: ChaosCluster) -> None:
    """As the kubelet ends a pod of `ray start --block`: a signal, and nothing else."""
    leaving, other = ("node1", "node0") if browsers_on(cluster, "node0") else ("node0", "node1")
    part = cluster.parts[leaving]
    part.environment = {**part.environment, "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": str(DRAIN_S)}
    come_back(cluster, leaving)
    kill_node(cluster, other)
    wait_until(lambda: len(browsers_on(cluster, leaving)) == 2, 60, "all workers are on the node that is to end")
    come_back(cluster, other)
    job, names = loop_over(cluster, 40, slow=True, attempts=1)
    wait_until(lambda: done(cluster, job) >= 4, 60, "some items are done")
    part.not_before = float("inf")
    part.ask_to_end()
    take_no_attempt(cluster, job, names)
    wait_until(lambda: not part.runs, DRAIN_S + 10, "the node has ended")
    assert cluster.tree(leaving) == []
    assert browsers_on(cluster, other)
