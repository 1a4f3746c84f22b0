"""Parts of a cluster of several nodes are killed. `make test` runs the storm, `make test-chaos` what is slow too."""

from __future__ import annotations

import os

collect_ignore_glob = (
    []
    if os.environ.get("TEST_CHAOS")
    else [
        *("test_alerts.py", "test_busy_start.py", "test_ends.py", "test_learning.py", "test_partitions.py"),
        "test_several_nodes.py",
    ]
)
