"""Loops that learn, while worker, dispatcher and gateway are killed in each phase: `make test-chaos` runs it."""

from __future__ import annotations

import pytest

from tests.chaos.storm import survived

pytestmark = pytest.mark.timeout(900)

KINDS = ("worker", "dispatcher", "gateway")
PAGES, FORMS = 120, 40


def test_what_is_killed_while_loops_learn_loses_no_item_and_sends_no_form_twice() -> None:
    work = ["--learn", str(PAGES), "--learn-forms", str(FORMS), "--items", "10", "--forms", "2", "--pace", "0.7"]
    how = ["--kinds", ",".join(KINDS), "--in-each-phase", "--seconds", "30", "--every", "2", "--patience", "420"]
    told = survived(*work, *how)
    killed = told["kills while loops learned"]
    for phase in ("items", "replay"):
        there = {at.rpartition(", ")[2] for at in killed if at.rpartition(", ")[0].endswith(f": {phase}")}
        assert there == set(KINDS), (phase, killed)
    print("killed in no loop that was as far:", told["not killed while loops learned"])
