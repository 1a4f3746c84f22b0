"""`make demo`, with few products: the script as it stands, from its start to the last process that it ends."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.embedded import ROOT

pytestmark = pytest.mark.timeout(600)


def test_the_demo_shows_records_counts_and_where_everything_is(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "demo.py"), "--items", "2", "--data", str(tmp_path / "demo")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    told = ended.stdout
    assert "the first records" in told
    assert re.search(r"expected 6, done [56], failed [01]$", told, re.M), told
    assert re.search(r"^results: +http://127\.0\.0\.1:\d+/v1/jobs/j1/results$", told, re.M)
    assert re.search(r"\(\d+ screenshots\)", told)
    assert "stopped." in told
    assert "6 of 6 items" in ended.stderr, "progress, in plain lines where there is no terminal"
    assert list((tmp_path / "demo" / "artifacts").rglob("*.jpg")) or list(
        (tmp_path / "demo" / "artifacts").rglob("*.*")
    )
