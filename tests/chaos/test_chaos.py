"""Loops with real browsers while parts of a production-like cluster are killed: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.embedded import ROOT

Json = Any
pytestmark = pytest.mark.timeout(600)  # three Ray nodes have to start, and are killed on the way

ITEMS, FORMS = 220, 15
KINDS = {"chromium", "worker", "raylet", "dispatcher", "gateway", "supervisor", "postgres", "s3", "head"}


def test_what_is_killed_loses_nothing_and_doubles_nothing() -> None:
    """The command itself holds the shop's log against the store; here is seen that it killed something of each kind."""
    work = ["--items", str(ITEMS), "--pace", "0.5", "--forms", str(FORMS)]
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
