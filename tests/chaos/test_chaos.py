"""Loops with real browsers while parts of a production-like cluster are killed: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os

import pytest

from shoal.agent.support.json_value import Json
from tests.chaos.storm import survived
from tests.full_disk import can_mount

pytestmark = pytest.mark.timeout(1200)  # three Ray nodes have to start, and are killed on the way

ITEMS, FORMS = 220, 10  # forms of each kind
KILLED = {"chromium", "worker", "raylet", "dispatcher", "gateway", "supervisor", "postgres", "s3", "head"}
FROZEN = {"frozen worker", "frozen chromium", "frozen raylet", "frozen dispatcher", "frozen gateway", "frozen postgres"}
STORES = {"write lock", "cut connections", "failover"} | ({"full disk"} if can_mount() else set())

ALL_IN_ONE = [pytest.param(KILLED | FROZEN | STORES, 8, id="all kinds")]
IN_TWO = [pytest.param(KILLED, 11, id="killed"), pytest.param(FROZEN | STORES, 9, id="frozen and stores")]
STORMS = IN_TWO if os.environ.get("TEST_CHAOS") else ALL_IN_ONE
"""`make test-chaos` runs two storms, `make test` one shorter than both."""


def storm(kinds: set[str], *, every_s: int) -> Json:
    """Return what the command tells after a storm of these kinds, which has hurt something of each kind."""
    work = ["--items", str(ITEMS), "--pace", "0.5", "--forms", str(FORMS), "--kinds", ",".join(sorted(kinds))]
    how = ["--seconds", "120", "--every", str(every_s), "--seed", "3", "--patience", "180"]
    told = survived(*work, *how)
    assert set(told["kills"]) == kinds, told["kills"]
    assert told["products"] == {"completed": ITEMS}
    assert sum(told["forms"].values()) == 2 * FORMS
    assert told["forms"]["completed"] <= told["forms_received"] <= 2 * FORMS
    assert told["received"].keys() == {"quote", "callback"}
    return told


@pytest.mark.parametrize(("kinds", "every_s"), STORMS)
def test_what_breaks_loses_nothing_and_doubles_nothing(kinds: set[str], every_s: int) -> None:
    told = storm(kinds, every_s=every_s)
    if kinds >= KILLED:
        # An attempt that ended with its worker does not count: such a session is told by its losses.
        again = sum(n for attempts, n in told["attempts"].items() if attempts != "1")
        assert again + told["lost"] > 0, "no kill fell into a session"
