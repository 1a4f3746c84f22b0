"""A real Ray cluster of three nodes runs on the ports that the chart's NetworkPolicies let through."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.cases import CASES
from tests.deploy.objects import of_kind
from tests.deploy.reach import reaches

pytestmark = pytest.mark.timeout(400)

PARTS = ("head", "control", "browser")
RANGES = ((6379, 6379), (6380, 6381), (8265, 8265), (10001, 10001), (10002, 19999))


def _can_make_networks() -> bool:
    if not all(shutil.which(name) for name in ("ip", "nft", "unshare")):
        return False
    steps = ("nft add table inet t", "ip link add name b type bridge", "ip netns add probe", "ip netns delete probe")
    command = ["unshare", "--net", "--mount", "sh", "-c", " && ".join(steps)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def case() -> dict[str, object]:
    if not _can_make_networks():
        pytest.skip("needs root, and Debian's iproute2 and nftables, to give each node a network of its own")
    objects = next(case for case in CASES if case.name == "external stores").objects()
    params = of_kind(objects, "RayCluster")[0]["spec"]["workerGroupSpecs"][0]["rayStartParams"]
    allowed = [
        (source, target, first, last)
        for source in PARTS
        for target in PARTS
        if source != target
        for first, last in RANGES
        if reaches(objects, source, target, first) and reaches(objects, source, target, last)
    ]
    return {"params": params, "allowed": allowed}


def _ran(case: dict[str, object]) -> subprocess.CompletedProcess[str]:
    program = Path(__file__).with_name("ray_nodes.py")
    command = ["unshare", "--net", "--mount", sys.executable, str(program)]
    return subprocess.run(command, input=json.dumps(case), capture_output=True, text=True, timeout=380, check=False)


def test_ray_works_on_the_ports_that_the_policies_let_through(case: dict[str, object]) -> None:
    ran = _ran(case)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {"sent": 3_000_000, "received": 3_000_000, "neighbour": 10, "nodes": 3}
