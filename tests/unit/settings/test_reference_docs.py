"""docs/cli.md and docs/metrics.md are made from the code, and are current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_pages_of_commands_and_metrics_are_current() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "reference_docs.py", "--check"], check=False, timeout=60)
    assert done.returncode == 0, "run scripts/reference-docs"
