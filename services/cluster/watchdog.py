"""Outlives a cluster that was killed, by as long as it takes to clean up after it.

Started with the read end of a pipe as its standard input. The pipe ends when the cluster's process does, however it
does; if the cluster's folder is still there then, the cluster had no time to remove it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path


class Watchdog:
    """The watchdog process of one cluster."""

    def __init__(self, run_dir: Path) -> None:
        # A session of its own: a Ctrl-C that is meant for the cluster must not end what cleans up after it.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "shoal.services.cluster.watchdog", str(run_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """Ends the watchdog, after the folder was removed."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    while sys.stdin.buffer.read(4096):
        pass
    path = Path(sys.argv[1])
    if path.exists():
        # Only now: its libraries would lie in memory for as long as the cluster lives.
        import_module("shoal.services.cluster.run_dir").clear(path, spare=os.getpid())


if __name__ == "__main__":
    main()
