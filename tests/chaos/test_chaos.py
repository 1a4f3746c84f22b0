"""Loops with real browsers while parts of a production-like cluster are killed: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.cluster.run_dir import users_of
from tests.embedded import ROOT, wait_until

Json = Any
pytestmark = pytest.mark.timeout(600)  # three Ray nodes have to start, and are killed on the way

ITEMS, FORMS = 250, 25
KINDS = {"chromium", "worker", "raylet", "dispatcher", "gateway", "supervisor", "postgres", "s3", "head"}


def test_what_is_killed_loses_nothing_and_doubles_nothing() -> None:
    """The command itself holds the shop's log against the store; here is seen that it killed something of each kind."""
    work = ["--items", str(ITEMS), "--pace", "0.4", "--forms", str(FORMS)]
    storm = ["--seconds", "120", "--every", "11", "--seed", "3", "--patience", "300"]
    ran = subprocess.run(
        [sys.executable, str(ROOT / "load-tests" / "chaos.py"), *work, *storm, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in (0, 1) and ran.stdout, ran.stderr[-20_000:]
    told: Json = json.loads(ran.stdout)
    assert told["wrong"] == [], ran.stderr[-5_000:]
    assert ran.returncode == 0
    assert set(told["kills"]) == KINDS, told["kills"]
    assert told["products"] == {"completed": ITEMS}
    assert sum(told["forms"].values()) == FORMS
    assert told["forms"]["completed"] <= told["forms_received"] <= FORMS
    assert sum(n for attempts, n in told["attempts"].items() if attempts != "1") > 0, "no kill fell into a session"


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
