"""The chaos command leaves nothing behind, however it ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from shoal.services.cluster.run_dir import users_of
from tests.embedded import ROOT, wait_until

pytestmark = pytest.mark.timeout(600)


def test_ctrl_c_ends_everything_that_it_started() -> None:
    command = [sys.executable, str(ROOT / "load-tests" / "chaos.py"), "--items", "5", "--forms", "1"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def ray_s_folder() -> Path | None:
        """The cluster's folder, once its Ray has started."""
        assert process.poll() is None
        for child in psutil.Process(process.pid).children():
            try:
                found = re.search(r"--folder=(/\S+)/ray", " ".join(child.cmdline()))
            except psutil.NoSuchProcess:  # it ended at this moment; a zombie is one of these
                continue
            if found and len(users_of(Path(found[1]), spare=0)) > 5:
                return Path(found[1])
        return None

    folder: Path = wait_until(ray_s_folder, 60, "Ray is being started")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert users_of(folder, spare=0) == []
    assert not folder.exists()
