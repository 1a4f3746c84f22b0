"""The demo site as a process of its own, for benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests import loopback  # noqa: E402

__all__ = ["demo_site", "loopback", "products"]

SITE = ROOT / "load-tests" / "site"


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


def products(site: str) -> list[str]:
    """Addresses of products that are sold and answer at once."""
    with urllib.request.urlopen(f"{site}/_truth/products.json") as answer:
        truth = json.load(answer)
    return [site + product["path"] for product in truth if not product["discontinued"] and not product["slow"]]
