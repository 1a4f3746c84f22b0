"""Nodes with addresses of their own, on links that are slow or cut."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.embedded import ROOT

sys.path.insert(0, str(ROOT / "load-tests"))

from _chaos_net import possible

pytestmark = [
    pytest.mark.timeout(100),
    pytest.mark.skipif(not possible(), reason="needs root, `ip`, `unshare` and /dev/net/tun for network namespaces"),
]


@pytest.mark.parametrize("cases", ["on_links.py"])
def test_nodes_on_a_network_of_their_own(cases: str) -> None:
    """These run inside a namespace: a process that has entered one cannot come back to the others' tests."""
    inner = [sys.executable, "-m", "pytest", "-q", "--durations=0", str(ROOT / "tests" / "chaos" / cases)]
    ran = subprocess.run(["unshare", "--net", "--mount", *inner], cwd=ROOT, capture_output=True, text=True, check=False)
    print(ran.stdout)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
