"""Which part a storm kills next while loops learn, and what it tells of phases in which none was killed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "load-tests"))
chaos: Any = importlib.import_module("chaos")

KINDS = ("worker", "gateway")


def storm(*kills: str) -> Any:
    begun = chaos.Storm()
    begun.phases.update(kills)
    return begun


def test_what_was_not_killed_yet_in_a_phase_comes_first() -> None:
    now = ["learned pages: items", "learned form: shadow"]
    assert storm().missing(now, KINDS) == "worker"
    assert storm("learned pages: items, worker").missing(now, KINDS) == "worker", "it was not in the other phase"
    both = ("learned pages: items, worker", "learned form: shadow, worker")
    assert storm(*both).missing(now, KINDS) == "gateway"
    all_four = (*both, "learned form: items, gateway", "learned pages: shadow, gateway")
    assert storm(*all_four).missing(now, KINDS) is None, "whichever loop was in the phase"
    assert storm().missing([], KINDS) is None, "no loop learns just now"


def test_a_frozen_worker_is_no_killed_one_and_phases_that_were_not_reached_are_told() -> None:
    seen = storm("learned pages: items, frozen worker", "learned pages: shadow, worker")
    assert "worker in items" in seen.not_reached(KINDS)
    assert "worker in shadow" not in seen.not_reached(KINDS)
    assert seen.not_reached(("gateway",)) == [
        f"gateway in {phase}" for phase in ("items", "shadow", "replay", "repair")
    ]
