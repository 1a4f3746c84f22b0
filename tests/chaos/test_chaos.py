"""Loops with real browsers while parts of a production-like cluster are killed: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from shoal.agent.support.json_value import Json
from tests.embedded import ROOT
from tests.full_disk import can_mount

pytestmark = pytest.mark.timeout(600)  # three Ray nodes have to start, and are killed on the way

ITEMS, FORMS = 220, 10  # forms of each kind
KINDS = {"chromium", "worker", "raylet", "dispatcher", "gateway", "supervisor", "postgres", "s3", "head"}


STILL = {"frozen worker", "frozen chromium", "frozen raylet", "frozen dispatcher", "frozen gateway", "frozen postgres"}
STORES = {"write lock", "cut connections", "failover"} | ({"full disk"} if can_mount() else set())


def storm(kinds: set[str], *, every_s: int) -> Json:
    """What the command tells after a storm of these kinds; the command itself holds the shop's log against the store,
    here is seen that it hurt something of each kind."""
    work = ["--items", str(ITEMS), "--pace", "0.5", "--forms", str(FORMS), "--kinds", ",".join(sorted(kinds))]
    how = ["--seconds", "120", "--every", str(every_s), "--seed", "3", "--patience", "300"]
    ran = subprocess.run(
        [sys.executable, str(ROOT / "load-tests" / "chaos.py"), *work, *how, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in (0, 1) and ran.stdout, ran.stderr[-20_000:]
    told: Json = json.loads(ran.stdout)
    assert told["wrong"] == [], ran.stderr[-5_000:]
    assert ran.returncode == 0
    assert set(told["kills"]) == kinds, told["kills"]
    assert told["products"] == {"completed": ITEMS}
    assert sum(told["forms"].values()) == 2 * FORMS
    assert told["forms"]["completed"] <= told["forms_received"] <= 2 * FORMS
    assert told["received"].keys() == {"quote", "callback"}
    return told


def test_what_is_killed_loses_nothing_and_doubles_nothing() -> None:
    told = storm(KINDS, every_s=11)
    assert sum(n for attempts, n in told["attempts"].items() if attempts != "1") > 0, "no kill fell into a session"


def test_what_stands_still_or_cannot_be_written_loses_nothing_and_doubles_nothing() -> None:
    storm(STILL | STORES, every_s=9)
