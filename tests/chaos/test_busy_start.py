"""`shoal up` on a machine that has much else to do: it starts, later."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.embedded import Up, start_up, wait_until

pytestmark = pytest.mark.timeout(1800)

BUSY = 20
START_S = 1500.0
BUSY_CODE = "import time\nuntil = time.monotonic() + 1800\nwhile time.monotonic() < until: sum(range(10_000))"


@contextmanager
def busy(n: int) -> Iterator[None]:
    """So many processes that compute, for as long as it lasts."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY_CODE]) for _ in range(n)]
    try:
        yield
        assert [process.poll() for process in processes] == [None] * n, "they were there all the time"
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def test_a_cluster_starts_beside_twenty_busy_processes() -> None:
    with tempfile.TemporaryDirectory(prefix="su-", dir="/tmp") as folder, busy(BUSY):
        base, began = Path(folder), time.monotonic()
        process = start_up(base)
        one = Up(process, base / "data", base / "t", "", log=base / "up.log")
        try:
            wait_until(
                lambda: process.poll() is not None or "Shoal is up at" in one.log.read_text(), START_S, "the cluster"
            )
            said = one.log.read_text()
            assert process.poll() is None, said
            print(f"up after {time.monotonic() - began:.0f} s at load {os.getloadavg()[0]:.0f}")
            address = said.partition("Shoal is up at ")[2].split()[0]
            assert httpx.get(f"{address}/readyz", timeout=300).status_code == 200, said
        finally:
            process.terminate()
            process.wait(600)
        wait_until(one.nothing_left, 120, f"nothing is left: {one.tree()}")
