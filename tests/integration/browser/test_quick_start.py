"""BrowserGym's documented quick start runs against our gym."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from shoal.agent.gym.miniwob import MiniWob
from tests.integration.browser.conftest import Site

pytest.importorskip("miniwob")


def test_the_quick_start_of_browsergym_runs_with_our_name(site: Site) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.browser.browsergym_quick_start", f"{site.url}/acts"],
        input="Second page\nexit\n",
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"open task: {site.url}/second",
        "miniwob: 1.0 True",
        f"tasks: {len(MiniWob.names())}",
    ]
