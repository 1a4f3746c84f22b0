"""Nodes with addresses of their own, on links that are slow or cut, and with clocks that are wrong."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.embedded import ROOT

sys.path.insert(0, str(ROOT / "load-tests"))

from _chaos_net import possible

pytestmark = [
    pytest.mark.timeout(600),  # two Ray clusters have to start
    pytest.mark.skipif(not possible(), reason="needs root, `ip`, `unshare` and /dev/net/tun for network namespaces"),
]


CASES = ["on_links.py", "on_a_network.py"] if os.environ.get("TEST_CHAOS") else ["on_links.py"]


@pytest.mark.parametrize("cases", CASES)
def test_nodes_on_a_network_of_their_own(cases: str) -> None:
    """These run inside a namespace: a process that has entered one cannot come back to the others' tests."""
    inner = [sys.executable, "-m", "pytest", "-q", "--durations=0", str(ROOT / "tests" / "chaos" / cases)]
    ran = subprocess.run(["unshare", "--net", "--mount", *inner], cwd=ROOT, capture_output=True, text=True, check=False)
    print(ran.stdout)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
