"""Tests that kill parts of a cluster of several nodes: `make test-chaos`. They take minutes, so only then collected."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("TEST_CHAOS") else ["test_*.py"]
