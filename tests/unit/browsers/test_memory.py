"""Memory of a browser: the memory that the machine has given it, however many processes it is made of."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from shoal.agent.chromium.process.process_tree import ProcessTree
from shoal.agent.support.process_memory import memory_in_use
from tests.patience import PATIENCE_S

_SHARED_MIB = 96
_FAMILY = f"""
import mmap, os, sys
shared = mmap.mmap(-1, {_SHARED_MIB} << 20)
for at in range(0, len(shared), 4096):
    shared[at] = 1
for _ in range(3):
    if os.fork() == 0:
        assert all(shared[at] for at in range(0, len(shared), 4096))
        os.write(1, b"r")
        os.read(0, 1)
        os._exit(0)
os.write(1, b"r")
os.read(0, 1)
"""


@contextmanager
def _family() -> Iterator[psutil.Process]:
    """Four processes that have all read the same memory."""
    with subprocess.Popen([sys.executable, "-c", _FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            assert process.stdout.read(4) == b"rrrr"
            yield psutil.Process(process.pid)
        finally:
            process.stdin.write(b"....")
            process.stdin.close()


def test_memory_that_processes_share_counts_once() -> None:
    with _family() as root:
        processes = [root, *root.children()]
        assert len(processes) == 4
        summed = sum(process.memory_info().rss for process in processes)
        pids, held = ProcessTree(root).measure()
        assert set(pids) == {process.pid for process in processes}
    shared = _SHARED_MIB << 20
    assert summed > 4 * shared
    assert shared < held < 2 * shared


def test_processes_that_are_gone_hold_nothing() -> None:
    with _family() as root:
        gone = [*root.children(), root]
    psutil.wait_procs(gone, timeout=PATIENCE_S)
    assert memory_in_use(gone) == 0
