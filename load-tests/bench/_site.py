"""The demo site as a process of its own, for benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SITE = Path(__file__).resolve().parent.parent / "site"


@contextmanager
def demo_site(*options: str) -> Iterator[str]:
    """A running demo site; gives its address."""
    process = subprocess.Popen(
        [sys.executable, str(SITE), "--port", "0", *options], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the demo site did not start")
        yield json.loads(line)["url"]
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
