"""A Ray cluster of several nodes: browsers are spread over them, and the end of a node is the end of nothing else."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psutil
import pytest

from tests.embedded import ROOT, wait_until

sys.path.insert(0, str(ROOT / "load-tests"))

from _chaos_cluster import ChaosCluster

Json = Any
pytestmark = pytest.mark.timeout(300)  # three nodes have to start

NAME = {"schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}


@pytest.fixture(scope="module")
def cluster() -> Iterator[ChaosCluster]:
    with ChaosCluster(nodes=2) as one:
        yield one
    assert one.left == [], "processes outlived the cluster"


def browsers_on(cluster: ChaosCluster, node: str) -> list[psutil.Process]:
    return [process for process, line in cluster.tree(node) if "ray::BrowserWorkerActor" in line]


def kill_node(cluster: ChaosCluster, node: str) -> None:
    """Everything on it ends at once, and it does not come back."""
    cluster.parts[node].not_before = float("inf")
    for process, _ in cluster.tree(node):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def loop_over(cluster: ChaosCluster, n: int) -> tuple[str, list[str]]:
    """A loop over `n` products; its id, and their names."""
    truth = [p for p in cluster.site("/_truth/products.json") if not p["discontinued"] and not p["slow"]][:n]
    spec = {
        "url": f"{cluster.shop}/",
        "loop": {"values": [cluster.shop + p["path"] for p in truth], "is_link": True},
        "extract": NAME,
        "artifacts": {"screenshots": "none"},
        "politeness": {"robots": False},
        "max_attempts": 5,
    }
    return cluster.submit(spec), [p["name"] for p in truth]


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
