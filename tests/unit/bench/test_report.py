"""The output of a benchmark: with --json, its object and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[3] / "load-tests" / "bench"
A_BENCHMARK_THAT_LOGS = """
import structlog
from _report import Report, arguments

options = arguments("").parse_args()
structlog.get_logger().warning("worker started")
report = Report("one")
report.add("seconds", 2.0)
report.show(as_json=options.json)
"""


def test_log_lines_do_not_stand_beside_the_object() -> None:
    script = f"import sys; sys.path.insert(0, {str(BENCH)!r})\n{A_BENCHMARK_THAT_LOGS}"
    done = subprocess.run([sys.executable, "-c", script, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["figures"] == {"seconds": 2.0}
    assert "worker started" in done.stderr
